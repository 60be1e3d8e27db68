"""What a run of the agent tells its caller, and what the caller may decide. Pure.

The caller does everything durable. A run stops at each event that needs a word from it:

    ModelStarting   `event.give(…)`: what was said meanwhile, if anything was
    ModelAnswered   store the messages, then `ack()`: only then does any tool run
    ToolStarting    `run.decide(event, …)`: Execute, Replay, OutcomeUnknown, Defer or Refuse
    ToolFinished    store the result, then `ack()`: only then does the run go on
    TextSoFar, Tick need nothing
    Asked, Finished, Failed, Cancelled     the last event of a run, one of them, always
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from gateway.states import FailureKind

JSONObject = dict[str, Any]

Reply = Callable[[Any], None]


def _to_nobody(_word: object) -> None:
    """Where the word goes when an event was made by hand."""


@dataclass(frozen=True)
class Execute:
    """Run the tool now; the caller has written down that it is starting."""


@dataclass(frozen=True)
class Replay:
    """Do not run the tool: give the model this stored result (an answer is one too)."""

    result: Any


@dataclass(frozen=True)
class OutcomeUnknown:
    """The tool had started and nobody knows how it ended: tell the model exactly that."""


@dataclass(frozen=True)
class Defer:
    """The result comes later, from a person: end the run with `Asked` when the others are done."""


@dataclass(frozen=True)
class Refuse:
    """The call cannot be taken as it is; the model reads why and may correct itself."""

    message: str


Decision = Execute | Replay | OutcomeUnknown | Defer | Refuse


@dataclass(frozen=True)
class Usage:
    """What model calls cost, in tokens."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    requests: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            requests=self.requests + other.requests,
        )


@dataclass(frozen=True, kw_only=True)
class _AwaitsWord:
    reply: Reply = field(default=_to_nobody, repr=False, compare=False)


@dataclass(frozen=True)
class TextSoFar:
    """All visible text of the model's present response; a later one replaces an earlier one."""

    text: str


@dataclass(frozen=True)
class Tick:
    """Nothing happened for a while; the run is still at work."""


@dataclass(frozen=True)
class ModelAnswered(_AwaitsWord):
    """The model wants tools; no tool runs before this is acknowledged.

    Attributes:
        messages: What is new since the last checkpoint, ending in the model's response.
        usage: What these messages cost.
    """

    messages: tuple[JSONObject, ...]
    usage: Usage = Usage()

    def ack(self) -> None:
        """The messages are stored: go on."""
        self.reply(None)


@dataclass(frozen=True)
class ModelStarting(_AwaitsWord):
    """The model is about to be asked; what people have said meanwhile can be given to it."""

    def give(self, said: "tuple[str, ...]" = ()) -> None:
        """Go on, with these words at the end of what the model reads.

        They stand in the messages of the next `ModelAnswered` or `Finished`.
        """
        self.reply(said)


@dataclass(frozen=True)
class ToolStarting(_AwaitsWord):
    """The model calls a tool; `call_id` is unique within the history."""

    call_id: str
    name: str
    args: JSONObject


@dataclass(frozen=True)
class ToolFinished(_AwaitsWord):
    """A tool has run, well or badly; the run goes on once this is acknowledged."""

    call_id: str
    name: str
    result: Any

    def ack(self) -> None:
        """The result is stored: go on."""
        self.reply(None)


@dataclass(frozen=True)
class AskedCall:
    """One tool call that waits for a person."""

    call_id: str
    name: str
    args: JSONObject
    kind: Literal["question", "approval"]


@dataclass(frozen=True)
class Asked:
    """The run ended because these calls wait for people; carry it on when all have results."""

    calls: tuple[AskedCall, ...]


@dataclass(frozen=True)
class Finished:
    """The run is done.

    Attributes:
        text: The answer.
        messages: What is new since the last checkpoint, ending in the model's response.
        usage: What these messages cost.
    """

    text: str
    messages: tuple[JSONObject, ...]
    usage: Usage = Usage()


@dataclass(frozen=True, kw_only=True)
class Failed:
    """The run could not be finished; its history up to the last checkpoint is sound.

    Attributes:
        kind: Why.
        message: One clear line for the person: no secret, no JSON.
        detail: What staff need; no secret.
        retryable: Whether the same run may work later.
        retry_after: Seconds to wait first, where the provider said so.
    """

    kind: FailureKind
    message: str
    detail: str = ""
    retryable: bool = False
    retry_after: float | None = None


@dataclass(frozen=True)
class Cancelled:
    """The run was stopped; `text` is what the model had said of its unfinished response."""

    text: str = ""


Event = (
    TextSoFar
    | Tick
    | ModelStarting
    | ModelAnswered
    | ToolStarting
    | ToolFinished
    | Asked
    | Finished
    | Failed
    | Cancelled
)
Ending = Asked | Finished | Failed | Cancelled
