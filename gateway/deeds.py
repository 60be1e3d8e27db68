"""What is to be done on a platform at once, as values, for after the commit. Pure."""

from dataclasses import dataclass

from delivery.addresses import Address
from gateway.messages import ButtonPress


@dataclass(frozen=True)
class AckPress:
    """Answer a press on the platform, now."""

    press: ButtonPress
    text: str
    alert: bool = False


@dataclass(frozen=True)
class StartTyping:
    """Show that an answer is being made."""

    address: Address
    turn: int


@dataclass(frozen=True)
class FetchFiles:
    """Fetch the files that a turn waits for."""

    turn: int


Deed = AckPress | StartTyping | FetchFiles
