"""How answers look on the platforms there are or will be, one module each ([D14]). Pure.

A platform's package takes its dialect from here, so that no platform imports another. The
dialects of Telegram and of the Control UI stand in their packages: nobody else can use them.
"""

from collections.abc import Callable, Mapping

from delivery.content import Limit, Unit
from delivery.dialects.discord import discord
from delivery.dialects.matrix import MatrixDialect
from delivery.dialects.mattermost import MattermostDialect
from delivery.dialects.signal import SignalDialect
from delivery.dialects.slack import slack
from delivery.dialects.wecom import wecom
from delivery.ports import Dialect
from delivery.rendering import PlainDialect

# Marks, tags and escapes of every dialect leave room for words in this much.
MINIMUM_ROOM = 128
# Where nothing else is known: what all platforms but Discord take.
_PLAIN = Limit(4000, Unit.CHARACTERS)

__all__ = [
    "DIALECTS",
    "MINIMUM_ROOM",
    "MatrixDialect",
    "MattermostDialect",
    "SignalDialect",
    "discord",
    "plain",
    "slack",
    "wecom",
    "weixin",
]


def plain(limit: Limit | None = None) -> PlainDialect:
    """Words alone, at most 4000 characters a message."""
    return PlainDialect(limit or _PLAIN)


def weixin(limit: Limit | None = None) -> PlainDialect:
    """The dialect of Weixin, whose clients show no formatting: at most 4000 characters a message.

    Source: the plugin @tencent-weixin/openclaw-weixin 2.4.9 (read 2026-08) cuts there.
    """
    return PlainDialect(limit or _PLAIN)


# By the kind of the platform; each takes another limit, in the same unit.
DIALECTS: Mapping[str, Callable[[Limit | None], Dialect]] = {
    "discord": discord,
    "matrix": MatrixDialect,
    "mattermost": MattermostDialect,
    "plain": plain,
    "signal": SignalDialect,
    "slack": slack,
    "wecom": wecom,
    "weixin": weixin,
}
