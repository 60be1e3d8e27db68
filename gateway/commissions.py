"""What a conversation is for that nobody holds: a job's, a background task's, a webhook's. Pure.

Its own place is the console, where staff can read it. A commission says where it was asked for,
where its answers go, and who hears of trouble.
"""

from dataclasses import dataclass
from typing import Any

from delivery.addresses import Address
from gateway.messages import ChatType

UNATTENDED = frozenset({ChatType.CRON, ChatType.BACKGROUND, ChatType.WEBHOOK})


def is_unattended(chat_type: str) -> bool:
    """Whether nobody sits in such a place who could be asked something ([Q16])."""
    return chat_type in UNATTENDED


@dataclass(frozen=True, kw_only=True)
class Commission:
    """Whom work is done for.

    Attributes:
        origin: Where it was asked for; None if staff made it.
        answers: Where its answers go; None to keep them where they are made.
        trouble: Where it is told that something went wrong; None as `answers`.
        label: A line of Markdown that stands over each of its messages.
    """

    origin: Address | None = None
    answers: Address | None = None
    trouble: Address | None = None
    label: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The commission as JSON, for a column."""
        return {
            **{name: at.as_dict() if at else None for name, at in self._places()},
            "label": self.label,
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> "Commission":
        """The commission that `as_dict` wrote."""
        places = {
            name: Address.from_dict(fields[name]) if fields.get(name) else None
            for name in ("origin", "answers", "trouble")
        }
        return cls(**places, label=fields.get("label", ""))

    def headed(self, words: str) -> str:
        """A message of this commission, as people read it."""
        return f"{self.label}\n\n{words}" if self.label else words

    def moved(self, account: str, old_chat_id: str, new_chat_id: str) -> "Commission":
        """The same after a chat got another id."""
        places = {
            name: _moved(at, account, old_chat_id, new_chat_id) for name, at in self._places()
        }
        return Commission(**places, label=self.label)

    def _places(self) -> list[tuple[str, Address | None]]:
        return [("origin", self.origin), ("answers", self.answers), ("trouble", self.trouble)]


def _moved(at: Address | None, account: str, old_chat_id: str, new_chat_id: str) -> Address | None:
    if at is None or (at.account, at.chat_id) != (account, old_chat_id):
        return at
    return Address.from_dict({**at.as_dict(), "chat_id": new_chat_id})
