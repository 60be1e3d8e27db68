"""Webhooks out against a receiver on loopback that judges signatures by another implementation."""

import asyncio
import socket

import pytest

from delivery import errors
from delivery.addresses import Address
from delivery.ports import OutgoingPart, Receipt
from gateway.fetching.posting import GuardedPoster, Patience
from gateway.platforms.webhook import platform
from gateway.platforms.webhook.adapter import WebhookAdapter
from gateway.ports import AccountConfig
from tests.peers.server import Gate
from tests.peers.webhook import Fault, WebhookPeer
from tests.peers.webhook.peer import SECRET

pytestmark = pytest.mark.proves("W1")
OTHER = "whsec_YW5vdGhlciBzZWNyZXQgb2YgdGhlIHBlZXIgb2YgdGVzdHM="


@pytest.fixture
def peer():
    with WebhookPeer() as running:
        yield running


def adapter(
    url: str, *, secret: str = SECRET, private: bool = True, patience: Patience | None = None
) -> WebhookAdapter:
    config = AccountConfig(slug="out", secret=secret, options={"url": url})
    poster = GuardedPoster(patience, is_private_fine=private)
    return WebhookAdapter(config, poster, is_private_fine=private)


def part(text: str = "**Done.**", key: str = "0123456789abcdef01234567-0") -> OutgoingPart:
    (body,) = platform.dialect.render(text)
    address = Address(
        platform="webhook",
        account="out",
        chat_type="webhook",
        chat_id="deploys",
        thread_id="msg_7",
    )
    return OutgoingPart(address=address, body=body, idempotency_key=key)


async def test_a_part_arrives_signed_and_says_what_it_answers(peer):
    receipt = await adapter(peer.url).send(part())

    assert receipt == Receipt(message_id="0123456789abcdef01234567-0")
    (post,) = peer.posts
    assert (post.outcome, post.message_id) == ("ok", receipt.message_id)
    assert post.headers["content-type"] == "application/json"
    assert post.event == {
        "type": "message.created",
        "data": {
            "id": receipt.message_id,
            "account": "out",
            "chat": "deploys",
            "in_reply_to": "msg_7",
            "markdown": "**Done.**",
            "text": "Done.",
        },
    }


@pytest.mark.proves("D5")
async def test_a_part_sent_again_has_the_same_id_and_body_and_is_acted_on_once(peer):
    out = adapter(peer.url)
    peer.faults.add(Fault(kind="lost_ack", times=1))
    with pytest.raises(errors.OutcomeUnknown):
        await out.send(part())

    await out.send(part())

    assert [post.outcome for post in peer.posts] == ["ok", "again"]
    assert len({post.body for post in peer.posts}) == len(peer.acted_on) == 1


async def test_while_a_secret_is_replaced_the_receiver_may_have_either(peer):
    both = f"{OTHER} {SECRET}"

    await adapter(peer.url, secret=both).send(part())
    peer.secret = OTHER
    await adapter(peer.url, secret=both).send(part(key="b" * 24 + "-0"))

    assert [post.outcome for post in peer.posts] == ["ok", "ok"]


async def test_words_of_any_script_arrive_as_they_are(peer):
    await adapter(peer.url).send(part("سلام 你好 \U0001f600"))

    assert peer.texts() == ["سلام 你好 \U0001f600"]


@pytest.mark.proves("D10")
@pytest.mark.parametrize(
    ("status", "headers", "kind"),
    [
        (410, {}, errors.DestinationGone),
        (302, {"Location": "http://127.0.0.1/elsewhere"}, errors.Refused),
        (422, {}, errors.Refused),
        (503, {"Retry_After": "7"}, errors.RateLimited),
        (429, {"Retry_After": "7"}, errors.RateLimited),
        (500, {}, errors.OutcomeUnknown),
    ],
)
async def test_each_answer_means_what_is_done_next(peer, status, headers, kind):
    peer.answer_next(status, **headers)

    with pytest.raises(kind) as caught:
        await adapter(peer.url).send(part())

    assert caught.value.code == str(status)
    assert getattr(caught.value, "retry_after", 7) == 7
    assert len(peer.posts) == 1  # a redirect is not followed


async def test_a_receiver_that_does_not_know_our_secret_stops_the_account_and_says_why(peer):
    out = adapter(peer.url, secret=OTHER)
    with pytest.raises(errors.AuthenticationRefused):
        await out.send(part())

    with pytest.raises(errors.AuthenticationRefused, match="compare the signing secret"):
        await out.connect()

    assert (await out.connect()).user_name == "127.0.0.1"  # and then it is tried again


@pytest.mark.parametrize("kind", ["hang", "hang_before", "reset_before"])
async def test_silence_and_a_broken_connection_leave_it_open_whether_it_arrived(peer, kind):
    peer.faults.add(Fault(kind=kind))
    out = adapter(peer.url, patience=Patience(connect=0.5, answer=0.5))

    with pytest.raises(errors.OutcomeUnknown):
        await out.send(part())


async def test_where_nobody_listens_nothing_was_sent():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/in"

        with pytest.raises(errors.NetworkDown):
            await adapter(url).send(part())


@pytest.mark.proves("X1")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "2130706433"])
async def test_a_private_address_is_not_posted_to_unless_the_operator_says_so(peer, host):
    out = adapter(f"http://{host}:{peer.port}/in", private=False)

    with pytest.raises(errors.Refused):
        await out.send(part())
    with pytest.raises(errors.AuthenticationRefused, match="url: "):
        await out.connect()

    assert peer.posts == []


@pytest.mark.proves("X1")
async def test_a_name_that_leads_to_a_private_address_is_not_posted_to(peer):
    async def resolve(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    config = AccountConfig(
        slug="out", secret=SECRET, options={"url": f"https://example.org:{peer.port}/in"}
    )
    out = WebhookAdapter(config, GuardedPoster(resolve=resolve), is_private_fine=False)

    with pytest.raises(errors.Refused, match="this very machine"):
        await out.send(part())
    assert peer.posts == []


async def test_neither_secret_nor_words_stand_in_an_error(peer):
    peer.answer_next(422)

    with pytest.raises(errors.Refused) as caught:
        await adapter(peer.url).send(part("secret plans"))

    told = f"{caught.value} {caught.value.detail}"
    assert SECRET not in told
    assert "plans" not in told


async def test_a_part_that_is_cancelled_lets_go(peer):
    gate = Gate()
    peer.faults.add(Fault(kind="hold", gate=gate))
    sending = asyncio.create_task(adapter(peer.url).send(part()))
    await peer.until(lambda: peer.posts)

    sending.cancel()

    with pytest.raises(asyncio.CancelledError):
        await sending
    gate.open()


async def test_what_webhooks_cannot_do_is_said():
    out = adapter("https://example.org/in")

    with pytest.raises(errors.Unsupported):
        await out.edit("1", part())
    with pytest.raises(errors.Unsupported):
        await out.delete(part().address, "1")
    await out.typing(part().address)
    await out.disconnect()
