"""A stranger asks to be let in, and staff approve the code that they were given ([A2]).

The only writer of pairings. What a stranger reads is the same whatever is known of them; staff name
a request by the code, so that they let in the person they speak with and not one who is called so.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, QuerySet

from delivery import ledger
from delivery.ledger import Debt
from delivery.models import Kind
from gateway import audit
from gateway.conf import gateway_settings
from gateway.errors import NotPossible
from gateway.identity import codes, sealing, wording
from gateway.identity.models import Pairing, StrangerPolicy
from gateway.identity.states import PAIRINGS, PairingEvent, PairingState
from gateway.messages import ChatType, Source
from gateway.roles import Role

COUNTS = timedelta(hours=1)
HOUR = timedelta(hours=1)
MOST_CODES = 3  # for one person within an hour, if they ask for another
MOST_WRONG = 10  # wrong codes while a request waits
KEPT = timedelta(days=30)


def is_offered(account: str) -> bool:
    """Whether strangers who write to that account in private are given a code."""
    policy = StrangerPolicy.objects.filter(account=account).first()
    return policy.pairing if policy is not None else gateway_settings().pairing


def offer(source: Source, *, asks: bool, now: datetime) -> str:
    """Give a stranger a code, in the caller's transaction.

    Args:
        source: Who, in a direct message.
        asks: They ask for one; otherwise they said anything at all, and one an hour is enough.
        now: The present.

    Returns:
        The code; empty if they get none now: they had enough of them, or are not to have any.
    """
    if source.chat_type is not ChatType.DM or not source.user_id or source.is_bot:
        return ""
    row = _row(source, now)
    fresh_hour = now - row.hour_from >= HOUR
    had = 0 if fresh_hour else row.codes_in_hour
    if row.state == PairingState.PAIRED or had >= (MOST_CODES if asks else 1):
        return ""
    code = sealing.fresh()
    _make_room(source.account, row, now)
    changed = Pairing.objects.filter(
        pk=row.pk, state__in=PAIRINGS.sources(PairingEvent.ASK)
    ).update(
        state=PAIRINGS.target(PairingEvent.ASK),
        reason="",
        code_hash=sealing.sealed(code, sealing.PAIRING),
        user_alt=source.user_id_alt[:255],
        user_name=source.user_name[:255],
        address=source.address.as_dict(),
        asked_at=now,
        expires_at=now + COUNTS,
        seen_at=None,
        wrong_tries=0,
        role=Role.MEMBER,
        hour_from=now if fresh_hour else row.hour_from,
        codes_in_hour=had + 1,
    )
    return code if changed else ""


def _row(source: Source, now: datetime) -> Pairing:
    row, _ = Pairing.objects.get_or_create(
        platform=source.platform,
        account=source.account,
        user_id=source.user_id[:255],
        defaults={
            "state": PairingState.LAPSED,
            "address": source.address.as_dict(),
            "asked_at": now,
            "expires_at": now,
            "hour_from": now,
        },
    )
    return row


def _make_room(account: str, mine: Pairing, now: datetime) -> None:
    """Let no more wait than may: the oldest gives way, and first what staff have not seen yet.

    Turning the newest away instead would let three throw-away accounts keep everybody out.
    """
    others = waiting(now=now).filter(account=account).exclude(pk=mine.pk)
    room = _most_waiting(account) - 1
    in_turn = others.order_by(F("seen_at").asc(nulls_first=True), "asked_at", "pk")
    too_many = max(0, others.count() - room)
    _lapse(in_turn[:too_many], "others asked after them", now)


def _most_waiting(account: str) -> int:
    policy = StrangerPolicy.objects.filter(account=account).first()
    own = policy.most_waiting if policy is not None else None
    return max(1, own or gateway_settings().pairing_waiting)


def waiting(*, now: datetime) -> QuerySet[Pairing]:
    """Those whose code counts at this moment."""
    return Pairing.objects.filter(state=PairingState.ASKED, expires_at__gt=now)


def mark_seen(rows: Iterable[Pairing], *, now: datetime) -> None:
    """Staff have these before their eyes: they give way last."""
    unseen = [row.pk for row in rows if row.seen_at is None]
    if unseen:
        Pairing.objects.filter(pk__in=unseen, seen_at=None).update(seen_at=now)


def approve(
    text: str, *, role: Role, actor: str, now: datetime, among: QuerySet[Pairing] | None = None
) -> Pairing:
    """Let in whoever was given a code; the person is told.

    Not inside a transaction that is rolled back when it raises: wrong codes are counted.

    Args:
        text: The code as somebody typed it.
        role: What the person becomes.
        actor: Who approves.
        now: The present.
        among: The requests that it may be; all that wait by default.

    Raises:
        NotPossible: No request that waits has this code; the sentence is the same whatever it was.
    """
    rows = waiting(now=now) if among is None else among & waiting(now=now)
    code = codes.read(text)
    found = rows.filter(code_hash=sealing.sealed(code, sealing.PAIRING)).first() if code else None
    if found is None or not _let_in(found, role, actor, now):
        _count_wrong(rows, now)
        raise NotPossible(wording.NO_SUCH_CODE)
    found.refresh_from_db()
    return found


@transaction.atomic
def _let_in(row: Pairing, role: Role, actor: str, now: datetime) -> bool:
    if not _step(row, PairingEvent.APPROVE, actor, now, role=role):
        return False
    _note("pairing.approved", row, actor, now, role=role.value)
    ledger.record(
        Debt(
            conversation_key="",
            trigger=f"pairing:{row.pk}:{row.asked_at.timestamp()}",
            address=row.destination,
            kind=Kind.NOTICE,
            content=str(wording.LET_IN),
        ),
        now=now,
    )
    return True


def _count_wrong(rows: QuerySet[Pairing], now: datetime) -> None:
    Pairing.objects.filter(pk__in=list(rows.values_list("pk", flat=True))).update(
        wrong_tries=F("wrong_tries") + 1
    )
    guessed = Pairing.objects.filter(state=PairingState.ASKED, wrong_tries__gte=MOST_WRONG)
    _lapse(guessed, "too many wrong codes were entered", now)


def refuse(row: Pairing, *, actor: str, now: datetime) -> None:
    """Let a request come to nothing; nobody is told.

    Raises:
        NotPossible: It does not wait any more.
    """
    if not _step(row, PairingEvent.LAPSE, actor, now, reason=f"refused by {actor}"[:200]):
        raise NotPossible(wording.NOT_WAITING.format(row=row))
    _note("pairing.refused", row, actor, now)


def revoke(row: Pairing, *, actor: str, now: datetime) -> None:
    """Take a pairing back; it counts from the next message on.

    Raises:
        NotPossible: They are not paired.
    """
    if not _step(row, PairingEvent.REVOKE, actor, now):
        raise NotPossible(wording.NOT_PAIRED.format(row=row))
    _note("pairing.revoked", row, actor, now)


def find(text: str) -> Pairing:
    """The pairing that staff name by its number, the person's id, or the code it began with.

    Raises:
        NotPossible: It names none, or several.
    """
    code = codes.read(text)
    by_code = Pairing.objects.filter(code_hash=sealing.sealed(code, sealing.PAIRING))
    by_number = Pairing.objects.filter(pk=int(text[1:])) if _is_number(text) else by_code.none()
    rows = list((by_code if code else by_code.none())[:2])
    rows = rows or list(by_number) or list(Pairing.objects.filter(user_id=text)[:2])
    if len(rows) != 1:
        words = wording.NAMES_SEVERAL if rows else wording.NAMES_NONE
        raise NotPossible(words.format(text=text))
    return rows[0]


def _is_number(text: str) -> bool:
    return text.startswith("#") and text[1:].isascii() and text[1:].isdigit() and len(text) < 19


def tidy(*, now: datetime) -> None:
    """Let lapse what waited too long, and forget what came to nothing long ago."""
    late = Pairing.objects.filter(state=PairingState.ASKED, expires_at__lte=now)
    _lapse(late, "nobody approved it in time", now)
    old = Pairing.objects.filter(state=PairingState.LAPSED, asked_at__lt=now - KEPT)
    old.delete()


def _lapse(rows: QuerySet[Pairing], reason: str, now: datetime) -> None:
    for row in list(rows):
        if _step(row, PairingEvent.LAPSE, "", now, reason=reason):
            _note("pairing.lapsed", row, "gateway", now, reason=reason)


def _step(row: Pairing, event: PairingEvent, actor: str, now: datetime, **changes: str) -> bool:
    can = Pairing.objects.filter(pk=row.pk, state__in=PAIRINGS.sources(event))
    return bool(
        can.update(state=PAIRINGS.target(event), decided_at=now, decided_by=actor[:255], **changes)
    )


def _note(action: str, row: Pairing, actor: str, now: datetime, **detail: str) -> None:
    audit.note(
        action,
        actor=actor,
        subject=f"pairing:{row.pk}",
        now=now,
        person=f"{row.platform}:{row.user_id}",
        account=row.account,
        **detail,
    )
