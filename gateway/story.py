"""The life of one message as plain values: what `tracing` looks up and `explaining` tells. Pure."""

from dataclasses import dataclass, field
from datetime import datetime

from clarify.standing import Standing
from delivery.states import OPEN
from gateway.states import FailureKind


@dataclass(frozen=True, kw_only=True)
class Said:
    """Something that came in.

    Attributes:
        row: The id of its row.
        decision: What became of it, as stored.
        decided: The same in words.
        access: Whether its sender may speak, and why; empty where nobody speaks.
        place: The platform, kind of chat and chat it was said in.
        lane: Where exactly, for comparing.
    """

    row: int
    event_id: str
    kind: str
    decision: str
    decided: str
    received_at: datetime
    reason: str = ""
    message_id: str = ""
    sender: str = ""
    sender_id: str = ""
    place: str = ""
    lane: str = ""
    text: str = ""
    access: str = ""
    turn: int | None = None
    prompt: int | None = None


@dataclass(frozen=True, kw_only=True)
class Turned:
    """A turn.

    Attributes:
        failure: Why it failed; None if it did not.
        error: The same as the person was told it.
        detail: The same for staff.
        behind: The open turn of the same conversation that is before it; empty for none.
        joined: The turn that took it in; empty for none.
    """

    id: int
    state: str
    conversation: str
    session: int
    created_at: datetime
    updated_at: datetime
    sender: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    lease_expires_at: datetime | None = None
    held_until: datetime | None = None
    owner: str = ""
    epoch: int = 0
    deaths: int = 0
    failure: FailureKind | None = None
    error: str = ""
    detail: str = ""
    behind: str = ""
    joined: str = ""


@dataclass(frozen=True, kw_only=True)
class Called:
    """A tool call of the turn."""

    name: str
    state: str
    started_at: datetime
    finished_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Replied:
    """What somebody said to a question, and what became of it."""

    at: datetime
    by: str
    surface: str
    outcome: str
    text: str = ""
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question of the turn, with what was said to it.

    Attributes:
        shown: The start of the delivery id of the message that shows it; empty for none.
        shown_at: When that message arrived, as far as known.
        answers: What it was answered; of an approval, what was decided.
        risk: Of an approval, how much harm the operation can do; empty for a question.
        deciders: Of an approval, who may give it.
        ignored: Messages of the same chat while it was open that were not taken as its answer.
    """

    id: int
    kind: str
    state: str
    text: str
    asker: str
    asker_id: str
    lane: str
    created_at: datetime
    expires_at: datetime
    standing: Standing
    shown: str = ""
    shown_at: datetime | None = None
    anyone_may_answer: bool = False
    resolved_at: datetime | None = None
    resolved_by: str = ""
    resolved_on: str = ""
    reason: str = ""
    answers: str = ""
    risk: str = ""
    deciders: tuple[str, ...] = ()
    replies: tuple[Replied, ...] = ()
    ignored: tuple[Said, ...] = ()

    @property
    def name(self) -> str:
        """What to call it."""
        return f"approval {self.id}" if self.risk else f"question {self.id}"


@dataclass(frozen=True, kw_only=True)
class Spared:
    """A call that needed no approval, because a lasting one covers it.

    Attributes:
        permit: The id of the lasting approval.
        given_by: Who gave it.
    """

    at: datetime
    tool: str
    permit: int
    given_by: str


@dataclass(frozen=True, kw_only=True)
class Tried:
    """One try to send one part."""

    at: datetime
    number: int
    operation: str
    outcome: str
    detail: str = ""
    marked: bool = False


@dataclass(frozen=True, kw_only=True)
class Parted:
    """One platform message of what is owed."""

    position: int
    state: str
    message_id: str = ""
    tries: tuple[Tried, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Owed:
    """One owed message.

    Attributes:
        delivery_id: The start of its id, as the commands take it.
        error_kind: The name of the delivery error that `last_error` tells of; empty for none.
        behind: The start of the id of the owed message of the same lane before it; empty for none.
    """

    delivery_id: str
    kind: str
    state: str
    created_at: datetime
    next_attempt_at: datetime
    settled_at: datetime | None = None
    updated_at: datetime | None = None
    owner: str = ""
    last_error: str = ""
    error_kind: str = ""
    reason: str = ""
    behind: str = ""
    parts: tuple[Parted, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it is still owed."""
        return self.state in OPEN

    @property
    def message_ids(self) -> list[str]:
        """The platform ids of what arrived."""
        return [part.message_id for part in self.parts if part.message_id]


@dataclass(frozen=True, kw_only=True)
class Connection:
    """How the account stands that all this goes through.

    Attributes:
        is_served: A living gateway process holds it.
        closed_chat: Why the platform said that the chat is closed to us; empty if it did not.
    """

    account: str
    platform: str
    state: str
    is_enabled: bool = True
    is_served: bool = True
    error: str = ""
    closed_chat: str = ""


@dataclass(frozen=True, kw_only=True)
class Alive:
    """Which kinds of process were seen lately."""

    worker: bool = True
    gateway: bool = True
    beat: bool = True


@dataclass(frozen=True, kw_only=True)
class Story:
    """Everything known about one message, as of `now`.

    Attributes:
        subject: What was asked about, in words.
        about: The message that was asked about; None if it was something else.
        said: That message and all others of the same turn, oldest first.
    """

    subject: str
    now: datetime
    about: Said | None = None
    said: tuple[Said, ...] = ()
    turn: Turned | None = None
    called: tuple[Called, ...] = ()
    spared: tuple[Spared, ...] = ()
    asked: tuple[Asked, ...] = ()
    owed: tuple[Owed, ...] = ()
    connection: Connection | None = None
    alive: Alive = field(default_factory=Alive)
