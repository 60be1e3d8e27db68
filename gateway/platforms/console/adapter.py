"""The Control UI's way out: a part becomes visible in the timeline that browsers read."""

import asyncio

from delivery.addresses import Address
from delivery.errors import Unsupported
from delivery.ports import OutgoingPart, Receipt
from gateway.messages import Batch, ButtonPress
from gateway.ports import AccountConfig, BotIdentity


class ConsoleAdapter:
    """One console account.

    The browser's messages come in through the site's own WebSocket, not through `receive`.
    """

    def __init__(self, config: AccountConfig) -> None:
        self.config = config

    async def connect(self) -> BotIdentity:
        """There is nothing to connect to."""
        return BotIdentity(user_id="agent", user_name="agent")

    async def disconnect(self) -> None:
        """There is nothing to close."""

    async def receive(self, cursor: str) -> Batch:
        """Nothing ever comes in this way."""
        await asyncio.sleep(30)
        return Batch(cursor, ())

    async def send(self, part: OutgoingPart) -> Receipt:
        """The part is in the ledger, and so in the timeline: accepted."""
        return Receipt(message_id=part.idempotency_key)

    async def edit(self, message_id: str, part: OutgoingPart) -> Receipt:  # noqa: ARG002 - the port
        """The ledger holds the new text."""
        return Receipt(message_id=message_id)

    async def delete(self, address: Address, message_id: str) -> None:  # noqa: ARG002 - the port
        """Nothing is ever deleted from the ledger."""
        raise Unsupported

    async def typing(self, address: Address) -> None:
        """Pages see that a turn runs by its state."""

    async def acknowledge(self, press: ButtonPress, *, text: str, alert: bool) -> None:
        """Buttons of pages are answered over their own WebSocket."""
