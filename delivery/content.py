"""What a message is made of, as plain values. Pure."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Unit(StrEnum):
    """What a platform counts when it says how long a message may be."""

    CHARACTERS = "characters"  # Unicode code points
    UTF16 = "utf16"  # UTF-16 code units
    BYTES = "bytes"  # UTF-8 bytes


@dataclass(frozen=True)
class Limit:
    """How much one message may hold: `size` counted in `unit`."""

    size: int
    unit: Unit


class ButtonStyle(StrEnum):
    """What pressing it means, for platforms that can colour a button."""

    PLAIN = "plain"
    PRIMARY = "primary"
    DANGER = "danger"


@dataclass(frozen=True, kw_only=True)
class Button:
    """One native button: what the person reads, and the token that comes back when pressed.

    `ticked` says of one that can be on or off which it is; a platform may draw it as a box to
    tick, and tell of the boxes when another button is pressed. None for every other button.
    """

    label: str
    data: str
    style: ButtonStyle = ButtonStyle.PLAIN
    ticked: bool | None = None

    def as_dict(self) -> dict[str, Any]:
        """The button as JSON, for a column."""
        fields = {"label": self.label, "data": self.data, "style": self.style.value}
        return fields if self.ticked is None else {**fields, "ticked": self.ticked}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> "Button":
        """The button that `as_dict` wrote."""
        style, ticked = ButtonStyle(fields["style"]), fields.get("ticked")
        return cls(label=fields["label"], data=fields["data"], style=style, ticked=ticked)


@dataclass(frozen=True, kw_only=True)
class Controls:
    """Native controls under a message: rows of buttons, or an invitation to type.

    `clear` asks an edit to remove the buttons that are there now.
    """

    rows: tuple[tuple[Button, ...], ...] = ()
    force_reply: bool = False
    placeholder: str = ""
    clear: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The controls as JSON, for a column."""
        return {
            "rows": [[button.as_dict() for button in row] for row in self.rows],
            "force_reply": self.force_reply,
            "placeholder": self.placeholder,
            "clear": self.clear,
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> "Controls":
        """The controls that `as_dict` wrote; an empty dict gives none."""
        rows = tuple(
            tuple(Button.from_dict(button) for button in row) for row in fields.get("rows", ())
        )
        return cls(
            rows=rows,
            force_reply=bool(fields.get("force_reply")),
            placeholder=str(fields.get("placeholder", "")),
            clear=bool(fields.get("clear")),
        )


@dataclass(frozen=True, kw_only=True)
class Media:
    """A file that goes with a message; its bytes are kept above, and never lie in a row.

    Attributes:
        number: What it is kept under.
        form: What it is sent as: `photo`, `voice`, `audio`, `video` or `document`.
        name: What people see.
        mime_type: By its first bytes.
        size: In bytes.
        sha256: Of the bytes, in hexadecimal.
    """

    number: int
    form: str
    name: str
    mime_type: str
    size: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """One platform message, rendered in a platform's dialect and known to fit its limit.

    Attributes:
        text: What is sent.
        plain: The same words without any formatting, sent if the platform refuses the dialect.
            It fits the same limit.
        format: The dialect's own extras as JSON: `{"entities": [...]}`, `{"html": "..."}`, `{}`.
        length: The length of `text`, in the platform's own unit, as the platform will count it.
        media: The file that the text is the caption of; None for a message of words.
    """

    text: str
    plain: str
    length: int
    format: dict[str, Any] = field(default_factory=dict)
    media: Media | None = None

    def as_dict(self) -> dict[str, Any]:
        """The message as JSON, for a column."""
        fields = {
            "text": self.text,
            "plain": self.plain,
            "length": self.length,
            "format": self.format,
        }
        return fields if self.media is None else {**fields, "media": vars(self.media)}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> "Rendered":
        """The message that `as_dict` wrote."""
        return cls(
            text=fields["text"],
            plain=fields["plain"],
            length=int(fields["length"]),
            format=dict(fields["format"]),
            media=Media(**fields["media"]) if fields.get("media") else None,
        )
