"""What goes wrong on request, as python-telegram-bot, unmodified, tells it."""

import asyncio
import json
import socket

import httpx
import pytest
from telegram import Bot
from telegram.error import (
    BadRequest,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from tests.peers.faults import fault_from
from tests.peers.telegram import PERSON, Fault, Flood, Gate, TelegramPeer

# The client says this each time it makes a RetryAfter.
pytestmark = pytest.mark.filterwarnings("ignore::telegram.warnings.PTBDeprecationWarning")


@pytest.fixture(autouse=True)
def known(peer: TelegramPeer) -> None:
    peer.say("hello")


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("429", RetryAfter),
        ("500", TelegramError),
        ("502html", NetworkError),
        ("503", TelegramError),
        ("409", Conflict),
        ("403", Forbidden),
        ("401", InvalidToken),
        ("400", BadRequest),
        ("reset_before", NetworkError),
    ],
)
async def test_a_refused_call_is_not_acted_upon(
    peer: TelegramPeer, bot: Bot, kind: str, error: type[Exception]
) -> None:
    peer.faults.add(Fault(kind, method="sendMessage", times=1))

    with pytest.raises(error):
        await bot.send_message(PERSON, "first")
    await bot.send_message(PERSON, "second")

    assert [m.text for m in peer.from_bot(PERSON)] == ["second"]
    assert [call.outcome for call in peer.calls.of("sendMessage")] == [kind, "ok"]


@pytest.mark.parametrize("kind", ["lost_ack", "truncated", "garbage"])
async def test_a_lost_answer_leaves_the_message_where_it_is(
    peer: TelegramPeer, bot: Bot, kind: str
) -> None:
    peer.faults.add(Fault(kind, method="sendMessage", times=1))

    with pytest.raises(TelegramError):
        await bot.send_message(PERSON, "arrived")

    assert [m.text for m in peer.from_bot(PERSON)] == ["arrived"]


@pytest.mark.parametrize(("kind", "arrived"), [("hang", ["hello?"]), ("hang_before", [])])
async def test_a_hanging_call_times_out(
    peer: TelegramPeer, bot: Bot, kind: str, arrived: list[str]
) -> None:
    peer.faults.add(Fault(kind, method="sendMessage"))
    with pytest.raises(TimedOut):
        await bot.send_message(PERSON, "hello?", read_timeout=0.3)
    await peer.until(lambda: peer.calls.of("sendMessage"))
    await peer.until(lambda: len(peer.from_bot(PERSON)) == len(arrived))

    assert [m.text for m in peer.from_bot(PERSON)] == arrived


async def test_retry_after_is_what_the_fault_says(peer: TelegramPeer, bot: Bot) -> None:
    peer.faults.add(Fault("429", retry_after=17))

    with pytest.raises(RetryAfter) as caught:
        await bot.send_message(PERSON, "x")

    assert caught.value._retry_after.total_seconds() == 17


async def test_a_fault_strikes_only_what_it_names(peer: TelegramPeer, bot: Bot) -> None:
    peer.say("hello", 2002)
    fault = peer.faults.add(Fault("500", method="sendMessage", chat=2002))

    await bot.send_message(PERSON, "passes")
    await bot.send_chat_action(2002, "typing")
    with pytest.raises(TelegramError):
        await bot.send_message(2002, "does not")

    assert fault.hits == 1


async def test_every_third_call_may_fail_after_the_first_two(peer: TelegramPeer, bot: Bot) -> None:
    peer.faults.add(Fault("500", method="sendMessage", every=3, skip=2, times=2))

    outcomes = ""
    for number in range(12):
        try:
            await bot.send_message(PERSON, str(number))
            outcomes += "."
        except TelegramError:
            outcomes += "X"

    assert outcomes == "....X..X...."


async def test_a_held_call_goes_on_when_the_gate_opens(peer: TelegramPeer, bot: Bot) -> None:
    gate = Gate()
    peer.faults.add(Fault("hold", method="sendMessage", gate=gate))
    sending = asyncio.create_task(bot.send_message(PERSON, "held"))
    await peer.until(lambda: peer.calls.of("sendMessage"))

    assert peer.from_bot(PERSON) == []
    gate.open()
    await sending
    assert [m.text for m in peer.from_bot(PERSON)] == ["held"]


