"""How much harm an operation can do. Pure."""

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
