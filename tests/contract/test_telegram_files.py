"""Files of Telegram, fetched from a Bot API server on loopback."""

import io
from collections.abc import AsyncIterator, Iterator

import pytest

from delivery.errors import (
    DestinationGone,
    NetworkDown,
    OutcomeUnknown,
    RateLimited,
    Refused,
)
from gateway.fetching.errors import FetchError, NoSuchFile, TooLarge, TooSlow, Unavailable
from gateway.fetching.limits import Limits, Meter
from gateway.platforms.telegram import platform
from gateway.platforms.telegram.adapter import TelegramAdapter
from gateway.ports import GivesFiles, OutgoingFile, TakesFiles
from tests.contract.test_telegram_adapter import FORUM, config, part
from tests.peers.telegram import PERSON, Fault, TelegramPeer

DATA = b"\x89PNG\r\n\x1a\n" + b"\0" * 5000


@pytest.fixture
def peer() -> Iterator[TelegramPeer]:
    with TelegramPeer() as server:
        server.open_chat(PERSON)
        yield server


@pytest.fixture
async def adapter(peer: TelegramPeer) -> AsyncIterator[TelegramAdapter]:
    made = platform.build_adapter(config(peer))
    await made.connect()
    assert isinstance(made, TelegramAdapter)
    yield made
    await made.disconnect()


def sent(peer: TelegramPeer, data: bytes = DATA) -> str:
    """The id of a file that a person sent."""
    return str(peer.send_file(data, "cat.png")["document"]["file_id"])


async def fetched(adapter: TelegramAdapter, file_id: str, most: int = 10**9, **limits) -> bytes:
    taken: list[bytes] = []
    await adapter.fetch(file_id, Meter(taken.append, most), Limits(**limits))
    return b"".join(taken)


@pytest.mark.proves("D17")
async def test_the_file_of_a_message_is_fetched(peer: TelegramPeer, adapter: TelegramAdapter):
    assert isinstance(adapter, GivesFiles)
    assert await fetched(adapter, sent(peer)) == DATA


@pytest.mark.proves("D17")
async def test_telegrams_own_limit_is_told_as_it_is(peer: TelegramPeer, adapter: TelegramAdapter):
    large = sent(peer, b"x" * (20 * 1024 * 1024 + 1))

    with pytest.raises(TooLarge, match="20 MB, and Telegram gives bots no larger files"):
        await fetched(adapter, large)
    assert not [call for call in peer.calls if call.method == "download"]


async def test_a_file_over_our_limit_is_not_even_begun(
    peer: TelegramPeer, adapter: TelegramAdapter
):
    with pytest.raises(TooLarge, match="at most 100 bytes"):
        await fetched(adapter, sent(peer), most=100)
    assert not [call for call in peer.calls if call.method == "download"]


async def test_a_file_that_telegram_does_not_know_is_no_file(adapter: TelegramAdapter):
    with pytest.raises(NoSuchFile, match="any more"):
        await fetched(adapter, "FILE404")


async def test_a_path_on_the_disk_of_the_server_is_not_read(
    peer: TelegramPeer, adapter: TelegramAdapter
):
    file_id = sent(peer)
    for place in ("/etc/passwd", "../../etc/passwd", "documents/../../x", ""):
        peer.world.files[file_id] = (place, DATA)
        with pytest.raises(NoSuchFile):
            await fetched(adapter, file_id)


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("500", Unavailable),
        ("503", Unavailable),
        ("502html", Unavailable),
        ("429", Unavailable),
        ("403", NoSuchFile),
        ("reset_before", Unavailable),
        ("lost_ack", Unavailable),
        ("truncated", Unavailable),
    ],
)
@pytest.mark.proves("D17")
async def test_a_download_that_fails_says_whether_it_may_work_later(
    peer: TelegramPeer, adapter: TelegramAdapter, kind: str, error: type[FetchError]
):
    file_id = sent(peer)
    with (
        peer.faults.during(Fault(kind=kind, method="download")),
        pytest.raises(error) as failed,
    ):
        await fetched(adapter, file_id)

    assert peer.token not in str(failed.value)
    assert failed.value.__cause__ is None
    assert await fetched(adapter, file_id) == DATA


