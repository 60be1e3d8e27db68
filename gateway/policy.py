"""Who may speak and who may approve: default deny, from plain values. Pure ([A1], [A6])."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from clarify.risks import NO_AUTHORITY, Authority, RiskLevel
from gateway.messages import ChatType, Source


class Role(StrEnum):
    """What an entry of the allowlist lets a person do."""

    MEMBER = "member"  # speak, and approve what the agent wants to do for them
    APPROVER = "approver"  # and what it wants to do for others


@dataclass(frozen=True, kw_only=True)
class Grant:
    """One entry of the allowlist; an empty field matches anything.

    Attributes:
        role: What it lets a person do.
        approves_up_to: The highest risk they may approve; None for that of the role.
    """

    platform: str
    account: str = ""
    scope_id: str = ""
    chat_id: str = ""
    user_id: str = ""
    role: Role = Role.MEMBER
    approves_up_to: RiskLevel | None = None

    def authority(self, members_approve: RiskLevel | None) -> Authority:
        """Up to which risk this entry lets a person approve.

        An entry that opens a chat to everybody in it lets nobody approve: strangers may come in.

        Args:
            members_approve: The highest risk that members may approve for themselves; None lets
                them approve nothing.
        """
        if not self.user_id:
            return NO_AUTHORITY
        if self.role is Role.APPROVER:
            most = self.approves_up_to or RiskLevel.CRITICAL
            return Authority(own=most, others=most)
        return Authority(own=self.approves_up_to or members_approve)

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
    """Whether someone may speak, and why, for staff; and up to which risk they may approve."""

    allowed: bool
    reason: str
    authority: Authority = NO_AUTHORITY


def decide(
    source: Source,
    *,
    platform_open: bool,
    grants: Iterable[Grant],
    everywhere_open: bool,
    members_approve: RiskLevel | None = None,
) -> Verdict:
    """Whether the sender of `source` may reach the agent.

    Args:
        source: Who, and where.
        platform_open: The platform is open to everybody, by setting.
        grants: The allowlist, as far as it may matter.
        everywhere_open: The whole installation is open to everybody, by setting.
        members_approve: The highest risk that people on the allowlist may approve for themselves.
    """
    if source.is_bot:
        return Verdict(allowed=False, reason="bots start no turns")
    if source.chat_type is ChatType.CONSOLE:
        authority = Authority(own=members_approve)
        return Verdict(allowed=True, reason="logged in to this site", authority=authority)
    covering = [grant for grant in grants if grant.covers(source)]
    authority = NO_AUTHORITY
    for grant in covering:
        authority |= grant.authority(members_approve)
    if platform_open:
        reason = "the platform is open to everybody"
    elif covering:
        reason = "on the allowlist"
    elif everywhere_open:
        reason = "everybody is allowed everywhere"
    else:
        return Verdict(allowed=False, reason="not on the allowlist")
    return Verdict(allowed=True, reason=reason, authority=authority)
