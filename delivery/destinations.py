"""The chats that are closed to us until they speak again. Only writer of that table."""

from datetime import datetime

from delivery import statements
from delivery.addresses import Address
from delivery.models import DeadDestination


def bury(address: Address, *, reason: str, now: datetime) -> None:
    """Note that a chat is closed to us until it speaks again."""
    DeadDestination.objects.update_or_create(
        platform=address.platform,
        account=address.account,
        chat_id=address.chat_id,
        defaults={"reason": reason[:300], "since": now},
    )


def revive(address: Address) -> None:
    """The chat spoke: it is open to us again. What was given up meanwhile staff may send again."""
    if not is_dead(address):
        return
    DeadDestination.objects.filter(
        platform=address.platform, account=address.account, chat_id=address.chat_id
    ).delete()


def is_dead(address: Address) -> bool:
    """Whether the chat is known to be closed to us."""
    return statements.is_dead(
        platform=address.platform, account=address.account, chat_id=address.chat_id
    )
