"""Calling the platform about one part: in which shape, with a mark or not, or after a look."""

import dataclasses
import logging

from delivery import wording
from delivery.content import Controls
from delivery.errors import (
    NetworkDown,
    OutcomeUnknown,
    RateLimited,
    Refused,
    TransportError,
)
from delivery.ledger import Claimed
from delivery.means import Means
from delivery.models import Part
from delivery.ports import Certainty, OutgoingPart, Readable, Receipt
from delivery.retry import Step

logger = logging.getLogger(__name__)

# A second copy does no harm: the platform drops it, or it is not sent before we have looked.
HARMLESS = {Certainty.IDEMPOTENT, Certainty.READABLE}


@dataclasses.dataclass
class Call:
    """One call about one part.

    Attributes:
        target: The message that it changes; empty to send a new one.
        operation: `send`, `edit`, or `look` once the part was found to be there.
        is_doubtful: A preview of it may stand, though nobody knows its id.
        marked: It says that it may be a duplicate.
    """

    target: str
    operation: str
    is_doubtful: bool = False
    marked: bool = False


class Caller:
    """Calls about the parts of one claimed message.

    Args:
        means: What the account works with.
        work: The claim.
    """

    def __init__(self, means: Means, work: Claimed) -> None:
        self._means, self._work = means, work

    async def call(self, part: Part, call: Call) -> Receipt:
        """Make the call; a fault of ours becomes an unknown outcome, which is tried again and ends.

        One message that cannot be sent for such a reason must not hold up the whole account.
        """
        try:
            receipt = await self._call(part, call)
        except TransportError:
            raise
        except Exception as error:
            logger.exception("An adapter failed", extra={"obligation": self._work.obligation.pk})
            message = f"the adapter failed with {type(error).__name__}"
            raise OutcomeUnknown(message) from error
        if not receipt.message_id:
            raise OutcomeUnknown("the platform named no message")  # [D4]: that is no receipt
        return receipt

    async def _call(self, part: Part, call: Call) -> Receipt:
        transport, outlet = self._means.transport, self._means.outlet
        if call.target:
            return await transport.edit(call.target, self._outgoing(part))
        if part.was_lost:
            found = await self._look(part, call)
            if found is not None:
                return found
        elif call.is_doubtful:
            call.marked = outlet.certainty is not Certainty.IDEMPOTENT
        outgoing = self._outgoing(part)
        if call.marked:
            body = outlet.dialect.mark(outgoing.body, str(wording.RECOVERED))
            outgoing = dataclasses.replace(outgoing, body=body)
        return await transport.send(outgoing)

    async def _look(self, part: Part, call: Call) -> Receipt | None:
        """What can be known of a part that may have arrived; whether to mark it otherwise.

        Nothing is sent here, so nothing that goes wrong here is a loss.
        """
        transport, certainty = self._means.transport, self._means.outlet.certainty
        call.marked = certainty not in HARMLESS
        try:
            if certainty is Certainty.READABLE and isinstance(transport, Readable):
                since = self._work.obligation.created_at
                found = await transport.look(self._outgoing(part), since=since)
                call.operation = "look" if found else "send"
                return found
            if call.marked:
                # There are few more copies to give: none is sent to a platform that is away.
                await transport.typing(self._work.obligation.destination)
        except RateLimited:
            if certainty is Certainty.READABLE:
                raise
        except Refused:
            call.marked = certainty is not Certainty.IDEMPOTENT
        except OutcomeUnknown as error:
            raise NetworkDown(error.detail, code=error.code) from error
        return None

    def _outgoing(self, part: Part) -> OutgoingPart:
        obligation = self._work.obligation
        is_last = part.position == self._work.obligation_parts - 1
        return OutgoingPart(
            address=obligation.destination,
            body=part.rendered,
            idempotency_key=part.idempotency_key,
            controls=obligation.native_controls if is_last else Controls(),
            reply_to=obligation.reply_to if part.position == 0 else "",
        )

    def reshape(self, part: Part, step: Step, error: TransportError) -> None:
        """Change what is sent as `step` says, and where to."""
        obligation, dialect = self._work.obligation, self._means.outlet.dialect
        if step is Step.PLAIN:
            plain = part.rendered.plain
            length = dialect.measure(plain)
            body = dataclasses.replace(part.rendered, text=plain, length=length, format={})
            part.body = body.as_dict()
        elif step is Step.NO_ANCHOR:
            obligation.reply_to = ""
        elif step is Step.PARENT:
            obligation.address = {**obligation.address, "thread_id": ""}
            obligation.reply_to = ""
            part.body = dialect.mark(part.rendered, str(wording.FROM_THREAD)).as_dict()
        elif step is Step.MOVED:
            new_chat_id = getattr(error, "new_chat_id", "")
            self._means.reports.moved(obligation.destination, new_chat_id)
            obligation.address = {**obligation.address, "chat_id": new_chat_id}
            obligation.chat_id, obligation.reply_to = new_chat_id, ""
