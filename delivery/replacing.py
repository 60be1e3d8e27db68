"""The earlier messages that one owed message takes the place of, and those it leaves over."""

import contextlib
from datetime import datetime, timedelta

from delivery import finishing, ledger, preview_rows, wording
from delivery.addresses import Address
from delivery.content import Rendered
from delivery.errors import MessageGone, OutcomeUnknown, Refused, TransportError
from delivery.ledger import Claimed
from delivery.means import Ambience, Means, insist
from delivery.models import Obligation, Part
from delivery.ports import OutgoingPart, Transport


class Replaced:
    """What stands there of one claimed message: that which it changes, or its preview.

    Args:
        means: What the account works with.
        work: The claim.
    """

    def __init__(self, means: Means, work: Claimed) -> None:
        self._means, self._work = means, work
        self._place = work.obligation.destination  # where they stand, wherever the chat moves
        self._by_part: dict[int, str] = {}  # the message that a part changes, by its position
        self._spare: list[str] = []  # messages of no use any more once everything is delivered
        self._doubtful: set[int] = set()  # parts of which a preview may stand without a known id

    async def find(self) -> bool:
        """Learn which they are; False if what was to be changed was never sent."""
        obligation, ambience = self._work.obligation, self._means.ambience
        targets: list[str] = []
        if obligation.edits_id:
            edited = obligation.edits_id
            targets = await insist(lambda: ambience.database(ledger.message_ids, edited))
        elif obligation.preview_key:
            key, chat_id = obligation.preview_key, obligation.chat_id
            targets = await insist(lambda: self._means.previews.take_over(key, chat_id))
        self._doubtful = {position for position, target in enumerate(targets) if not target}
        count = 0 if await self._comes_anew(targets) else self._work.obligation_parts
        named = {position: target for position, target in enumerate(targets) if target}
        self._by_part = {position: one for position, one in named.items() if position < count}
        self._spare = [one for position, one in named.items() if position >= count]
        return bool(targets) or not obligation.edits_id

    async def _comes_anew(self, targets: list[str]) -> bool:
        obligation = self._work.obligation
        if obligation.fresh_after is None or not targets:
            return False
        key, database = obligation.preview_key, self._means.ambience.database
        shown_at = await insist(lambda: database(preview_rows.begun_at, key))
        return _comes_anew(obligation, shown_at)

    def target(self, part: Part) -> str:
        """The message that `part` changes; empty for none."""
        return self._by_part.get(part.position, "")

    def is_doubtful(self, part: Part) -> bool:
        """Whether a preview of `part` may stand there though nobody knows its id."""
        return part.position in self._doubtful

    def give_up(self, part: Part, error: TransportError) -> None:
        """The message that `part` was to change stays as it is: a new one comes instead."""
        self._spare.append(self._by_part.pop(part.position))
        if isinstance(error, OutcomeUnknown):  # the old one may read as the new one will
            self._doubtful.add(part.position)

    def leave_behind(self) -> None:
        """The chat has another id: there the same number may be another message's."""
        self._by_part, self._spare = {}, []

    async def tidy(self) -> None:
        """Take away what is left over, once everything is delivered."""
        for message_id in self._spare:
            key = self._work.obligation.preview_key
            await take_away(self._means.transport, self._place, message_id, key)


def _comes_anew(obligation: Obligation, shown_at: datetime | None) -> bool:
    after = obligation.fresh_after
    return finishing.comes_anew(
        None if after is None else timedelta(seconds=after),
        shown_at=shown_at,
        owed_at=obligation.created_at,
    )


async def take_away(transport: Transport, place: Address, message_id: str, key: str) -> None:
    """Delete a message; where a preview may not be deleted, let it say where the answer stands.

    Nothing that is owed depends on it: what cannot be reached stays.

    Args:
        transport: The open connection.
        place: Where it stands.
        message_id: Which.
        key: The preview that it is of; empty for none.
    """
    with contextlib.suppress(TransportError):
        try:
            await transport.delete(place, message_id)
        except MessageGone:
            return
        except Refused:
            if key:
                await transport.edit(message_id, _stub(place, key))


def _stub(place: Address, key: str) -> OutgoingPart:
    words = str(wording.ELSEWHERE)
    body = Rendered(text=words, plain=words, length=len(words))
    return OutgoingPart(address=place, body=body, idempotency_key=f"p{key}-stub"[:32])


async def take_away_what_is_left(account: str, transport: Transport, ambience: Ambience) -> None:
    """Take away what earlier owners of the account did not come to.

    A process may have died after the last part of an answer and before its preview was gone.
    """
    now = ambience.clock()
    for key, place, message_ids in await ambience.database(preview_rows.leftovers, account, now):
        for message_id in message_ids:
            await take_away(transport, place, message_id, key)
        await ambience.database(preview_rows.forget, key)