async def test_a_download_that_hangs_is_not_waited_for(
    peer: TelegramPeer, adapter: TelegramAdapter
):
    file_id = sent(peer)
    for limits in ({"quiet_seconds": 0.1}, {"seconds": 0.1}):
        fault = Fault(kind="hang", method="download")
        with peer.faults.during(fault), pytest.raises((TooSlow, Unavailable)):
            await fetched(adapter, file_id, **limits)


async def test_a_refusal_to_tell_where_the_file_is_keeps_its_own_meaning(
    peer: TelegramPeer, adapter: TelegramAdapter
):
    file_id = sent(peer)
    peer.faults.add(Fault(kind="429", method="getFile"))
    with pytest.raises(RateLimited):
        await fetched(adapter, file_id)

    await adapter.disconnect()
    with pytest.raises(NetworkDown):
        await fetched(adapter, file_id)


# --- out -----------------------------------------------------------------------------------------


def outgoing(form: str = "document", data: bytes = DATA, **facts) -> OutgoingFile:
    return OutgoingFile(
        form=form, name="cat.png", mime_type="image/png", content=io.BytesIO(data), **facts
    )


@pytest.mark.proves("D18")
@pytest.mark.parametrize("form", ["photo", "voice", "audio", "video", "document"])
async def test_a_file_goes_out_in_its_own_form(
    peer: TelegramPeer, adapter: TelegramAdapter, form: str
):
    assert isinstance(adapter, TakesFiles)
    receipt = await adapter.send_file(part("look"), outgoing(form))
    (shown,) = peer.from_bot(PERSON)
    message = peer.world.chats[PERSON].messages[shown.message_id]

    assert receipt.message_id == str(shown.message_id)
    assert message["caption"] == "look"
    assert form in message
    assert peer.world.files[receipt.media_id][1] == DATA


@pytest.mark.proves("D18")
async def test_a_file_that_telegram_has_is_not_uploaded_again(
    peer: TelegramPeer, adapter: TelegramAdapter
):
    first = await adapter.send_file(part(""), outgoing("photo"))
    known = OutgoingFile(form="photo", name="a", mime_type="b", remote_id=first.media_id)
    second = await adapter.send_file(part(""), known)

    assert first.media_id == second.media_id
    assert len(peer.world.files) == 1
    assert "caption" not in peer.world.chats[PERSON].messages[int(second.message_id)]


# B152, B156: a file goes where a text would
@pytest.mark.parametrize("thread", ["", "1", "7"])
async def test_a_file_goes_to_the_same_place_as_a_text(
    peer: TelegramPeer, adapter: TelegramAdapter, thread: str
):
    peer.open_chat(FORUM)
    peer.world.chats[FORUM].topics[7] = "Seven"
    said = await adapter.send(part("text", chat=FORUM, thread=thread))
    placed = part("file", chat=FORUM, thread=thread, reply_to=said.message_id)
    await adapter.send_file(placed, outgoing())
    text, file = (
        call.params for call in peer.calls if call.method in {"sendMessage", "sendDocument"}
    )

    assert text.get("message_thread_id") == file.get("message_thread_id")
    assert text["chat_id"] == file["chat_id"]
    assert file["reply_parameters"] == {"message_id": int(said.message_id)}


async def test_a_caption_keeps_its_formatting(peer: TelegramPeer, adapter: TelegramAdapter):
    bold = {"entities": [{"type": "bold", "offset": 0, "length": 4}]}
    receipt = await adapter.send_file(part("look here", format=bold), outgoing())

    message = peer.world.chats[PERSON].messages[int(receipt.message_id)]
    assert message["caption_entities"] == bold["entities"]


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("400", Refused),
        ("429", RateLimited),
        ("lost_ack", OutcomeUnknown),
        ("403", DestinationGone),
    ],
)
async def test_a_refused_upload_means_what_a_refused_text_means(
    peer: TelegramPeer, adapter: TelegramAdapter, kind: str, error: type[Exception]
):
    with (
        peer.faults.during(Fault(kind=kind, method="sendDocument")),
        pytest.raises(error),
    ):
        await adapter.send_file(part("x"), outgoing())


async def test_an_unknown_id_is_refused(adapter: TelegramAdapter):
    with pytest.raises(Refused):
        await adapter.send_file(
            part("x"), OutgoingFile(form="photo", name="a", mime_type="b", remote_id="NOPE")
        )
