"""The ledger: what is owed, written down before anything is sent. Only writer of its tables.

Every function takes the present as `now` and does its work in one transaction. A function that
settles something is guarded by the fence of the account's lease: when another process has taken
over, it raises `LeaseLost` and nothing is written.

Others call its verbs here (`ledger.record`): `debts` records, `claims` takes what may be sent,
`outcomes` writes down what came of it, `shelf` is for staff and upkeep, `steps` is how each of
them moves a row.
"""

from delivery.ledger.claims import Claimed, claim_due
from delivery.ledger.debts import CLOSED, PRIORITIES, Debt, record, rendered, wake
from delivery.ledger.outcomes import abandon, accept, leave, message_ids, postpone, try_again
from delivery.ledger.shelf import (
    SETTLED,
    expire,
    mark_delivered,
    move_chat,
    prune,
    release_account,
    rename,
    retry,
    withdraw,
    withdraw_unseen,
)

__all__ = [
    "CLOSED",
    "PRIORITIES",
    "SETTLED",
    "Claimed",
    "Debt",
    "abandon",
    "accept",
    "claim_due",
    "expire",
    "leave",
    "mark_delivered",
    "message_ids",
    "move_chat",
    "postpone",
    "prune",
    "record",
    "release_account",
    "rename",
    "rendered",
    "retry",
    "try_again",
    "wake",
    "withdraw",
    "withdraw_unseen",
]
