"""Where a message goes, as plain values. Pure."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote


@dataclass(frozen=True, kw_only=True)
class Address:
    """One place on one platform that a message can be sent to.

    All ids are the platform's own, opaque, as text; an empty text means "none".
    """

    platform: str
    account: str
    chat_id: str
    scope_id: str = ""
    chat_type: str = "dm"
    thread_id: str = ""

    @property
    def lane(self) -> str:
        """The unit of delivery order: everything sent to one chat and thread of one account."""
        fields = (self.platform, self.account, self.scope_id, self.chat_id, self.thread_id)
        return ":".join(quote(field, safe="") for field in fields)

    @property
    def is_private(self) -> bool:
        """Whether one person alone speaks to us there."""
        return self.chat_type in {"dm", "console", "webhook"}

    def as_dict(self) -> dict[str, str]:
        """The address as JSON, for a column."""
        return {
            "platform": self.platform,
            "account": self.account,
            "scope_id": self.scope_id,
            "chat_type": self.chat_type,
            "chat_id": self.chat_id,
            "thread_id": self.thread_id,
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> "Address":
        """The address that `as_dict` wrote."""
        return cls(**{name: str(value) for name, value in fields.items()})
