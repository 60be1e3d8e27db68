"""Letting people in and out by pairing and links: each verb with all that follows from it.

Like `staff`, for whoever may let others in: in the admin, at a shell, or in a chat with the role
admin. What is taken back counts at once, for what waits as well ([A2], [A8]).
"""

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from gateway import barring, denials
from gateway.errors import NotPossible
from gateway.identity import links, pairing, standing, tries, wording
from gateway.identity.models import Link, Pairing
from gateway.messages import Source
from gateway.roles import Role


def approve(
    code: str,
    *,
    actor: str,
    now: datetime,
    role: Role = Role.MEMBER,
    among: QuerySet[Pairing] | None = None,
) -> Pairing:
    """Let in whoever was given `code`; they are told.

    Raises:
        NotPossible: No request that waits has it; wrong codes are counted all the same.
    """
    return pairing.approve(code, role=role, actor=actor, now=now, among=among)


def approve_in_chat(code: str, admin: Source, *, now: datetime) -> Pairing:
    """The same by an admin in a chat, for the account that they write to.

    Raises:
        NotPossible: No request there has it, or they entered too many that are none.
    """
    person = denials.person(admin)
    if not tries.are_left(person, now=now):
        raise NotPossible(str(wording.TOO_MANY_TRIES))
    among = Pairing.objects.filter(platform=admin.platform, account=admin.account)
    try:
        return approve(code, actor=person, now=now, among=among)
    except NotPossible:
        tries.note_wrong(person, now=now)
        raise


def refuse(row: Pairing, *, actor: str, now: datetime) -> None:
    """Let a request to be let in come to nothing.

    Raises:
        NotPossible: It does not wait any more.
    """
    with transaction.atomic():
        pairing.refuse(row, actor=actor, now=now)


def revoke(row: Pairing, *, actor: str, now: datetime) -> None:
    """Take a pairing back, with whatever waits of that person.

    Raises:
        NotPossible: They are not paired.
    """
    with transaction.atomic():
        pairing.revoke(row, actor=actor, now=now)
        barring.sweep(barring.of_person(row.platform, row.user_id), now=now)


def unlink(link: Link, *, actor: str, now: datetime) -> None:
    """End a link; both sides are told.

    Raises:
        NotPossible: It has ended already.
    """
    with transaction.atomic():
        links.end(link, actor=actor, now=now)


def share(link: Link, *, shares: bool, actor: str, now: datetime) -> None:
    """Let the private chats of a link go on with one history, or apart; both sides are told.

    Raises:
        NotPossible: It is so already, or the link is not in force.
    """
    with transaction.atomic():
        if not links.share(link, shares=shares, actor=actor, now=now):
            raise NotPossible(wording.AS_IT_WAS.format(number=link.pk))


def confirmed(link: Link, *, now: datetime) -> None:
    """Two identities are one person now: what one of them may not, the other may no more ([A5])."""
    for end in link.ends.all():
        who = standing.source_of(end)
        barring.sweep(barring.of_person(who.platform, who.user_id), now=now)
