"""What a turn of the agent is started with, as plain values. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

#: A side effect the caller carries out for a tool: (name, payload as JSON) -> result as JSON.
#: It runs in the thread that iterates over the run, and may use its database connection.
Effects = Callable[[str, dict[str, Any]], Any]


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Where the models are and how patiently they are called.

    Attributes:
        name: The model used when a turn names none: `demo`, a name known to the OpenAI-compatible
            server at `base_url`, or `provider:name` of the agent library.
        base_url: The OpenAI-compatible server, with its `/v1`; empty for OpenAI itself.
        api_key: Its key, in clear; never logged, never part of an event.
        fallback: The model asked when `name` could not answer; empty for none.
        max_tries: How often one model call is tried in all, at least 1.
        longest_wait_seconds: A provider that asks for more patience than this is not waited for.
        connect_timeout_seconds: Until the connection stands.
        read_timeout_seconds: Between two pieces of an answer, or until the whole of one that is
            not streamed.
        max_connections: Upper bound of connections of one process to the server.
        max_requests: Model calls in one run, so that a model in a circle comes to an end.
    """

    name: str = "demo"
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    fallback: str = ""
    max_tries: int = 3
    longest_wait_seconds: float = 60.0
    connect_timeout_seconds: float = 10.0
    read_timeout_seconds: float = 300.0
    max_connections: int = 300
    max_requests: int = 50


@dataclass(frozen=True, kw_only=True)
class TurnContext:
    """Where the turn takes place, for the tools and for the briefing of the model ([T10]).

    Attributes:
        conversation: The conversation key.
        session_id: The session the turn belongs to.
        workspace: The name of the session's own directory, the same for no other session; empty
            where a turn has none.
        platform: The platform's kind.
        chat_type: What kind of place it is: dm, group, channel, thread, webhook, console.
        chat_name: What people call the place; from outside, never trusted.
        thread_id: The thread in it; empty for none.
        sender_name: Who speaks; from outside, never trusted.
        abilities: What the surface can do: `edit`, `buttons`, `files`, `voice`, `markdown`, ….
        message_limit: Characters one message may hold there; 0 where nobody knows.
        targets: Other places this turn may send to.
        effects: Carries out the side effects of tools; None where a turn may have none.
    """

    conversation: str = ""
    session_id: str = ""
    workspace: str = ""
    platform: str = "console"
    chat_type: str = "dm"
    chat_name: str = ""
    thread_id: str = ""
    sender_name: str = ""
    abilities: frozenset[str] = frozenset()
    message_limit: int = 0
    targets: tuple[str, ...] = ()
    effects: Effects | None = None


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """One run of the agent: a new prompt on a history, or a stored history carried on.

    Attributes:
        history: The stored messages, oldest first, as `ModelAnswered` and `Finished` gave them.
        prompt: What the person said; None carries on the history: its last response's tool calls
            are entered again, each through `ToolStarting`.
        instructions: The system's words to the model; not stored in the history.
        model: The model's name; empty for the configured one.
        tools: The names of the tools this turn may use.
        context: Where the turn takes place.
        time_limit_seconds: After so long the run ends as `Failed` of kind `limit`.
        is_steered: Whether the caller gives what was said meanwhile; then it answers each
            `ModelStarting`, which does not come otherwise.
        stream: Whether anybody wants `TextSoFar`; without it a model call costs less.
        preview_seconds: The shortest time between two `TextSoFar`.
        quiet_seconds: From the start to the first `TextSoFar`; an answer that is quicker is told
            as a whole.
        tick_seconds: After so long without any event the iterator gives a `Tick`; None for never.
    """

    history: tuple[dict[str, Any], ...] | list[dict[str, Any]] = ()
    prompt: str | None = None
    instructions: str = ""
    model: str = ""
    tools: frozenset[str] = frozenset()
    context: TurnContext = field(default_factory=TurnContext)
    time_limit_seconds: float = 600.0
    is_steered: bool = False
    stream: bool = True
    preview_seconds: float = 0.1
    quiet_seconds: float = 0.0
    tick_seconds: float | None = None
