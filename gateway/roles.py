"""What somebody may do here, as a ladder of roles. Pure ([A6])."""

from enum import StrEnum

from typing_extensions import override


class Role(StrEnum):
    """What a person is to the agent; compared by rank, the viewer first."""

    VIEWER = "viewer"  # read how things stand
    MEMBER = "member"  # and speak, and approve what the agent wants to do for them
    APPROVER = "approver"  # and what it wants to do for others
    ADMIN = "admin"  # and let others in

    @property
    def rank(self) -> int:
        """Its place from 0, the least."""
        return list(Role).index(self)

    @override
    def __lt__(self, other: str) -> bool:
        return self.rank < Role(other).rank

    @override
    def __le__(self, other: str) -> bool:
        return self.rank <= Role(other).rank

    @override
    def __gt__(self, other: str) -> bool:
        return self.rank > Role(other).rank

    @override
    def __ge__(self, other: str) -> bool:
        return self.rank >= Role(other).rank
