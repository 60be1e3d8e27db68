"""Turns of people who may not speak any more do not go on ([A8]).

What is open when somebody is shut out ends at once, and is looked at again whenever a worker would
take it up. Nothing is said to the person; staff read why on the page of the turn, in the audit log
and by `manage.py explain`.
"""

from collections.abc import Iterator
from datetime import datetime

from django.db import transaction
from django.db.models import Q, QuerySet

from clarify.risks import RiskLevel
from gateway import access, audit, statements, turns
from gateway.models import Turn
from gateway.policy import Verdict
from gateway.roles import Role
from gateway.states import OPEN

UNATTENDED = {"webhook", "cron"}  # kinds of place where nobody sits
HANDFUL = 500  # turns judged by one query


def may_go_on(turn: Turn) -> Verdict:
    """What the person of `turn` may do at present; ask `may(Role.MEMBER)` of it."""
    return access.judge(access.sender_of(turn))


def bar_next(conversation_id: int, *, now: datetime) -> int:
    """End the turns in front of a conversation whose people may not speak any more.

    Returns:
        How many were ended; the next one after them may be taken up.
    """
    ended = 0
    while True:
        found = statements.first_open_turn(conversation=conversation_id)
        if not found or not _has_person(found[0]):
            return ended
        turn, verdict = found[0], may_go_on(found[0])
        if verdict.may(Role.MEMBER) or not _bar(turn, verdict, now):
            return ended
        ended += 1


def refuses(turn: Turn, level: RiskLevel) -> str:
    """Why the agent may do nothing of that risk for the person of `turn`; empty if it may."""
    most = may_go_on(turn).tools_up_to if _has_person(turn) else None
    if most is None or level <= most:
        return ""
    return (
        f"This is of {level} risk, and for this person only what is of {most} risk or less may be"
        " done. Tell them so; whoever runs the bot can change it."
    )


def sweep(who: Q | None = None, *, now: datetime) -> int:
    """End every open turn whose person may not speak any more.

    Args:
        who: Which turns are looked at; all of them by default.
        now: The present.

    Returns:
        How many were ended.
    """
    return sum(
        _bar(turn, verdict, now)
        for turn, verdict in _judged(Turn.objects.filter(who or Q(), state__in=sorted(OPEN)))
        if not verdict.may(Role.MEMBER)
    )


def of_person(platform: str, user_id: str) -> Q:
    """The turns of one person, for `sweep`."""
    is_them = Q(sender_id=user_id) | Q(sender_alt=user_id)
    there = Q(conversation__platform=platform)
    for_there = Q(conversation__commission__origin__platform=platform)
    return is_them & (there | for_there)


def of_chat(platform: str, chat_id: str) -> Q:
    """The turns in one chat, for `sweep`."""
    return Q(conversation__platform=platform, conversation__chat_id=chat_id)


def _judged(rows: QuerySet[Turn]) -> Iterator[tuple[Turn, Verdict]]:
    """The newest first: whoever is shut out is not asked the next thing for a moment."""
    turns_there = rows.select_related("conversation").order_by("-id")
    found = [turn for turn in turns_there if _has_person(turn)]
    for start in range(0, len(found), HANDFUL):
        handful = found[start : start + HANDFUL]
        yield from zip(
            handful, access.judge_many([access.sender_of(turn) for turn in handful]), strict=True
        )


def _has_person(turn: Turn) -> bool:
    """Whether somebody speaks in it; what a service or a schedule begins has rules of its own."""
    here = turn.conversation
    return bool(turn.sender_id) and not {here.chat_type, here.address.chat_type} & UNATTENDED


def _bar(turn: Turn, verdict: Verdict, now: datetime) -> bool:
    role = verdict.role()
    why = f"they are only {role} by now" if role else verdict.reason
    with transaction.atomic():
        if not turns.bar(turn, why, now=now):
            return False
        audit.note(
            "turn.barred",
            actor="gateway",
            subject=f"turn:{turn.pk}",
            now=now,
            person=f"{turn.conversation.platform}:{turn.sender_id}",
            reason=why,
        )
    return True
