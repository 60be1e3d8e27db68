"""What the dialects share, and the dialect that has no formatting at all ([D14]). Pure."""

from collections.abc import Iterable, Iterator

from delivery.content import Limit, Rendered
from delivery.layout import Kind, Look, Span, lay_out, target_note
from delivery.markdown import parse
from delivery.splitting import MINIMUM_ROOM, Scale, measure, pack

# Sent in place of an answer nobody could see: silence is worse, and platforms refuse it anyway.
EMPTY_REPLY = "(empty reply)"

__all__ = ["EMPTY_REPLY", "PlainDialect", "empty_reply", "measure", "plain_text", "with_marker"]


class PlainDialect:
    """Words alone, for platforms without formatting and for tests.

    Args:
        limit: How much one message may hold.
    """

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self._scale = Scale(self.measure)
        self._look = Look(can_link=lambda _target: False, has_quotes=False)

    def render(self, markdown: str, *, reserve: int = 0) -> list[Rendered]:
        """Render and split; see `delivery.ports.Dialect`."""
        room = self.limit.size - reserve
        parts = pack(lay_out(parse(markdown), self._look), room, self._scale)
        texts = ["".join(span.text for span in part) for part in parts]
        return [self._rendered(text) for text in texts or [empty_reply(room, self._scale)]]

    def mark(self, part: Rendered, marker: str) -> Rendered:
        """The same part with `marker` as its own first line."""
        return self._rendered(with_marker(part.text, marker))

    def measure(self, text: str) -> int:
        """The length of `text` in the limit's unit."""
        return measure(text, self.limit.unit)

    def _rendered(self, text: str) -> Rendered:
        return Rendered(text=text, plain=text, length=self.measure(text))


def empty_reply(room: int, scale: Scale) -> str:
    """What says that there was nothing to say, as much of it as fits `room`."""
    return EMPTY_REPLY[: scale.fitting(EMPTY_REPLY, max(room, MINIMUM_ROOM))]


def with_marker(text: str, marker: str) -> str:
    """`text` under a line of its own that says `marker`."""
    return f"{marker}\n{text}"


def plain_text(spans: Iterable[Span], room: int, scale: Scale) -> str:
    """A part without its formatting, for a platform that refused the formatting.

    The targets of links follow their words in brackets, as many as fit: first the words.

    Args:
        spans: The part.
        room: How long the text may be.
        scale: How words weigh.
    """
    pieces = list(_by_link(spans))
    left = room - scale.measure("".join(words for words, _target in pieces))
    written: list[str] = []
    for words, target in pieces:
        note = target_note(words, target)
        weight = scale.measure(note)
        if weight > left:
            note, weight = "", 0
        left -= weight
        written.append(words + note)
    return "".join(written)


def _by_link(spans: Iterable[Span]) -> Iterator[tuple[str, str]]:
    """The words under each link with its target, and those under none with an empty one."""
    words, target = "", ""
    for span in spans:
        here = next((s.value for s in span.styles if s.kind is Kind.LINK), "")
        if here != target:
            yield words, target
            words = ""
        words, target = words + span.text, here
    yield words, target
