"""What each platform's level promises, seen on the platform itself: of a mix of chats and messages
the answer to every so many-th call is lost, and at the end everybody reads what is there ([D5])."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest

from delivery import preview_rows, wording
from delivery.content import Button, Controls
from delivery.errors import OutcomeUnknown
from delivery.models import Kind, Obligation
from delivery.ports import OutgoingPart, Receipt
from gateway.console.queries import snapshot
from gateway.models import Conversation
from gateway.platforms import telegram
from gateway.platforms.console.adapter import ConsoleAdapter
from gateway.ports import AccountConfig
from tests.factories import make_conversation
from tests.integration.desk import Desk, nothing_is_open
from tests.peers.telegram import Fault, TelegramPeer

pytestmark = pytest.mark.proves("D5")
MARK = str(wording.RECOVERED)
GIVEN_UP = "may not have reached you"
LABEL = re.compile(r"Message [0-9]+(?: part [0-9]+)?\.")
BUTTON = Controls(rows=((Button(label="Yes", data="p:1"),),))
FORUM = -1001500000002


FULL = [(60, 2), (60, 7), (1000, 3)]
mix = pytest.mark.parametrize(
    ("count", "every"), [(60, 3), *(pytest.param(*pair, marks=pytest.mark.full) for pair in FULL)]
)


def text_of(number: int) -> list[str]:
    """What message `number` says, in the labels that its platform messages carry."""
    if number % 10 == 4:  # an answer of several messages
        return [f"Message {number} part {part}." for part in range(3)]
    return [f"Message {number}."]


def owe(desk: Desk, number: int, chat: Conversation) -> None:
    labels = text_of(number)
    filler = " word" * 700 if len(labels) > 1 else ""
    content = "\n\n".join(f"{label}{filler}" for label in labels)
    if number % 5 == 1:
        desk.owe(content, conversation=chat, kind=Kind.PROMPT, controls=BUTTON.as_dict())
    else:
        desk.owe(content, conversation=chat)


def serve_to_the_end(desk: Desk) -> None:
    """Serve, and let time pass whenever something waits, until nothing is owed."""

    def is_over() -> bool:
        waits = Obligation.objects.filter(state="failed", next_attempt_at__gt=desk.clock())
        if waits.exists():
            desk.clock.advance(20)
            desk.outbox.wake()
        return nothing_is_open()

    desk.serve(until=is_over, within=600)


# --- Telegram: what is new is uncertain, what replaces a preview is editable


class TelegramDesk(Desk):
    """A desk whose transport is Telegram's adapter, connected to a Bot API server on loopback."""

    def __init__(self, database, clock, peer: TelegramPeer) -> None:
        super().__init__(database, clock)
        options = {"api_base_url": peer.url, "poll_seconds": "1"}
        self.adapter = telegram.platform.build_adapter(
            AccountConfig(slug=self.account, secret=peer.token, options=options)
        )
        self.transport, self.peer = Line(self.adapter), peer
        self.faults: list[Fault] = []

    async def _serve(self, *args) -> None:
        await self.adapter.connect()
        try:
            for fault in self.faults:
                self.peer.faults.add(fault)
            await super()._serve(*args)
        finally:
            self.peer.faults.clear()
            await self.adapter.disconnect()


class Line:
    """The adapter as it is; a desk asks a transport also what it did not know."""

    def __init__(self, adapter) -> None:
        self.unknown: list = []
        self.send, self.edit = adapter.send, adapter.edit
        self.delete, self.typing = adapter.delete, adapter.typing


@pytest.fixture
def peer() -> Iterator[TelegramPeer]:
    with TelegramPeer() as server:
        server.open_chat(FORUM, is_forum=True)
        yield server


def chats_on_telegram(peer: TelegramPeer) -> list[Conversation]:
    """People, groups, and topics of a forum."""
    chats = [{"chat_id": str(1000 + number)} for number in range(4)]
    chats += [{"chat_id": str(-500 - number), "chat_type": "group"} for number in range(3)]
    topics = [str(peer.add_topic(FORUM, name)) for name in ("News", "Work", "Rest")]
    chats += [{"chat_id": str(FORUM), "chat_type": "group", "thread_id": topic} for topic in topics]
    for chat in chats:
        peer.open_chat(int(chat["chat_id"]))
    return [make_conversation(**chat) for chat in chats]


