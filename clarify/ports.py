"""What clarify needs from above: somebody to tell when a prompt is resolved. Pure."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol


class Resolved(Protocol):
    """A prompt that has just been resolved, as the listener sees it."""

    correlation: str
    call_id: str
    kind: str
    state: str

    @property
    def permits(self) -> bool:
        """Whether it was an approval and the operation may run now."""
        ...

    @property
    def tool_result(self) -> dict[str, Any]:
        """What the agent's tool call returns."""
        ...


Listener = Callable[[Resolved, datetime], None]
_listeners: list[Listener] = []


def register_listener(listener: Listener) -> None:
    """Let `listener` know of every resolution, inside its transaction."""
    if listener not in _listeners:
        _listeners.append(listener)


def tell(prompt: Resolved, now: datetime) -> None:
    """Tell every listener that `prompt` is resolved."""
    for listener in _listeners:
        listener(prompt, now)
