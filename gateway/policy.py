"""Who may speak, with which commands, and who may approve: default deny. Pure ([A1], [A6])."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clarify.risks import NO_AUTHORITY, Authority, RiskLevel
from gateway.messages import ChatType, Source
from gateway.roles import Role

APPROVING = "approve"  # the command that does the same as the buttons of an approval


@dataclass(frozen=True)
class Right:
    """What one entry lets a person do where it counts.

    Attributes:
        role: What they are.
        commands: The only commands they have by it, and then no plain words; empty for all.
        tools_up_to: The highest risk of what the agent does for them; None for any.
    """

    role: Role
    commands: frozenset[str] = frozenset()
    tools_up_to: RiskLevel | None = None

    def is_about(self, command: str) -> bool:
        """Whether it counts for a command, or (an empty text) for plain words and answers."""
        return not self.commands or command in self.commands

    def __and__(self, other: "Right") -> "Right | None":
        """What two rights give together to one person; None for nothing at all."""
        both = self.commands & other.commands
        limited = bool(self.commands and other.commands)
        if limited and not both:
            return None
        levels = [level for level in (self.tools_up_to, other.tools_up_to) if level is not None]
        return Right(
            role=min(self.role, other.role),
            commands=both if limited else self.commands | other.commands,
            tools_up_to=min(levels) if levels else None,
        )


@dataclass(frozen=True, kw_only=True)
class Grant:
    """One entry of the allowlist, or one pairing; an empty field matches anything.

    Attributes:
        role: What it makes of a person.
        approves_up_to: The highest risk they may approve; None for that of the role.
        commands: It gives these commands only, and no plain words; empty for all of the role.
        tools_up_to: The highest risk of what the agent may do for them; None for any.
        is_for_bot: It lets a bot speak, which must be named by its id.
        only_direct: It counts between the two of us alone, in no group.
    """

    platform: str
    account: str = ""
    scope_id: str = ""
    chat_id: str = ""
    user_id: str = ""
    role: Role = Role.MEMBER
    approves_up_to: RiskLevel | None = None
    commands: frozenset[str] = frozenset()
    tools_up_to: RiskLevel | None = None
    is_for_bot: bool = False
    only_direct: bool = False

    @property
    def right(self) -> Right:
        """What it lets a person do where it counts."""
        return Right(self.role, self.commands, self.tools_up_to)

    def authority(self, members_approve: RiskLevel | None) -> Authority:
        """Up to which risk this entry lets a person approve.

        An entry that opens a chat to everybody in it lets nobody approve: strangers may come in.

        Args:
            members_approve: The highest risk that members may approve for themselves; None lets
                them approve nothing.
        """
        if not self.user_id or self.role < Role.MEMBER or not self.right.is_about(APPROVING):
            return NO_AUTHORITY
        if self.role >= Role.APPROVER:
            most = self.approves_up_to or RiskLevel.CRITICAL
            return Authority(own=most, others=most)
        return Authority(own=self.approves_up_to or members_approve)

    def covers(self, source: Source) -> bool:
        """Whether `source` is what this entry allows.

        An entry for a person counts in direct messages and wherever else it names no chat; an
        entry for a chat alone opens that chat to everybody in it. An entry that names neither
        allows nobody: a whole platform is opened by a setting, never by an empty field. A bot is
        covered by nothing that was not written for a bot ([A3]).
        """
        if self.platform != source.platform or not (self.user_id or self.chat_id):
            return False
        if self.user_id and self.user_id not in {source.user_id, source.user_id_alt or None}:
            return False
        if source.is_bot and not (self.is_for_bot and self.user_id):
            return False
        if self.only_direct and source.chat_type is not ChatType.DM:
            return False
        pairs = (
            (self.account, source.account),
            (self.scope_id, source.scope_id),
            (self.chat_id, source.chat_id),
        )
        return all(not wanted or wanted == actual for wanted, actual in pairs)


@dataclass(frozen=True)
class Verdict:
    """Whether someone may reach the agent, why (for staff), and what they may do.

    Attributes:
        allowed: They are no stranger: they have at least one right.
        reason: By what, or why not.
        authority: Up to which risk they may approve.
        rights: All that they have; the highest that is about something counts for it.
        is_linked: They are another identity as well.
    """

    allowed: bool
    reason: str
    authority: Authority = NO_AUTHORITY
    rights: tuple[Right, ...] = ()
    is_linked: bool = False

    def role(self, command: str = "") -> Role | None:
        """What they are for a command, or for plain words; None if they have nothing to say."""
        return max((right.role for right in self._about(command)), default=None)

    def may(self, needed: Role, command: str = "") -> bool:
        """Whether they may give a command, or speak plainly, that needs a role."""
        role = self.role(command)
        return role is not None and role >= needed

    @property
    def tools_up_to(self) -> RiskLevel | None:
        """The highest risk of what the agent may do for them; None for any."""
        speaking = [right for right in self._about("") if right.role >= Role.MEMBER]
        levels = [right.tools_up_to for right in speaking]
        bounds = [level for level in levels if level is not None]
        return max(bounds) if bounds and len(bounds) == len(levels) else None

    def _about(self, command: str) -> list[Right]:
        return [right for right in self.rights if right.is_about(command)]


EVERYBODY = Right(Role.MEMBER)
NO_BOTS = "bots start no turns"


def decide(
    source: Source,
    *,
    platform_open: bool,
    grants: Iterable[Grant],
    everywhere_open: bool,
    pairings: Iterable[Grant] = (),
    members_approve: RiskLevel | None = None,
    site_role: Role | None = Role.MEMBER,
) -> Verdict:
    """Whether the sender of `source` may reach the agent, and what they may do.

    The first that lets them in gives the reason; what several give counts together, so that an
    entry which says more exactly where it counts never gives more than the one without.

    Args:
        source: Who, and where.
        platform_open: The platform is open to everybody, by setting.
        grants: The allowlist, as far as it may matter.
        everywhere_open: The whole installation is open to everybody, by setting.
        pairings: Whom staff let in by a code.
        members_approve: The highest risk that people on the allowlist may approve for themselves.
        site_role: What somebody is who is logged in to this site; None if they may not be.
    """
    if source.chat_type is ChatType.CONSOLE and not source.is_bot:
        return _on_this_site(site_role, members_approve)
    listed = [grant for grant in grants if grant.covers(source)]
    paired = [grant for grant in pairings if grant.covers(source)]
    is_person = not source.is_bot
    steps = (
        (platform_open and is_person, "the platform is open to everybody"),
        (bool(listed), "on the allowlist"),
        (bool(paired), "paired"),
        (everywhere_open and is_person, "everybody is allowed everywhere"),
    )
    reason = next((why for lets_in, why in steps if lets_in), "")
    if not reason:
        return Verdict(allowed=False, reason="not on the allowlist" if is_person else NO_BOTS)
    rights = tuple(grant.right for grant in (*listed, *paired))
    if is_person and (platform_open or everywhere_open):
        rights += (EVERYBODY,)
    authority = NO_AUTHORITY
    for grant in (*listed, *paired) if is_person else ():
        authority |= grant.authority(members_approve)
    return Verdict(True, reason, authority, rights)


def is_loop(begun_by_bots: Sequence[bool], *, most: int) -> bool:
    """Whether bots would go on talking among themselves ([A3]).

    Args:
        begun_by_bots: Of the last turns of a chat, whether a bot began each, the latest first.
        most: How many in a row they may begin.
    """
    return len(begun_by_bots) >= most and all(begun_by_bots[:most])


def _on_this_site(role: Role | None, members_approve: RiskLevel | None) -> Verdict:
    if role is None:
        return Verdict(allowed=False, reason="their login on this site is disabled")
    authority = Authority(own=members_approve) if role >= Role.MEMBER else NO_AUTHORITY
    return Verdict(True, "logged in to this site", authority, (Right(role),))


def together(one: Verdict, other: Verdict, *, who: str) -> Verdict:
    """What a person may do who is two identities: what both may, and never more ([A5]).

    Args:
        one: The identity that speaks.
        other: The one it is linked to.
        who: What staff call the other one.
    """
    if not one.allowed or not other.allowed:
        missing = one.reason if not one.allowed else f"linked to {who}, who is {other.reason}"
        return Verdict(allowed=False, reason=missing)
    pairs = [mine & theirs for mine in one.rights for theirs in other.rights]
    rights = tuple(dict.fromkeys(right for right in pairs if right is not None))
    if not rights:
        return Verdict(allowed=False, reason=f"linked to {who}: they have nothing in common")
    reason = f"{one.reason}, with what {who} may as well"
    return Verdict(True, reason, one.authority & other.authority, rights, is_linked=True)
