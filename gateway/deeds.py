"""What is to be done on a platform at once, as values, for after the commit. Pure."""

from dataclasses import asdict, dataclass
from typing import Any

from delivery.addresses import Address
from gateway.messages import ButtonPress, ChatType, Form, Source


@dataclass(frozen=True)
class AckPress:
    """Answer a press on the platform, now.

    Attributes:
        press: The press.
        text: What the presser reads.
        alert: Show it as a box to be closed.
        is_echo: The message that was pressed will say the same.
        form: What to show instead, where the platform has forms.
    """

    press: ButtonPress
    text: str
    alert: bool = False
    is_echo: bool = False
    form: Form | None = None


@dataclass(frozen=True)
class StartTyping:
    """Show that an answer is being made."""

    address: Address
    turn: int


@dataclass(frozen=True)
class ShowHeard:
    """Show on a message that it was heard, though its turn comes later; nothing is owed for it."""

    address: Address
    message_id: str


@dataclass(frozen=True)
class FetchFiles:
    """Fetch the files that a turn waits for."""

    turn: int


Deed = AckPress | StartTyping | ShowHeard | FetchFiles


def as_plain(deed: Deed) -> dict[str, Any]:
    """A deed as plain values, for the process that can do it."""
    fields = {"kind": type(deed).__name__, **asdict(deed)}
    if isinstance(deed, AckPress):
        fields["text"] = str(deed.text)  # in the language of whoever pressed
    return fields


def from_plain(fields: dict[str, Any]) -> Deed:
    """The deed that `as_plain` wrote."""
    rest = {name: value for name, value in fields.items() if name != "kind"}
    match fields["kind"]:
        case "AckPress":
            given = dict(rest.pop("press"))
            source = dict(given.pop("source"))
            chat_type = ChatType(source.pop("chat_type"))
            chosen = given.pop("chosen")
            press = ButtonPress(
                source=Source(chat_type=chat_type, **source),
                chosen=None if chosen is None else tuple(chosen),
                **given,
            )
            form = rest.pop("form")
            return AckPress(press=press, form=Form(**form) if form else None, **rest)
        case "StartTyping":
            return StartTyping(address=Address.from_dict(rest["address"]), turn=int(rest["turn"]))
        case "ShowHeard":
            address = Address.from_dict(rest["address"])
            return ShowHeard(address=address, message_id=str(rest["message_id"]))
    return FetchFiles(turn=int(rest["turn"]))
