"""The messages of live previews, stored so that a final can replace them even after a crash.

Only writer of that table.
"""

from datetime import datetime

from delivery.addresses import Address
from delivery.models import Preview


def store(key: str, account: str, address: Address, message_ids: list[str], now: datetime) -> None:
    """Remember the messages of stream `key`."""
    Preview.objects.update_or_create(
        key=key,
        defaults={"message_ids": message_ids},
        create_defaults={
            "account": account,
            "address": address.as_dict(),
            "message_ids": message_ids,
            "created_at": now,
        },
    )


def stored_ids(key: str) -> list[str]:
    """The messages of stream `key`, as far as they were stored."""
    preview = Preview.objects.filter(key=key).first()
    return list(preview.message_ids) if preview else []
