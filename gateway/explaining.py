"""The whole life of one message in order of time, and who holds it now ([Q21]).

Pure: `tracing` looks the story up, this module tells it.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from clarify.presenting import clipped
from clarify.states import Effect
from gateway.holding import Held, Layer, held_by
from gateway.story import Asked, Called, Owed, Replied, Said, Spared, Story, Turned

LONGEST_QUOTE = 100  # characters of what somebody wrote


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One thing that happened.

    Attributes:
        at: When.
        layer: Where.
        says: What, in one sentence.
        id: How the commands take it: `turn:12`, `prompt:3`, `delivery:ab12`, `event:5`.
    """

    at: datetime
    layer: Layer
    says: str
    id: str = ""


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What happened, oldest first, and which layer holds it now."""

    subject: str
    entries: tuple[Entry, ...]
    held: Held

    def as_dict(self) -> dict[str, Any]:
        """The same as JSON."""
        return {
            "subject": self.subject,
            "entries": [asdict(entry) | {"at": entry.at.isoformat()} for entry in self.entries],
            "held_by": asdict(self.held),
        }

    def as_text(self) -> str:
        """The same for a terminal; times in the zone they were given in."""
        lines = [self.subject, ""]
        lines += [
            f"{entry.at:%Y-%m-%d %H:%M:%S.%f}"[:-3] + f"  {entry.layer:<10}  {entry.says}"
            for entry in self.entries
        ]
        lines += [
            "",
            f"Held by: {self.held.layer}",
            self.held.says,
            f"What to do: {self.held.todo}",
        ]
        return "\n".join(lines)


def explain(story: Story) -> Explanation:
    """Tell `story`."""
    entries = [
        *(entry for said in story.said for entry in _said(said)),
        *(_turn(story.turn) if story.turn else ()),
        *(entry for called in story.called for entry in _called(called)),
        *(_spared(spared) for spared in story.spared),
        *(entry for asked in story.asked for entry in _asked(asked)),
        *(entry for owed in story.owed for entry in _owed(owed)),
    ]
    entries.sort(key=lambda entry: entry.at)  # stable: what happened at once keeps its order
    return Explanation(subject=story.subject, entries=tuple(entries), held=held_by(story))


def quote(text: str) -> str:
    """The beginning of what somebody wrote, on one line, in quotes."""
    return f"“{clipped(text, LONGEST_QUOTE)}”"


def _said(said: Said) -> Iterator[Entry]:
    name = f"event:{said.row}"
    who = f"{said.sender} [{said.sender_id}]" if said.sender else f"[{said.sender_id}]"
    number = f" {said.message_id}" if said.message_id else ""
    words = f": {quote(said.text)}" if said.text else ""
    yield Entry(
        at=said.received_at,
        layer=Layer.ACCESS,
        says=f"{said.kind}{number} (event {said.event_id}) from {who} in {said.place}{words}",
        id=name,
    )
    if said.access:
        yield Entry(at=said.received_at, layer=Layer.ACCESS, says=said.access, id=name)
    target = f", turn {said.turn}" if said.turn else ""
    target += f", question {said.prompt}" if said.prompt else ""
    reason = f": {said.reason}" if said.reason else ""
    layer = Layer.QUESTION if said.prompt else Layer.TURN if said.turn else Layer.ACCESS
    yield Entry(
        at=said.received_at, layer=layer, says=f"it {said.decided}{target}{reason}", id=name
    )


def _turn(turn: Turned) -> Iterator[Entry]:
    name = f"turn:{turn.id}"

    def entry(at: datetime, says: str) -> Entry:
        return Entry(at=at, layer=Layer.TURN, says=says, id=name)

    yield entry(
        turn.created_at,
        f"turn {turn.id} of session {turn.session} of {turn.conversation} was queued",
    )
    if turn.started_at:
        yield entry(turn.started_at, f"a worker took turn {turn.id} up for the first time")
    if turn.finished_at:
        why = turn.error or (turn.detail if turn.state == "stopped" else "")
        error = f": {why}" if why else ""
        yield entry(turn.finished_at, f"turn {turn.id} is {turn.state}{error}")
    else:
        claims = f", claimed {turn.epoch} times" if turn.epoch > 1 else ""
        owner = f" by {turn.owner}" if turn.owner else ""
        deaths = f", {turn.deaths} of its workers died" if turn.deaths else ""
        says = f"turn {turn.id} is {turn.state}{owner}{claims}{deaths}"
        yield entry(turn.updated_at, says)


def _called(called: Called) -> Iterator[Entry]:
    says = f"the model called the tool {called.name}"
    yield Entry(at=called.started_at, layer=Layer.TURN, says=says)
    if called.state == "permitted":
        says = f"the tool {called.name} was approved and runs as soon as a worker takes it up"
        yield Entry(at=called.started_at, layer=Layer.TURN, says=says)
    if called.finished_at:
        says = f"the tool {called.name} has its result"
        yield Entry(at=called.finished_at, layer=Layer.TURN, says=says)


def _spared(spared: Spared) -> Entry:
    says = (
        f"the tool {spared.tool} needed no approval: lasting approval {spared.permit}, given by"
        f" {spared.given_by}, covers it"
    )
    return Entry(at=spared.at, layer=Layer.QUESTION, says=says, id=f"permit:{spared.permit}")


def _asked(asked: Asked) -> Iterator[Entry]:
    name = f"prompt:{asked.id}"

    def entry(at: datetime, says: str) -> Entry:
        return Entry(at=at, layer=Layer.QUESTION, says=says, id=name)

    kind = asked.risk or asked.kind
    yield entry(
        asked.created_at,
        f"{asked.name} ({kind}) for {asked.asker}, open until {asked.expires_at:%H:%M:%S}:"
        f" {quote(asked.text)}",
    )
    for reply in asked.replies:
        yield entry(reply.at, _reply(asked, reply))
    for said in asked.ignored:
        why = why_no_answer(said, asked)
        yield entry(
            said.received_at,
            f"{quote(said.text)} from [{said.sender_id}] was not taken as an answer to"
            f" {asked.name}: {why}; it {said.decided}",
        )
    if asked.resolved_at:
        yield entry(asked.resolved_at, _resolution(asked))


def _reply(asked: Asked, reply: Replied) -> str:
    words = quote(reply.text) if reply.text else "a button"
    who = f"from [{reply.by}] on {reply.surface}"
    match reply.outcome:
        case Effect.RESOLVED:
            return f"{words} {who} {'decided' if asked.risk else 'answered'} {asked.name}"
        case Effect.KEPT:
            return f"{words} {who} answered a part of {asked.name}; the rest is open"
        case Effect.TOO_LATE:
            return f"{words} {who} came after {asked.name} was closed"
        case _:
            detail = " ".join(reply.detail.split())
            return f"{words} {who} was not taken as an answer ({reply.outcome}): {detail}"


def _resolution(asked: Asked) -> str:
    if asked.risk:
        return f"{asked.name} on {asked.resolved_on or 'no surface'}: {asked.answers}"
    by = f" by {asked.resolved_by}" if asked.resolved_by else ""
    on = f" on {asked.resolved_on}" if asked.resolved_on else ""
    answers = f": {quote(asked.answers)}" if asked.answers else ""
    reason = f" ({asked.reason})" if asked.reason and asked.reason != asked.state else ""
    return f"{asked.name} is {asked.state}{by}{on}{reason}{answers}"


def why_no_answer(said: Said, asked: Asked) -> str:
    """Why a message that came while a question was open did not answer it."""
    if said.decision == "denied":
        return "its sender may not speak"
    if said.sender_id != asked.asker_id and not asked.anyone_may_answer:
        return f"only {asked.asker} was asked"
    if said.lane != asked.lane:
        return "it was said in another thread"
    return _why_not_meant(said, asked)


def _why_not_meant(said: Said, asked: Asked) -> str:
    if said.decision == "command":
        return "it was a command"
    if asked.risk:
        return "plain words approve nothing unless they quote its message"
    if asked.shown_at is None or said.received_at < asked.shown_at:
        return "the question had not reached the chat yet"
    return "it was meant for something else"


def _owed(owed: Owed) -> Iterator[Entry]:
    name = f"delivery:{owed.delivery_id}"

    def entry(at: datetime, says: str, layer: Layer = Layer.DELIVERY) -> Entry:
        return Entry(at=at, layer=layer, says=says, id=name)

    parts = f", {len(owed.parts)} parts" if len(owed.parts) > 1 else ""
    yield entry(owed.created_at, f"the {owed.kind} message {owed.delivery_id} is owed{parts}")
    for part in owed.parts:
        number = f"part {part.position + 1} of {owed.delivery_id}"
        for tried in part.tries:
            detail = f": {tried.detail}" if tried.detail else ""
            marked = ", marked as a possible duplicate" if tried.marked else ""
            as_message = f" as message {part.message_id}" if tried.outcome == "accepted" else ""
            yield entry(
                tried.at,
                f"try {tried.number} to {tried.operation} {number}: {tried.outcome}{as_message}"
                f"{marked}{detail}",
                Layer.PLATFORM,
            )
    if owed.settled_at:
        reason = f": {owed.reason}" if owed.reason else ""
        yield entry(
            owed.settled_at, f"the {owed.kind} message {owed.delivery_id} is {owed.state}{reason}"
        )
