"""What is looked up of pairings and links whenever somebody speaks; nothing here writes."""

from collections.abc import Iterable, Sequence

from django.db.models import Q, QuerySet

from clarify.risks import RiskLevel
from delivery import frozen
from gateway.identity.models import Link, LinkEnd, Pairing
from gateway.identity.states import LinkState, PairingState
from gateway.messages import ChatType, Source
from gateway.policy import Grant
from gateway.roles import Role


@frozen.rows
def _pairings(*, platform: str, users: list[str]) -> QuerySet[Pairing]:
    """The pairings that may be about one of these users."""
    there = Pairing.objects.filter(platform=platform, state=PairingState.PAIRED)
    return there.filter(Q(user_id__in=users) | Q(user_alt__in=users))


@frozen.rows
def _ends(*, platform: str, users: list[str]) -> QuerySet[LinkEnd]:
    """The ends of links that are one of these users."""
    there = LinkEnd.objects.filter(platform=platform, link__state=LinkState.LINKED)
    return there.filter(Q(user_id__in=users) | Q(user_alt__in=users))


def grants_for(source: Source) -> list[Grant]:
    """What pairings give the sender of `source`: nothing outside direct messages ([A2])."""
    users = ids_of(source)
    if source.chat_type is not ChatType.DM or not users:
        return []
    rows = _pairings(platform=source.platform, users=users)
    return [grant for row in rows for grant in grants_of(row)]


def grants_for_many(sources: Sequence[Source]) -> list[Grant]:
    """The same for several people, in one query."""
    users = {user for source in sources for user in ids_of(source)}
    is_them = Q(user_id__in=users) | Q(user_alt__in=users)
    rows = Pairing.objects.filter(is_them, state=PairingState.PAIRED)
    return [grant for row in rows for grant in grants_of(row)]


def grants_of(pairing: Pairing) -> list[Grant]:
    """A pairing as plain values, one for each id by which the person may be known."""
    return [
        Grant(
            platform=pairing.platform,
            account=pairing.account,
            user_id=user_id,
            role=Role(pairing.role),
            approves_up_to=RiskLevel(pairing.approves_up_to) if pairing.approves_up_to else None,
            only_direct=True,
        )
        for user_id in filter(None, (pairing.user_id, pairing.user_alt))
    ]


def others_of(source: Source) -> list[LinkEnd]:
    """The identities that the sender of `source` is linked to."""
    users = ids_of(source)
    if not users:
        return []
    mine = [end for end in _ends(platform=source.platform, users=users) if is_end(end, source)]
    if not mine:
        return []
    theirs = LinkEnd.objects.filter(link__in=[end.link_id for end in mine])
    return list(theirs.exclude(pk__in=[end.pk for end in mine]).order_by("pk"))


def sharing_with(source: Source) -> list[Source]:
    """The identities whose private chats go on with the same history as that of `source`."""
    theirs = others_of(source) if source.address.is_private else []
    shared = set(
        Link.objects.filter(pk__in=[end.link_id for end in theirs], shares=True).values_list(
            "pk", flat=True
        )
    )
    return [source_of(end) for end in theirs if end.link_id in shared]


def linked_people(sources: Iterable[Source]) -> set[tuple[str, str]]:
    """Platform and id of those senders of `sources` that are linked to anybody, in one query."""
    users = {user for source in sources for user in ids_of(source)}
    ends = LinkEnd.objects.filter(link__state=LinkState.LINKED)
    rows = ends.filter(Q(user_id__in=users) | Q(user_alt__in=users))
    pairs = rows.values_list("platform", "user_id", "user_alt")
    return {(platform, user) for platform, *both in pairs for user in both if user}


def is_end(end: LinkEnd, source: Source) -> bool:
    """Whether the sender of `source` is that end; ids count within their workspace."""
    is_there = (end.platform, end.scope_id) == (source.platform, source.scope_id)
    return is_there and bool({end.user_id, end.user_alt} & set(ids_of(source)))


def source_of(end: LinkEnd) -> Source:
    """An end as somebody who speaks in their private chat."""
    place = end.destination
    return Source(
        platform=place.platform,
        account=place.account,
        scope_id=place.scope_id,
        chat_type=ChatType(place.chat_type),
        chat_id=place.chat_id,
        thread_id=place.thread_id,
        user_id=end.user_id,
        user_id_alt=end.user_alt,
        user_name=end.user_name,
    )


def ids_of(source: Source) -> list[str]:
    """The ids by which the sender of `source` is known; none if nobody knows who it is."""
    return [value for value in (source.user_id, source.user_id_alt) if value]
