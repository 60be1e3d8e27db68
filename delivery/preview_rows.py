"""The messages of live previews, stored so that a final can replace them even after a crash.

Only writer of that table.
"""

from datetime import datetime, timedelta

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


def forget(*, now: datetime, age: timedelta) -> int:
    """Delete the rows of live messages that began longer than `age` ago; how many there were."""
    return Preview.objects.filter(created_at__lt=now - age).delete()[0]