def show_preview(peer: TelegramPeer, number: int, chat: Conversation, now) -> str:
    """Half of an answer stands in the chat; the key of its stream."""
    place = peer.world.chat(int(chat.chat_id))
    shown = peer.world.store(
        place, peer.world.author, text="half of it", message_thread_id=thread_of(chat)
    )
    key = f"t{number}.0"
    preview_rows.store(key, chat.account, chat.address, [str(shown["message_id"])], now)
    return key


def told_on_telegram(peer: TelegramPeer, chats: list[Conversation]) -> dict[str, list[str]]:
    """What everybody reads: by its label each message, with its mark if it has one, by place."""
    told = defaultdict(list)
    for chat_id in {chat.chat_id for chat in chats}:
        for shown in peer.from_bot(int(chat_id)):
            if GIVEN_UP not in shown.text:
                told[LABEL.search(shown.text)[0]].append(shown)
    return told


@mix
def test_on_telegram_nothing_is_lost_and_each_copy_says_what_it_may_be(
    transactional_db, database, clock, peer, count, every
) -> None:
    desk, chats = TelegramDesk(database, clock, peer), chats_on_telegram(peer)
    replaced, places = set(), {}
    for number in range(count):
        chat = chats[number % len(chats)]
        places |= dict.fromkeys(text_of(number), chat)
        if number % 7 == 3 and number % 10 != 4:
            key = show_preview(peer, number, chat, clock())
            desk.owe(f"Message {number}.", conversation=chat, preview_key=key)
            replaced.add(f"Message {number}.")
        else:
            owe(desk, number, chat)
    methods = ("sendMessage", "editMessageText", "sendChatAction")
    desk.faults = [Fault(kind="lost_ack", method=method, every=every) for method in methods]

    serve_to_the_end(desk)

    told = told_on_telegram(peer, chats)
    assert set(told) == set(places)
    for label, copies in told.items():
        unmarked = [shown for shown in copies if not shown.text.startswith(MARK)]
        assert len(unmarked) <= 1, label
        assert {shown.thread for shown in copies} == {thread_of(places[label])}
        if label in replaced:
            assert [shown.text for shown in copies] == [label]
    for chat in chats:
        assert_in_order(peer, chat, replaced)
    assert all(fault.hits for fault in desk.faults)
    assert any(len(copies) > 1 for copies in told.values())


def assert_in_order(peer: TelegramPeer, chat: Conversation, replaced: set[str]) -> None:
    """The first copies of what is new stand in the order of recording."""
    here = [one for one in peer.from_bot(int(chat.chat_id)) if one.thread == thread_of(chat)]
    labels = dict.fromkeys(LABEL.findall("\n".join(shown.text for shown in here)))
    told = [label for label in labels if label not in replaced]
    assert told == sorted(told, key=place_of)


def place_of(label: str) -> list[int]:
    return [int(word) for word in re.findall("[0-9]+", label)]


def thread_of(chat: Conversation) -> int | None:
    return int(chat.thread_id) if chat.thread_id else None


# --- the Control UI: idempotent


class Forgetful(ConsoleAdapter):
    """The Control UI's way out, of which the answer to every so many-th call is lost."""

    def __init__(self, every: int) -> None:
        super().__init__(AccountConfig(slug="console", secret="", options={}))
        self.every, self.calls, self.unknown = every, 0, []

    async def send(self, part: OutgoingPart) -> Receipt:
        receipt = await super().send(part)
        self.calls += 1
        if self.calls % self.every == 0:
            raise OutcomeUnknown("cut")
        return receipt


@mix
def test_in_the_control_ui_everything_stands_once_and_without_a_mark(
    transactional_db, database, clock, boss, count, every
) -> None:
    desk = Desk(database, clock, account="console")
    desk.transport = Forgetful(every)
    fields = {"platform": "console", "account": "console", "chat_type": "console"}
    chats = [make_conversation(chat_id=f"c{number}", **fields) for number in range(20)]
    for number in range(count):
        owe(desk, number, chats[number % 20])

    serve_to_the_end(desk)

    told = Counter()
    for chat in chats:
        for entry in snapshot(chat, boss, since=None, now=clock())["entries"]:
            assert entry["tick"] == "delivered"
            assert MARK not in entry["html"]
            told.update(LABEL.findall(entry["html"]))
    hidden = {label for number in range(count) if number % 5 == 1 for label in text_of(number)}
    assert told == Counter(
        label for n in range(count) for label in text_of(n) if label not in hidden
    )
    assert not Obligation.objects.exclude(state="delivered").exists()
