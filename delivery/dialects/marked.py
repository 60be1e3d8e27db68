"""The dialects whose messages are text with marks ([D14], [D15]). Pure."""

from collections.abc import Callable

from delivery.content import Limit, Rendered
from delivery.dialects.marks import Marks
from delivery.dialects.writing import legal, write
from delivery.layout import Look, Span, lay_out
from delivery.markdown import parse
from delivery.rendering import empty_reply, plain_text, with_marker
from delivery.splitting import Scale, pack

# With less room than this, marks and escapes could leave none for the words.
MINIMUM_ROOM = 32


class MarkedDialect:
    """Lines of words with marks between them.

    Args:
        limit: How much one message may hold; `marks` measures in its unit.
        marks: What may be marked up, and how.
        can_link: Whether the platform follows a link to a target.
    """

    def __init__(self, limit: Limit, marks: Marks, can_link: Callable[[str], bool]) -> None:
        self.limit = limit
        self._marks = marks
        self._can_link = can_link
        self._scale = marks.scale()

    def render(self, markdown: str, *, reserve: int = 0) -> list[Rendered]:
        """Render and split; see `delivery.ports.Dialect`."""
        room = max(self.limit.size - reserve, MINIMUM_ROOM)
        segments = [
            legal(each, self._marks, room) for each in lay_out(parse(markdown), self._look(room))
        ]
        parts = pack(segments, room, self._scale)
        return [
            self._rendered(part, room) for part in parts or [[Span(empty_reply(room, self._scale))]]
        ]

    def mark(self, part: Rendered, marker: str) -> Rendered:
        """The same part with `marker` as its own first line."""
        text = with_marker(part.text, self._marks.escape(marker, True))
        return Rendered(
            text=text, plain=with_marker(part.plain, marker), length=self._marks.measure(text)
        )

    def measure(self, text: str) -> int:
        """The length of `text` in the limit's unit, escaped."""
        return self._marks.escaped(text, ())

    def _look(self, room: int) -> Look:
        def can_link(target: str) -> bool:
            return self._marks.link_cost(target) <= room // 4 and self._can_link(target)

        return Look(can_link=can_link, has_quotes=True)

    def _rendered(self, spans: list[Span], room: int) -> Rendered:
        text = write(spans, self._marks)
        return Rendered(
            text=text,
            plain=plain_text(spans, room, Scale(self._marks.measure)),
            length=self._marks.measure(text),
        )
