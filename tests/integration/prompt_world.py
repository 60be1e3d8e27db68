"""A small world for prompts: places, people, an account, an agent that keeps to its plan."""

import gc
import itertools
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from django.db import connections

from clarify import questions
from clarify.models import Permit, Prompt
from delivery import frozen, ledger
from delivery.errors import NetworkDown, OutcomeUnknown, Refused
from delivery.models import Obligation
from delivery.ports import Receipt
from gateway import execution, intake, turns
from gateway.deeds import AckPress
from gateway.errors import TurnLost
from gateway.messages import Batch, ButtonPress, ChatType, InboundMessage, Source
from gateway.models import Conversation, Turn
from tests.factories import make_account, make_allow_entry
from tests.fakes.agent import PlanRuntime, WorkerDied
from tests.fakes.clock import FakeClock
from tests.integration.desk import take_lease

_worlds = itertools.count(1)
_messages = itertools.count(500_000)
PEOPLE = ("ada", "mel", "bo", "eve")  # two members, one who approves, one who is not let in
PLACES = ("dm", "group", "thread")


@dataclass(frozen=True)
class Ran:
    """A dangerous tool has run."""

    turn: Turn
    call_id: str
    arguments: dict[str, Any]
    permits: tuple[Permit, ...]  # those that were in force and are about this call


@dataclass
class World:
    """One account with its people and places; other worlds in the database are not seen.

    Attributes:
        clock: The time.
        received: Every event that came in, each once, in order.
        acknowledged: What the presser was told, by event id; one for each time it was told.
        ran: What dangerous tools did.
        closed: The prompts that were seen closed, as they were then.
        judged: The messages of which it is known what they came to.
        was_kept: Nothing has happened since upkeep last ran.
    """

    clock: FakeClock
    number: int = field(default_factory=lambda: next(_worlds))
    received: list[InboundMessage | ButtonPress] = field(default_factory=list)
    acknowledged: list[tuple[str, str]] = field(default_factory=list)
    ran: list[Ran] = field(default_factory=list)
    closed: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    judged: set[str] = field(default_factory=set)
    was_kept: bool = False

    def __post_init__(self) -> None:
        self.account = f"machine{self.number}"
        make_account(self.account)
        for name, role in (("ada", "member"), ("mel", "member"), ("bo", "approver")):
            make_allow_entry(user_id=self.id_of(name), role=role, account=self.account)
        self.fence = take_lease(account=self.account, clock=self.clock)
        self.lock = threading.Lock()

    # --- looking

    def id_of(self, name: str) -> str:
        return f"{self.number}{PEOPLE.index(name)}"

    def name_of(self, user_id: str) -> str:
        return PEOPLE[int(user_id[-1])]

    def source(self, name: str, place: str) -> Source:
        where: dict[str, Any] = {"chat_type": ChatType.DM, "chat_id": self.id_of(name)}
        if place != "dm":
            where = {"chat_type": ChatType.GROUP, "chat_id": f"-{self.number}"}
        return Source(
            platform="telegram",
            account=self.account,
            user_id=self.id_of(name),
            user_name=name,
            message_id=str(next(_messages)),
            thread_id="5" if place == "thread" else "",
            **where,
        )

    def conversation(self, name: str, place: str) -> Conversation | None:
        source = self.source(name, place)
        sharer = self.id_of(name) if place == "group" else ""
        return Conversation.objects.filter(
            account=self.account,
            chat_id=source.chat_id,
            thread_id=source.thread_id,
            participant_id=sharer,
        ).first()

    def conversations(self) -> list[Conversation]:
        return list(Conversation.objects.filter(account=self.account).order_by("pk"))

    def turns(self) -> Any:
        return Turn.objects.filter(conversation__account=self.account)

    def prompts(self) -> list[Prompt]:
        """All prompts, the newest first."""
        ids = [str(pk) for pk in self.turns().values_list("pk", flat=True)]
        return list(Prompt.objects.filter(correlation__in=ids).order_by("-pk"))

    def owed(self) -> Any:
        return Obligation.objects.filter(account=self.account)

    # --- doing

    def receive(self, event: InboundMessage | ButtonPress) -> None:
        batch = Batch(f"c{event.event_id}", (event,))
        deeds = intake.receive(self.account, self.fence, batch, now=self.clock())
        for deed in deeds:
            if isinstance(deed, AckPress):
                self.acknowledged.append((deed.press.event_id, deed.text))

    def work(self, conversation: Conversation, *, dies_after: int | None = None) -> bool:
        """Run the next turn of a conversation, if one may run; whether one did."""
        owner = "host/dead/1" if dies_after is not None else "host/1/1"
        turn = turns.claim(conversation.pk, owner, now=self.clock(), capacity=10_000)
        if turn is None:
            return False
        runtime: Any = PlanRuntime(lambda *call: self.perform(turn, *call), dies_after=dies_after)
        with suppress(WorkerDied):
            execution.run(turn, runtime)
        return True

    def perform(self, turn: Turn, call_id: str, name: str, arguments: dict[str, Any]) -> str:
        if name == "wipe":
            now = self.clock()
            asked = Permit.objects.filter(
                conversation_key=turn.conversation.key,
                asker_id=turn.sender_id,
                tool=name,
                session__in=["", str(turn.session_id)],
                expires_at__gt=now,
                given_at__lte=now,
                prompt__operation__summary="Call wipe",
            ).select_related("prompt")
            about = tuple(p for p in asked if f'"{arguments["target"]}"' in p.prompt.what.detail)
            with self.lock:
                self.ran.append(Ran(turn, call_id, arguments, about))
        return "done"

    def deliver(self, fate: str) -> None:
        """The owner of the account sends what is due; `fate` befalls the first of it."""
        for _ in range(12):
            works = ledger.claim_due(self.fence, self.account, now=self.clock())
            if not works:
                return
            for work in works:
                self._send(work, fate)
                fate = "accepted"

    def _send(self, work: ledger.Claimed, fate: str) -> None:
        now, operation = self.clock(), "edit" if work.obligation.edits_id else "send"
        part, facts = work.parts[0], {"operation": operation, "now": now}
        match fate:
            case "refused":
                ledger.abandon(work, part, Refused("no"), reason="no", **facts)
            case "unknown":
                ledger.abandon(work, part, OutcomeUnknown(), reason="?", **facts)
            case "lost":
                ledger.postpone(work, part, OutcomeUnknown(), until=now, **facts)
            case "later":
                ledger.postpone(work, part, NetworkDown(), until=now, **facts)
            case _:
                for each in list(work.parts):
                    receipt = Receipt(str(next(_messages)))
                    ledger.accept(work, each, receipt, marked=False, **facts)

    def upkeep(self) -> None:
        """As `gateway.upkeep.tick`; whoever runs a turn at this moment is taken for dead."""
        for turn in Turn.objects.filter(conversation__account=self.account, state="running"):
            with suppress(TurnLost):
                turns.reclaim(turn, now=self.clock())
        questions.expire_overdue(now=self.clock())
        questions.close_undeliverable(now=self.clock())

    def restart(self) -> None:
        """A process begins anew: nothing is remembered but what is stored."""
        for kept in _caches():
            kept._made.clear()
        connections.close_all()


def _caches() -> list[Any]:
    if not _found:
        kinds = (frozen._Frozen, frozen.Insert)
        _found.extend(thing for thing in gc.get_objects() if isinstance(thing, kinds))
    return _found


_found: list[Any] = []
