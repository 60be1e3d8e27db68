"""What can happen in the world of prompts: each act is decided first, and done in any thread."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Protocol

from django.db import transaction

from clarify import questions, staff
from clarify.errors import ClarifyError
from clarify.models import Prompt
from delivery import ledger
from delivery.models import Kind, Obligation
from gateway import turns
from gateway.messages import Attachment, ButtonPress, InboundMessage
from gateway.models import Conversation, Turn
from gateway.states import ACTIVE
from tests.integration.prompt_world import World
from tests.integration.racing import race

PHOTO = Attachment(kind="photo", file_id="f1", name="a.jpg")
Does = Callable[[], Any]


def picked(things: Any, index: int) -> Any:
    """One of `things` by any number; None of none."""
    several = list(things)
    return several[index % len(several)] if several else None


def where_and_who(world: World, prompt: Prompt | None) -> tuple[str, str]:
    """The place where a prompt is shown and the person whom it asks; some place for none."""
    if prompt is None:
        return "dm", "ada"
    address = prompt.destination
    return "thread" if address.thread_id else address.chat_type, world.name_of(prompt.asker_id)


class Act(Protocol):
    """Something that can happen."""

    def prepare(self, world: World) -> Does:
        """Decide what exactly is done; the function does it."""
        ...


def nothing() -> None:
    """There is nothing it could be done to."""


@dataclass(frozen=True)
class Ask:
    """Somebody asks for something, and the agent carries it out until it asks back."""

    who: str
    place: str
    plan: str
    fate: str = "accepted"

    def prepare(self, world: World) -> Does:
        here = world.conversation(self.who, self.place)
        if here and Turn.objects.filter(conversation=here, state__in=sorted(ACTIVE)).exists():
            return nothing
        say = Say(self.who, self.place, f"please {self.plan}").prepare(world)

        def ask() -> None:
            say()
            here = world.conversation(self.who, self.place)
            if here is not None:
                world.work(here)
                world.deliver(self.fate)

        return ask


@dataclass(frozen=True)
class Say:
    """A message comes in.

    `them` and `there` mean whoever an open prompt was put to, and where; `#` in the words is the
    number of an approval.
    """

    who: str
    place: str
    text: str
    quotes: int | None = None
    photo: bool = False
    mentions: bool = True
    prompt: int = 0

    def prepare(self, world: World) -> Does:
        text = self.text
        if "#" in text:
            asked = picked([p for p in world.prompts() if p.is_approval], self.prompt)
            text = text.replace("#", f"#{asked.pk if asked else 1}")
        asked = picked([p for p in world.prompts() if p.is_open], self.prompt)
        there, they = where_and_who(world, asked)
        who = they if self.who == "them" else self.who
        source = world.source(who, there if self.place == "there" else self.place)
        event = InboundMessage(
            source=source,
            event_id=f"m{source.message_id}",
            text=text,
            sent_at=world.clock(),
            mentions_bot=self.mentions,
            reply_to=self._quoted(world, source.address.lane),
            attachments=(PHOTO,) if self.photo else (),
        )
        world.received.append(event)
        return lambda: world.receive(event)

    def _quoted(self, world: World, lane: str) -> str:
        if self.quotes is None:
            return ""
        shown = world.owed().filter(lane=lane, kind__in=[Kind.PROMPT, Kind.APPROVAL])
        message = picked(shown.order_by("-pk"), self.quotes)
        found = ledger.message_ids(message.pk) if message else []
        return found[0] if found else ""


def buttons_of(view: Obligation) -> dict[str, list[str]]:
    """What the buttons of a message carry, by the token in it."""
    carried = [button.data for row in view.native_controls.rows for button in row]
    return {carried[0].split(":")[1]: carried}


@dataclass(frozen=True)
class Press:
    """A button that was ever shown is pressed, or one that is forged from it.

    `is_open`: one of a prompt that is open, if there is one; `them` is whoever it was put to.
    """

    who: str
    button: int
    view: int = 0
    forged: str = ""
    is_open: bool = False

    def prepare(self, world: World) -> Does:
        views = world.owed().filter(kind__in=[Kind.PROMPT, Kind.APPROVAL, Kind.CHANGE])
        shown = [v for v in views.order_by("-pk") if v.native_controls.rows]
        prompts = {prompt.token: prompt for prompt in world.prompts()}
        tokens = {prompt.token for prompt in prompts.values() if prompt.is_open}
        live = [v for v in shown if self.is_open and tokens & set(buttons_of(v))]
        view = picked(live or shown, self.view)
        if view is None:
            return nothing
        token, data = picked(
            [(token, data) for token, many in buttons_of(view).items() for data in many],
            self.button,
        )
        place, they = where_and_who(world, prompts[token])
        source = world.source(they if self.who == "them" else self.who, place)
        if self.forged == "elsewhere":
            source = replace(source, thread_id="77")
        elif self.forged:
            data = f"{data.rpartition(':')[0]}:{self.forged}"
        event = ButtonPress(
            source=source, event_id=f"b{source.message_id}", interaction_id="i", data=data
        )
        world.received.append(event)
        return lambda: world.receive(event)


@dataclass(frozen=True)
class Again:
    """Something that came in comes again: the same event, or the same message as another event."""

    index: int
    renamed: bool = False

    def prepare(self, world: World) -> Does:
        event = picked(reversed(world.received), self.index)
        if event is None:
            return nothing
        if self.renamed and isinstance(event, InboundMessage):
            event = replace(event, event_id=f"{event.event_id}x")
        return lambda: world.receive(event)


@dataclass(frozen=True)
class Deliver:
    """What is owed is sent."""

    fate: str = "accepted"

    def prepare(self, world: World) -> Does:
        return lambda: world.deliver(self.fate)


@dataclass(frozen=True)
class Work:
    """A worker takes the next turn of a conversation; it may die under it."""

    index: int
    dies_after: int | None = None

    def prepare(self, world: World) -> Does:
        here = Conversation.objects.filter(account=world.account).order_by("pk")
        open_ones = here.filter(turns__state__in=["queued", "ready"]).distinct()
        chosen = picked(open_ones, self.index)
        if chosen is None:
            return nothing
        return lambda: world.work(chosen, dies_after=self.dies_after)


@dataclass(frozen=True)
class Upkeep:
    """What beat does every few seconds."""

    def prepare(self, world: World) -> Does:
        return world.upkeep


@dataclass(frozen=True)
class Staff:
    """Staff do something to a prompt."""

    verb: str
    index: int
    text: str = "1"

    def prepare(self, world: World) -> Does:
        prompt = picked(world.prompts(), self.index)
        if prompt is None:
            return nothing
        return lambda: self._do(prompt, world)

    def _do(self, prompt: Prompt, world: World) -> None:
        by = {"actor": "boss", "now": world.clock()}
        verbs: dict[str, Does] = {
            "answer": lambda: staff.answer(prompt, self.text, surface="admin", **by),
            "cancel": lambda: staff.cancel(prompt, surface="admin", **by),
            "expire": lambda: staff.expire(prompt, surface="admin", **by),
            "extend": lambda: staff.extend(prompt, by=timedelta(minutes=5), **by),
            "resend": lambda: staff.resend(prompt, **by),
            "stop": lambda: self._stop(prompt, world),
        }
        with suppress(ClarifyError):
            verbs[self.verb]()

    def _stop(self, prompt: Prompt, world: World) -> None:
        turn = Turn.objects.get(pk=int(prompt.correlation))
        boss = questions.Answerer(id="boss", name="boss", surface="admin", is_staff=True)
        with transaction.atomic():
            turns.stop_one(turn, by=boss, now=world.clock())


@dataclass(frozen=True)
class TimeGoesOn:
    """Nothing happens for a while."""

    seconds: int

    def prepare(self, world: World) -> Does:
        return lambda: world.clock.advance(self.seconds)


@dataclass(frozen=True)
class Restart:
    """Every process begins anew."""

    def prepare(self, world: World) -> Does:
        return world.restart


@dataclass(frozen=True)
class AtOnce:
    """Several things happen at the same moment, each in a thread of its own; none may go wrong."""

    acts: list[Act]
    overdue: int = 0  # seconds that nobody swept before

    def prepare(self, world: World) -> Does:
        world.clock.advance(self.overdue)
        does = [do for act in self.acts if (do := act.prepare(world)) is not nothing]
        return lambda: self._race(does)

    def _race(self, does: list[Does]) -> None:
        for outcome in race(*does) if does else []:
            if isinstance(outcome, Exception):
                raise outcome
