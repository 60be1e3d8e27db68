"""Who may speak, looked up in the database; the rule itself is `policy`."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from clarify.questions import Answerer
from clarify.risks import FULL_AUTHORITY, NO_AUTHORITY, Authority, RiskLevel
from clarify.staff import MAY_RULE
from gateway import audit, commands, platforms, policy, statements
from gateway.conf import gateway_settings
from gateway.errors import NotPossible
from gateway.identity import standing
from gateway.messages import ChatType, Source
from gateway.models import AllowEntry, Turn
from gateway.policy import Grant, Verdict
from gateway.roles import Role

MAY_LET_IN = "gateway.change_allowentry"
"""The permission to say who may speak, which makes an admin of somebody on this site."""

MOST_APPROVERS = 200  # entries looked through for staff


def judge(source: Source) -> Verdict:
    """What the sender of `source` may do now; nothing that a linked identity may not ([A5])."""
    verdict = _judge_alone(source)
    return _linked(verdict, source) if verdict.allowed else verdict


def _judge_alone(source: Source) -> Verdict:
    # An entry without a user is about everybody.
    users = [*standing.ids_of(source), ""]
    entries = statements.allow_entries(platform=source.platform, users=users)
    return _decide(source, entries, standing.grants_for(source))


def _linked(verdict: Verdict, source: Source) -> Verdict:
    for end in standing.others_of(source):
        other = _judge_alone(standing.source_of(end))
        verdict = policy.together(verdict, other, who=str(end))
    return verdict


def judge_many(sources: Sequence[Source]) -> list[Verdict]:
    """As `judge` for each of `sources`, in a few queries."""
    users = {value for source in sources for value in standing.ids_of(source)}
    there = AllowEntry.objects.filter(platform__in={source.platform for source in sources})
    entries = list(there.filter(user_id__in={"", *users}))
    pairings = standing.grants_for_many(sources)
    linked = standing.linked_people(sources)
    verdicts = [_decide(source, entries, pairings) for source in sources]
    return [
        _linked(verdict, source) if (source.platform, source.user_id) in linked else verdict
        for source, verdict in zip(sources, verdicts, strict=True)
    ]


def sender_of(turn: Turn) -> Source:
    """Who began `turn`, as somebody who speaks where it was asked for."""
    place = turn.conversation.asked_at
    return Source(
        platform=place.platform,
        account=place.account,
        scope_id=place.scope_id,
        chat_type=ChatType(place.chat_type),
        chat_id=place.chat_id,
        thread_id=place.thread_id,
        user_id=turn.sender_id,
        user_id_alt=turn.sender_alt,
        user_name=turn.sender_name,
        is_bot=turn.is_bots,
    )


def _decide(source: Source, entries: Iterable[AllowEntry], pairings: Iterable[Grant]) -> Verdict:
    settings = gateway_settings()
    is_here = source.chat_type is ChatType.CONSOLE
    from_environment = settings.environment_accounts.get(source.platform, {})
    return policy.decide(
        source,
        platform_open=bool(from_environment.get("allow_all")),
        grants=[grant_of(entry) for entry in entries],
        pairings=pairings,
        everywhere_open=settings.allow_all_users,
        members_approve=settings.members_approve,
        site_role=_site_role(source.user_id) if is_here else None,
    )


def _site_role(person: str) -> Role | None:
    """What somebody is who logs in to this site; None for whoever may not any more."""
    user = _user(person)
    if user is None:
        return None
    lets_in = user.is_staff and user.has_perm(MAY_LET_IN)
    return Role.ADMIN if lets_in else Role.MEMBER


def grant_of(entry: AllowEntry) -> Grant:
    """An entry of the allowlist as a plain value."""
    return Grant(
        platform=entry.platform,
        account=entry.account,
        scope_id=entry.scope_id,
        chat_id=entry.chat_id,
        user_id=entry.user_id,
        role=Role(entry.role),
        approves_up_to=RiskLevel(entry.approves_up_to) if entry.approves_up_to else None,
        commands=frozenset(entry.commands.split()),
        tools_up_to=RiskLevel(entry.tools_up_to) if entry.tools_up_to else None,
        is_for_bot=entry.is_for_bot,
    )


def approves(entry: AllowEntry) -> str:
    """What an entry lets a person approve, in words for staff."""
    authority = grant_of(entry).authority(gateway_settings().members_approve)
    if authority.others is not None:
        return f"for anybody, up to {authority.others}"
    return f"for themselves, up to {authority.own}" if authority.own is not None else "nothing"


def approvers(source: Source, level: RiskLevel) -> list[AllowEntry]:
    """The entries of those who may approve an operation of that risk for somebody else there."""
    deciding = [Role.APPROVER, Role.ADMIN]
    entries = AllowEntry.objects.filter(platform=source.platform, role__in=deciding)
    there = [
        (entry, grant_of(entry))
        for entry in entries.exclude(user_id="").order_by("pk")[:MOST_APPROVERS]
    ]
    return [
        entry
        for entry, grant in there
        if grant.covers(replace(source, user_id=grant.user_id, user_id_alt=""))
        and grant.authority(None).allows(level, is_own=False)
    ]


def speaker(source: Source, judged: Verdict) -> Answerer:
    """The sender of `source`, as somebody who answers and may be allowed to approve."""
    return Answerer(
        id=source.user_id,
        name=source.user_name,
        surface=source.platform,
        authority=judged.authority,
    )


def person_id(user_pk: int) -> str:
    """The id of somebody who logs in to this site, as on a platform of its own."""
    return f"u{user_pk}"


def authority_of(user: User) -> Authority:
    """Staff with the permission approve everything, others what is done for themselves."""
    if user.is_staff and user.has_perm(MAY_RULE):
        return FULL_AUTHORITY
    return Authority(own=gateway_settings().members_approve)


def authority_of_person(person: str) -> Authority:
    """The same by the person's id; none at all for whoever may not log in any more."""
    user = _user(person)
    return authority_of(user) if user is not None else NO_AUTHORITY


