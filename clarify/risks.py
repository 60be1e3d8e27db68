"""How much harm an operation can do. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from typing_extensions import override


class RiskLevel(StrEnum):
    """How much harm an operation can do; compared by rank, LOW first."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """Its place from 0, the least."""
        return list(RiskLevel).index(self)

    @override
    def __lt__(self, other: str) -> bool:
        return self.rank < RiskLevel(other).rank

    @override
    def __le__(self, other: str) -> bool:
        return self.rank <= RiskLevel(other).rank

    @override
    def __gt__(self, other: str) -> bool:
        return self.rank > RiskLevel(other).rank

    @override
    def __ge__(self, other: str) -> bool:
        return self.rank >= RiskLevel(other).rank


def _least(one: RiskLevel | None, other: RiskLevel | None) -> RiskLevel | None:
    return None if one is None or other is None else min(one, other)


def _most(one: RiskLevel | None, other: RiskLevel | None) -> RiskLevel | None:
    return max((level for level in (one, other) if level is not None), default=None)


@dataclass(frozen=True)
class Authority:
    """Up to which level somebody may approve operations in one place; None for none at all.

    Attributes:
        own: Of what the agent wants to do for them.
        others: Of what it wants to do for others.
    """

    own: RiskLevel | None = None
    others: RiskLevel | None = None

    def allows(self, level: RiskLevel, *, is_own: bool) -> bool:
        """Whether an operation of that level may be approved."""
        most = _most(self.own, self.others) if is_own else self.others
        return most is not None and level <= most

    def __or__(self, other: "Authority") -> "Authority":
        """What two entries for the same identity give together."""
        return Authority(_most(self.own, other.own), _most(self.others, other.others))

    def __and__(self, other: "Authority") -> "Authority":
        """What two linked identities may do as one: never more than each of them ([Q19b])."""
        return Authority(_least(self.own, other.own), _least(self.others, other.others))


NO_AUTHORITY = Authority()
FULL_AUTHORITY = Authority(RiskLevel.CRITICAL, RiskLevel.CRITICAL)