async def test_a_delayed_call_is_answered_in_the_end(peer: TelegramPeer, bot: Bot) -> None:
    for kind in ("delay", "delay_after"):
        with peer.faults.during(Fault(kind, seconds=0.05)):
            await bot.send_message(PERSON, kind)

    assert [m.text for m in peer.from_bot(PERSON)] == ["delay", "delay_after"]


async def test_an_outage_ends(peer: TelegramPeer, bot: Bot) -> None:
    with peer.outage():
        for call in (bot.get_me, lambda: bot.get_updates(timeout=1)):
            with pytest.raises(TelegramError):
                await call()

    assert (await bot.get_me()).is_bot
    assert len(await bot.get_updates()) == 1


async def test_a_refusing_peer_keeps_its_port_and_its_memory(peer: TelegramPeer, bot: Bot) -> None:
    polling = asyncio.create_task(bot.get_updates(timeout=20))
    await bot.get_me()
    before = peer.url
    with peer.refuse():
        with pytest.raises(NetworkError):
            await bot.send_message(PERSON, "to nobody")
        with (
            pytest.raises(ConnectionRefusedError),
            socket.create_connection(("127.0.0.1", peer.port), 1),
        ):
            pass
    await asyncio.gather(polling, return_exceptions=True)

    await bot.send_message(PERSON, "to somebody")

    assert peer.url == before
    assert [m.text for m in peer.messages(PERSON)] == ["hello", "to somebody"]


async def test_a_poll_that_is_cut_loses_no_update(peer: TelegramPeer, bot: Bot) -> None:
    seen = (await bot.get_updates())[-1].update_id
    polling = asyncio.create_task(bot.get_updates(offset=seen + 1, timeout=20))
    await peer.until(lambda: peer.updates.is_polled)
    with peer.refuse(), pytest.raises(NetworkError):
        await polling
    peer.say("while nobody listened")

    assert [u.message.text for u in await bot.get_updates(offset=seen + 1)] == [
        "while nobody listened"
    ]


def test_an_unknown_fault_is_refused() -> None:
    for fields in ({"kind": "bad luck"}, {"kind": "500", "metod": "x"}):
        with pytest.raises(ValueError, match=r"no such fault|metod"):
            fault_from(fields)


def test_answers_carry_a_bare_content_type(peer: TelegramPeer) -> None:
    with httpx.Client(trust_env=False) as client:
        good = client.get(f"{peer.url}/bot{peer.token}/getMe")
        sent = client.post(
            f"{peer.url}/bot{peer.token}/sendmessage", json={"chat_id": PERSON, "text": "by JSON"}
        )
        missing = client.get(f"{peer.url}/bot{peer.token}/flyToTheMoon")

    assert good.headers["content-type"] == "application/json"
    assert sent.json()["result"]["text"] == "by JSON"
    assert json.loads(missing.text) == {
        "ok": False,
        "error_code": 404,
        "description": "Not Found: method not found",
    }


def test_waiting_for_what_never_comes_ends(peer: TelegramPeer) -> None:
    with pytest.raises(TimeoutError):
        peer.wait_for(lambda: False, timeout=0.01)


def test_a_stopped_peer_frees_its_port() -> None:
    first = TelegramPeer().start()
    port = first.port
    first.stop()
    first.stop()

    with TelegramPeer(port) as second:
        assert second.port == port


async def test_a_rate_limit_counts_each_chat_by_itself(peer: TelegramPeer, bot: Bot) -> None:
    peer.say("hello", 2002)
    peer.faults.add(Flood(calls=2, seconds=1000))
    for _ in range(2):
        await bot.send_message(PERSON, "x")

    with pytest.raises(RetryAfter) as caught:
        await bot.send_message(PERSON, "x")
    await bot.send_message(2002, "another chat passes")
    await bot.send_chat_action(PERSON, "typing")

    assert 900 <= caught.value._retry_after.total_seconds() <= 1000
