"""Recording a debt: written down, with its parts, before anything is sent."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.utils.translation import override as language

from delivery import destinations, hints, registry, statements, wording
from delivery.addresses import Address
from delivery.content import Controls, Rendered
from delivery.errors import LedgerUnavailable
from delivery.ledger.steps import settle
from delivery.models import Kind, Obligation, Part
from delivery.ports import Certainty, Outlet
from delivery.states import OBLIGATIONS, Event

CLOSED = "the chat is closed to us: blocked, left or deleted"
PRIORITIES = {
    Kind.PROMPT: 0,
    Kind.APPROVAL: 0,
    Kind.CHANGE: 0,
    Kind.CONTROL: 0,
    Kind.NOTICE: 2,
    Kind.ERROR: 2,
    Kind.RETIRE: 2,
}


@dataclass(frozen=True, kw_only=True)
class Debt:
    """A message about to be owed.

    Attributes:
        conversation_key: The conversation it belongs to; empty for none.
        trigger: What it answers: the id of a message, turn or prompt. Together with the key, the
            kind and the content it makes the delivery id, so that the same debt is recorded once.
        address: Where it goes.
        kind: What sort of message it is.
        content: Canonical Markdown.
        reply_to: The platform id of the message it answers; empty for none.
        controls: Native buttons.
        preview_key: The live message it replaces; empty for none.
        fresh_after: It comes as a new message if the live one is older than so many seconds, and
            takes its place by an edit otherwise; None for always an edit.
        correlation: Opaque id of the turn or prompt, for whoever reads the row.
        edits: The obligation whose message it rewrites.
        parts: The content as `rendered` gives it, where it was rendered before the transaction;
            None to have it rendered inside, which is right for what is known to be short.
    """

    conversation_key: str
    trigger: str
    address: Address
    kind: Kind
    content: str
    reply_to: str = ""
    controls: Controls = field(default_factory=Controls)
    preview_key: str = ""
    fresh_after: int | None = None
    correlation: str = ""
    edits: Obligation | None = None
    parts: tuple[Rendered, ...] | None = None

    @property
    def delivery_id(self) -> str:
        """The same for the same debt ([D2])."""
        facts = (
            self.conversation_key,
            self.trigger,
            self.content,
            self.kind.value,
            self.address.lane,
        )
        return hashlib.sha256("\x1f".join(facts).encode("utf-8", "replace")).hexdigest()


def record(debt: Debt, *, now: datetime) -> Obligation:
    """Write `debt` down, with its parts, in the caller's transaction.

    Returns:
        The obligation; the one that is already there if the same debt was recorded before.

    Raises:
        LedgerUnavailable: There is no transaction to be part of.
    """
    if not transaction.get_connection().in_atomic_block:
        message = "a debt is recorded in the transaction that makes it"
        raise LedgerUnavailable(message)
    obligation = Obligation(
        delivery_id=debt.delivery_id,
        conversation_key=debt.conversation_key,
        correlation=debt.correlation,
        platform=debt.address.platform,
        account=debt.address.account,
        chat_id=debt.address.chat_id,
        lane=debt.address.lane,
        address=debt.address.as_dict(),
        reply_to=debt.reply_to,
        kind=debt.kind,
        priority=PRIORITIES.get(debt.kind, 1),
        content=debt.content,
        content_hash=hashlib.sha256(debt.content.encode("utf-8", "replace")).hexdigest(),
        controls=debt.controls.as_dict(),
        preview_key=debt.preview_key,
        fresh_after=debt.fresh_after,
        edits=debt.edits,
        next_attempt_at=now,
        created_at=now,
        updated_at=now,
    )
    if not statements.insert_obligation.one(obligation):
        return Obligation.objects.get(delivery_id=debt.delivery_id)
    _render_parts(obligation, debt)
    if destinations.is_dead(debt.address):
        rows = Obligation.objects.filter(pk=obligation.pk)
        settle(rows, Event.WITHDRAW, reason=CLOSED, now=now)
        obligation.state = OBLIGATIONS.target(Event.WITHDRAW)
    else:
        wake(debt.address.account)
    hints.conversation_changed(debt.conversation_key)
    return obligation


def rendered(platform: str, content: str) -> tuple[Rendered, ...]:
    """The parts of `content` on a platform, with room for a mark.

    A very long text takes seconds; done beforehand, that holds up no other writer.
    """
    outlet = registry.outlet(platform)
    return tuple(outlet.dialect.render(content, reserve=_marker_room(outlet)))


def _render_parts(obligation: Obligation, debt: Debt) -> None:
    parts = debt.parts or rendered(debt.address.platform, debt.content)
    statements.insert_parts.many(
        Part(
            obligation=obligation,
            position=position,
            body=part.as_dict(),
            idempotency_key=f"{debt.delivery_id[:24]}-{position}",
        )
        for position, part in enumerate(parts)
    )


def _marker_room(outlet: Outlet) -> int:
    markers = [wording.FROM_THREAD]
    if outlet.certainty is not Certainty.IDEMPOTENT:
        markers.append(wording.RECOVERED)
    with language("en"):
        longest = max(outlet.dialect.measure(str(marker)) for marker in markers)
    return len(markers) * (longest + 2)


def wake(account: str) -> None:
    """Tell the owner of `account`, once the transaction is committed, that something is owed."""
    transaction.on_commit(lambda: hints.publish(hints.outbox_group(account), "outbox.wake"))
