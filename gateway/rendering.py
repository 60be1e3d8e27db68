"""What a platform will show of an answer, as plain values ([D16])."""

from typing import Any

from delivery import dialects
from delivery.ports import Dialect
from delivery.splitting import MINIMUM_ROOM
from gateway import platforms
from gateway.errors import NotPossible, UnknownPlatform
from gateway.messages import clean


def parts(markdown: str, platform: str, *, limit: int | None = None) -> list[dict[str, Any]]:
    """The messages that `platform` would be sent for `markdown`, in order.

    Args:
        markdown: The canonical answer.
        platform: The platform's kind: installed, or one whose dialect is ready for it.
        limit: How much one message may hold, in the platform's own unit; None for what it takes.

    Returns:
        For each message its `text`, what the dialect adds (`entities`, `html`, …) and its
        `length` in the platform's own unit.

    Raises:
        UnknownPlatform: It is neither.
        NotPossible: The limit is below what can be split, or above what the platform takes.
    """
    dialect, least = _dialect(platform)
    most = dialect.limit.size
    if limit is not None and not least <= limit <= most:
        message = (
            f"--limit must be from {least} to {most} for {platform}"
            f" ({dialect.limit.unit.value}), not {limit}."
        )
        raise NotPossible(message)
    rendered = dialect.render(clean(markdown), reserve=most - limit if limit else 0)
    return [{"text": part.text, **part.format, "length": part.length} for part in rendered]


def _dialect(platform: str) -> tuple[Dialect, int]:
    """The dialect of that name, and the least room it can do with."""
    if platform in platforms.installed() or platform not in dialects.DIALECTS:
        try:
            return platforms.get(platform).dialect, MINIMUM_ROOM
        except UnknownPlatform as error:
            message = f"{error}; dialects are ready for: {', '.join(dialects.DIALECTS)}"
            raise UnknownPlatform(message) from None
    return dialects.DIALECTS[platform](None), dialects.MINIMUM_ROOM
