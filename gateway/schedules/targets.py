"""Where somebody may have things sent: their own places, and what staff permit ([T8])."""

from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from delivery import destinations, ledger
from delivery.addresses import Address
from delivery.ledger import Debt
from delivery.models import Kind, Obligation
from gateway import audit, chats, platforms, sessions
from gateway.accounts import CONSOLE
from gateway.errors import NotPossible
from gateway.messages import ChatType
from gateway.models import Account, Conversation, Turn
from gateway.schedules.asking import Asker, who_began
from gateway.schedules.models import Place

HERE, PRIVATE, HOME = "here", "me", "home"
OWN_NAMES = frozenset({HERE, PRIVATE, HOME, "none", "origin"})
MOST_IN_A_TURN = 20  # messages that one turn may send elsewhere
LONGEST = 20_000  # characters of one such message


def permitted(asker: Asker) -> tuple[str, ...]:
    """The names of the places that somebody may have things sent to, their own in front."""
    own = [HERE]
    if not asker.origin.is_private and asker.id:
        own.append(PRIVATE)
    if chats.home_of(asker.origin.account) is not None:
        own.append(HOME)
    places = Place.objects.filter(is_enabled=True)
    return (*own, *(place.name for place in places if place.is_open_to(asker.person)))


def elsewhere(asker: Asker) -> tuple[str, ...]:
    """The same without the place where they ask: an answer goes there by itself."""
    return permitted(asker)[1:]


def address_of(name: str, asker: Asker) -> Address:
    """The place of that name, for somebody.

    Raises:
        NotPossible: There is none, or not for them; the message says which there are.
    """
    name = name.strip().lower().lstrip("#@")
    if name in {HERE, "origin", ""}:
        return asker.origin
    found: Address | None = None
    if name == HOME:
        found = chats.home_of(asker.origin.account)
    elif name == PRIVATE:
        found = private_chat(asker)
    else:
        place = Place.objects.filter(name=name).first()
        found = place.address if place and place.is_open_to(asker.person) else None
    if found is not None:
        return found
    raise NotPossible(_unknown(name, asker))


def _unknown(name: str, asker: Asker) -> str:
    if name == HOME:
        return _("No home channel is set here. `/sethome` in a chat makes it one.")
    if name == PRIVATE:
        return _("We have no private chat yet. Write to me there once, then I can.")
    names = ", ".join(f"`{each}`" for each in permitted(asker))
    return _("There is no target “%(name)s” for you. There are: %(names)s.") % {
        "name": name,
        "names": names,
    }


def private_chat(asker: Asker) -> Address | None:
    """Where somebody and the bot are by themselves, on the account they ask through."""
    if asker.origin.is_private:
        return asker.origin
    spoke = Turn.objects.filter(
        sender_id=asker.id,
        conversation__account=asker.origin.account,
        conversation__chat_type=ChatType.DM,
    )
    last = spoke.select_related("conversation").order_by("-id").first()
    return last.conversation.place if last is not None else None


def send(turn: Turn, *, target: str, text: str, call_id: str, now: datetime) -> Obligation:
    """Owe a message of a turn's agent to a permitted place, once for each call.

    Args:
        turn: Whose agent says it.
        target: The name of the place.
        text: Canonical Markdown.
        call_id: The tool call: the same one again gives the same message ([D2]).
        now: The present.

    Raises:
        NotPossible: Nothing was sent; the message says why, and what can be done.
    """
    if not text.strip():
        raise NotPossible(_("There is nothing to send: the text is empty."))
    if len(text) > LONGEST:
        raise NotPossible(
            _("The text is too long: %(most)s characters are the most.") % {"most": LONGEST}
        )
    address = address_of(target, who_began(turn))
    if destinations.is_dead(address):
        raise NotPossible(_("That chat is closed to us: blocked, left or deleted."))
    known = _known(address)
    if known is None and address.platform == CONSOLE:
        raise NotPossible(_("Nobody would see it: that chat of the Control UI is not there."))
    debt = Debt(
        conversation_key=known.key if known else "",
        trigger=f"turn:{turn.pk}:send:{call_id}",
        address=address,
        kind=Kind.CROSS,
        content=text,
        correlation=turn.correlation,
        parts=ledger.rendered(address.platform, text),
    )
    with transaction.atomic():
        _refuse_a_flood(turn, debt)
        owed = ledger.record(debt, now=now)
        if known is not None:
            sessions.stir(known, now=now)
        audit.note(
            "message.sent",
            actor=f"agent, for {who_began(turn).person}",
            subject=f"turn:{turn.pk}",
            now=now,
            target=target[:80],
            delivery=owed.delivery_id[:12],
        )
    return owed


def _refuse_a_flood(turn: Turn, debt: Debt) -> None:
    sent = Obligation.objects.filter(correlation=turn.correlation, kind=Kind.CROSS)
    if sent.exclude(delivery_id=debt.delivery_id).count() >= MOST_IN_A_TURN:
        raise NotPossible(
            _("%(most)s messages have gone elsewhere in this turn; that is the most.")
            % {"most": MOST_IN_A_TURN}
        )


def _known(address: Address) -> Conversation | None:
    """The conversation that is shown for a place: what everybody shares, or else the liveliest."""
    there = Conversation.objects.filter(
        account=address.account, chat_id=address.chat_id, thread_id=address.thread_id
    )
    return there.order_by("participant_id", "-active_at").first()


def problem_with(place: Place) -> str:
    """What keeps a permitted target from working, in one sentence; empty if nothing does."""
    account = Account.objects.filter(slug=place.account).first()
    if account is None:
        return f"There is no account {place.account!r}; see Accounts for their names."
    if place.name in OWN_NAMES:
        return f"“{place.name}” means something else already; choose another name."
    platforms.get(account.platform)
    return ""


def store(place: Place, *, actor: str, now: datetime) -> None:
    """Store a permitted target.

    Raises:
        NotPossible: It could never be sent to; the message says what to do.
    """
    problem = problem_with(place)
    if problem:
        raise NotPossible(problem)
    place.platform = Account.objects.get(slug=place.account).platform
    is_new = place.pk is None
    try:
        place.full_clean()
    except ValidationError as error:
        raise NotPossible(" ".join(error.messages)) from error
    with transaction.atomic():
        place.save()
        audit.note(
            "target.added" if is_new else "target.changed",
            actor=actor,
            subject=f"target:{place.name}",
            now=now,
            account=place.account,
            chat=place.chat_id,
        )


def remove(place: Place, *, actor: str, now: datetime) -> None:
    """Permit a target no more.

    Raises:
        NotPossible: Jobs send there.
    """
    names = ", ".join(f"{job.pk} ({job.name})" for job in place.jobs.all()[:5])
    if names:
        message = f"Jobs send to {place.name}: {names}. Give them another target first."
        raise NotPossible(message)
    with transaction.atomic():
        audit.note("target.removed", actor=actor, subject=f"target:{place.name}", now=now)
        place.delete()


def move_chat(account: str, old_chat_id: str, new_chat_id: str) -> None:
    """A permitted target is so under its chat's new id."""
    Place.objects.filter(account=account, chat_id=old_chat_id).update(chat_id=new_chat_id)