def _user(person: str) -> User | None:
    """Who has that id on this site, if they may log in."""
    number = person.removeprefix("u")
    is_number = number.isascii() and number.isdigit() and len(number) < 19
    users = get_user_model().objects.filter(is_active=True)
    return users.filter(pk=int(number)).first() if is_number else None


def sync_environment(*, now: datetime) -> None:
    """Make the allowlist entries that the environment names, and drop those it no longer does."""
    for platform, facts in gateway_settings().environment_accounts.items():
        wanted = set(facts.get("allowed_users", ()))
        present = AllowEntry.objects.filter(platform=platform, from_environment=True)
        for entry in present.exclude(user_id__in=wanted):
            audit.note("allow.removed", actor="environment", subject=str(entry), now=now)
            entry.delete()
        for user_id in sorted(wanted):
            entry, is_new = AllowEntry.objects.get_or_create(
                platform=platform,
                account="",
                scope_id="",
                chat_id="",
                user_id=user_id,
                defaults={"from_environment": True, "note": f"{platform.upper()}_ALLOWED_USERS"},
            )
            if is_new:
                audit.note("allow.added", actor="environment", subject=str(entry), now=now)


def problem_with_user_id(platform: str, user_id: str) -> str:
    """Why `user_id` cannot be a person's id on `platform`; empty if nothing speaks against it."""
    known = platforms.installed().get(platform)
    return known.problem_with_user_id(user_id) if known and user_id else ""


def problem_with_role(entry: AllowEntry) -> str:
    """Why an entry cannot let anybody approve; empty if nothing speaks against it."""
    is_more = Role(entry.role) > Role.MEMBER or bool(entry.approves_up_to)
    if not entry.user_id and is_more:
        return "An entry for everybody in a chat lets nobody approve: name a person's id."
    if not entry.user_id and entry.is_for_bot:
        return "A bot is let in by its own id only: name it."
    unknown = [name for name in entry.commands.split() if name not in commands.BY_NAME]
    return f"There is no command {', '.join(unknown)}." if unknown else ""


def allow(entry: AllowEntry) -> None:
    """Store `entry`.

    Raises:
        NotPossible: The same entry is there already, the environment keeps it, it names what
            cannot be a person's id there, or lets everybody in a chat approve.
        UnknownPlatform: The platform is not installed.
    """
    _refuse_environment(entry)
    platforms.get(entry.platform)
    problem = problem_with_user_id(entry.platform, entry.user_id) or problem_with_role(entry)
    if problem:
        raise NotPossible(problem)
    try:
        entry.full_clean()
    except ValidationError as error:
        raise NotPossible(" ".join(error.messages)) from error
    entry.save()


def disallow(entry: AllowEntry) -> None:
    """Remove `entry`.

    Raises:
        NotPossible: The environment keeps it.
    """
    _refuse_environment(entry)
    entry.delete()


def move_chat(platform: str, account: str, old_chat_id: str, new_chat_id: str) -> None:
    """Who is allowed in a chat is so under its new id."""
    allowed = AllowEntry.objects.filter(platform=platform, account__in=["", account])
    allowed.filter(chat_id=old_chat_id).update(chat_id=new_chat_id)


def _refuse_environment(entry: AllowEntry) -> None:
    if entry.from_environment:
        name = f"{entry.platform.upper()}_ALLOWED_USERS"
        message = f"{entry} stands in the environment; change {name} there and start again."
        raise NotPossible(message)
