"""One person on two platforms: proved by a code each way, and taken back by either ([A5]).

The only writer of links. Whoever asks reads a code and enters it on the other side; there they
read a second one, and enter that on the first. So each has shown what only the other knew.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from delivery import ledger
from delivery.ledger import Debt
from delivery.models import Kind
from gateway import audit
from gateway.errors import NotPossible
from gateway.identity import codes, sealing, standing, tries, wording
from gateway.identity.models import Link, LinkEnd
from gateway.identity.states import LINKS, LinkEvent, LinkState
from gateway.messages import Source

COUNTS = timedelta(minutes=15)
HOUR = timedelta(hours=1)
MOST_ASKED = 5  # links that one person begins within an hour
KEPT = timedelta(days=30)


@dataclass(frozen=True)
class Step:
    """What an entered code led to.

    Attributes:
        link: Which link.
        code: What is to be entered on the other side now; empty if the link is proved.
    """

    link: Link
    code: str = ""


def ask(source: Source, *, now: datetime) -> str:
    """Begin a link on this side, in the caller's transaction.

    Returns:
        The code to enter on the other side.

    Raises:
        NotPossible: They began too many within the hour.
    """
    mine = Link.objects.filter(
        ends__platform=source.platform,
        ends__user_id=source.user_id,
        ends__is_first=True,
        asked_at__gt=now - HOUR,
    )
    if mine.count() >= MOST_ASKED:
        raise NotPossible(str(wording.TOO_MANY_LINKS))
    _lapse(mine)  # only the last code counts
    code = sealing.fresh()
    link = Link.objects.create(
        code_hash=sealing.sealed(code, sealing.LINK), asked_at=now, expires_at=now + COUNTS
    )
    _add(link, source, is_first=True, proved_at=None)
    _note("link.asked", link, source, now)
    return code


def enter(text: str, source: Source, *, now: datetime) -> Step:
    """Somebody enters a code that the other side was shown, in the caller's transaction.

    Raises:
        NotPossible: It is none that counts here; the sentence is the same whatever is the matter.
    """
    person = f"{source.platform}:{source.user_id}"
    if not tries.are_left(person, now=now):
        raise NotPossible(str(wording.TOO_MANY_TRIES))
    code = codes.read(text)
    open_links = Link.objects.filter(
        state__in=[LinkState.ASKED, LinkState.ANSWERED], expires_at__gt=now
    )
    link = open_links.filter(code_hash=sealing.sealed(code, sealing.LINK)).first() if code else None
    step = _stepped(link, source, now) if link is not None else None
    if step is None:
        tries.note_wrong(person, now=now)
        raise NotPossible(str(wording.NO_SUCH_LINK))
    return step


def _stepped(link: Link, source: Source, now: datetime) -> Step | None:
    first = link.ends.get(is_first=True)
    is_first = standing.is_end(first, source)
    if link.state == LinkState.ANSWERED:
        return _confirm(link, first, source, now) if is_first else None
    if is_first or _is_linked(first, source):
        return None
    code = sealing.fresh()
    if not _step(link, LinkEvent.ANSWER, code_hash=sealing.sealed(code, sealing.LINK)):
        return None
    _add(link, source, is_first=False, proved_at=now)
    _note("link.answered", link, source, now)
    return Step(link, code)


def _confirm(link: Link, first: LinkEnd, source: Source, now: datetime) -> Step | None:
    if not _step(link, LinkEvent.CONFIRM, code_hash="", linked_at=now):
        return None
    LinkEnd.objects.filter(pk=first.pk).update(proved_at=now, message_id=source.message_id[:255])
    _note("link.confirmed", link, source, now)
    link.refresh_from_db()
    for end in link.ends.all():
        other = link.ends.exclude(pk=end.pk).get()
        _tell(end, f"linked:{link.pk}", wording.linked(other), now)
    return Step(link)


def _is_linked(first: LinkEnd, source: Source) -> bool:
    """Whether both are one person already."""
    return any(standing.is_end(end, source) for end in standing.others_of(_as_source(first)))


def _as_source(end: LinkEnd) -> Source:
    return standing.source_of(end)


def of(source: Source) -> list[Link]:
    """The links of the sender of `source`, the oldest first."""
    ids = standing.ids_of(source)
    is_them = Q(user_id__in=ids) | Q(user_alt__in=ids)
    there = LinkEnd.objects.filter(
        is_them, platform=source.platform, link__state=LinkState.LINKED
    ).select_related("link")
    return [end.link for end in there.order_by("link_id") if standing.is_end(end, source)]


def share(link: Link, *, shares: bool, actor: str, now: datetime) -> bool:
    """Let the private chats of a link go on with one history, or apart; whether that is news.

    Both sides are told.
    """
    linked = Link.objects.filter(pk=link.pk, state=LinkState.LINKED)
    if not linked.exclude(shares=shares).update(shares=shares):
        return False
    action = "link.shared" if shares else "link.parted"
    audit.note(action, actor=actor, subject=f"link:{link.pk}", now=now)
    for one in link.ends.order_by("pk"):
        trigger = f"{action}:{link.pk}:{now.timestamp()}"
        _tell(one, trigger, wording.history(link, one, shares=shares), now)
    return True


def end(link: Link, *, actor: str, now: datetime) -> None:
    """End a link; both sides are told.

    Raises:
        NotPossible: It is not in force.
    """
    if not _step(link, LinkEvent.END, ended_at=now, ended_by=actor[:255]):
        raise NotPossible(wording.NOT_LINKED.format(number=link.pk))
    ends = list(link.ends.order_by("pk"))
    people = [f"{one.platform}:{one.user_id}" for one in ends]
    audit.note("link.ended", actor=actor, subject=f"link:{link.pk}", now=now, people=people)
    for one in ends:
        other = next(rest for rest in ends if rest.pk != one.pk)
        _tell(one, f"unlinked:{link.pk}", wording.unlinked(other), now)


def tidy(*, now: datetime) -> None:
    """Let lapse what nobody finished, and forget it after a while."""
    unfinished = Link.objects.filter(state__in=LINKS.sources(LinkEvent.LAPSE))
    _lapse(unfinished.filter(expires_at__lte=now))
    Link.objects.filter(state=LinkState.LAPSED, asked_at__lt=now - KEPT).delete()
    tries.forget(now=now)


def _lapse(links: QuerySet[Link]) -> None:
    for link in list(links):
        _step(link, LinkEvent.LAPSE, code_hash="")


def _step(link: Link, event: LinkEvent, **changes: object) -> bool:
    can = Link.objects.filter(pk=link.pk, state__in=LINKS.sources(event))
    return bool(can.update(state=LINKS.target(event), **changes))


def _add(link: Link, source: Source, *, is_first: bool, proved_at: datetime | None) -> None:
    LinkEnd.objects.create(
        link=link,
        is_first=is_first,
        platform=source.platform,
        account=source.account,
        scope_id=source.scope_id,
        user_id=source.user_id,
        user_alt=source.user_id_alt,
        user_name=source.user_name[:255],
        address=source.address.as_dict(),
        message_id=source.message_id[:255],
        proved_at=proved_at,
    )


def _tell(end: LinkEnd, trigger: str, words: str, now: datetime) -> None:
    ledger.record(
        Debt(
            conversation_key="",
            trigger=trigger,
            address=end.destination,
            kind=Kind.NOTICE,
            content=words,
        ),
        now=now,
    )


def _note(action: str, link: Link, source: Source, now: datetime) -> None:
    audit.note(
        action,
        actor=f"{source.platform}:{source.user_id}",
        subject=f"link:{link.pk}",
        now=now,
        account=source.account,
        message=source.message_id,
    )
