"""Who may speak: default deny, decided from plain values. Pure ([A1])."""

from collections.abc import Iterable
from dataclasses import dataclass

from gateway.messages import ChatType, Source


@dataclass(frozen=True, kw_only=True)
class Grant:
    """One entry of the allowlist; an empty field matches anything."""

    platform: str
    account: str = ""
    scope_id: str = ""
    chat_id: str = ""
    user_id: str = ""

    def covers(self, source: Source) -> bool:
        """Whether `source` is what this entry allows.

        An entry for a person counts in direct messages and wherever else it names no chat; an
        entry for a chat alone opens that chat to everybody in it. An entry that names neither
        allows nobody: a whole platform is opened by a setting, never by an empty field.
        """
        if self.platform != source.platform or not (self.user_id or self.chat_id):
            return False
        if self.user_id and self.user_id not in {source.user_id, source.user_id_alt or None}:
            return False
        pairs = (
            (self.account, source.account),
            (self.scope_id, source.scope_id),
            (self.chat_id, source.chat_id),
        )
        return all(not wanted or wanted == actual for wanted, actual in pairs)


@dataclass(frozen=True)
class Verdict:
    """Whether someone may speak, and why, for staff."""

    allowed: bool
    reason: str


def decide(
    source: Source, *, platform_open: bool, grants: Iterable[Grant], everywhere_open: bool
) -> Verdict:
    """Whether the sender of `source` may reach the agent.

    Args:
        source: Who, and where.
        platform_open: The platform is open to everybody, by setting.
        grants: The allowlist, as far as it may matter.
        everywhere_open: The whole installation is open to everybody, by setting.
    """
    if source.is_bot:
        return Verdict(allowed=False, reason="bots start no turns")
    if source.chat_type is ChatType.CONSOLE:
        return Verdict(allowed=True, reason="logged in to this site")
    if platform_open:
        return Verdict(allowed=True, reason="the platform is open to everybody")
    for grant in grants:
        if grant.covers(source):
            return Verdict(allowed=True, reason="on the allowlist")
    if everywhere_open:
        return Verdict(allowed=True, reason="everybody is allowed everywhere")
    return Verdict(allowed=False, reason="not on the allowlist")
