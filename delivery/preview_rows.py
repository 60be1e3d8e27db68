"""The messages of live previews, stored so that a final can replace them even after a crash.

Only writer of that table.
"""

from datetime import datetime, timedelta

from delivery.addresses import Address
from delivery.models import Obligation, Part, Preview
from delivery.states import State

# What one process is at work on is much less; no platform lets us delete what is older.
MOST_LEFT, OLDEST_LEFT = 1000, timedelta(days=2)


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


def stored_ids(key: str, chat_id: str = "") -> list[str]:
    """The messages of stream `key`, as far as they were stored; of one chat, if it is named."""
    preview = Preview.objects.filter(key=key).first()
    if preview is None or chat_id not in {"", preview.address["chat_id"]}:
        return []
    return list(preview.message_ids)


def begun_at(key: str) -> datetime | None:
    """When the first message of stream `key` was about to be shown; None if none was."""
    return Preview.objects.filter(key=key).values_list("created_at", flat=True).first()


def forget(key: str) -> None:
    """Nothing of stream `key` stands anywhere any more."""
    Preview.objects.filter(key=key).delete()


def leftovers(account: str, now: datetime) -> list[tuple[str, Address, list[str]]]:
    """Messages of previews that stand beside the answer which came instead of them.

    Returns:
        Streams whose answer was delivered lately: the key, where it was shown, and the ids of its
        messages that the answer did not take the place of. Streams without any are left out.
    """
    since = now - OLDEST_LEFT
    settled = Obligation.objects.filter(state=State.DELIVERED, settled_at__gte=since)
    mine = settled.filter(account=account).exclude(preview_key="").order_by("-settled_at")
    answers = dict(mine.values_list("preview_key", "pk")[:MOST_LEFT])
    known: dict[int, set[str]] = {}
    for answer, message_id in Part.objects.filter(obligation__in=answers.values()).values_list(
        "obligation", "message_id"
    ):
        known.setdefault(answer, set()).add(message_id)
    found = []
    for row in Preview.objects.filter(account=account, key__in=list(answers)):
        of_answer = known.get(answers[row.key], {""})
        rest = [one for one in row.message_ids if one and one not in of_answer]
        if rest and "" not in of_answer:  # else one of them may be the answer
            found.append((row.key, Address.from_dict(row.address), rest))
    return found
