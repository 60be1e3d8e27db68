"""Who asks for work that goes on without them, and where they do."""

from dataclasses import dataclass
from typing import Any

from delivery.addresses import Address
from gateway.messages import ChatType, Source
from gateway.models import Turn
from gateway.schedules.models import Job


@dataclass(frozen=True, kw_only=True)
class Asker:
    """A person in a place.

    Attributes:
        origin: Where they ask.
        id: Their id on that platform.
        alt: Their stable id there, if the platform has one.
        name: What to call them; from outside, never trusted.
        anchor: The message that answers reply to; empty for none.
        language: In which they speak to us; empty if nobody knows.
    """

    origin: Address
    id: str
    alt: str = ""
    name: str = ""
    anchor: str = ""
    language: str = ""

    @property
    def person(self) -> str:
        """Them, as `platform:id`."""
        return f"{self.origin.platform}:{self.id}"

    @property
    def columns(self) -> dict[str, Any]:
        """Them as the columns of `Person`."""
        return {
            "owner_platform": self.origin.platform,
            "owner_id": self.id,
            "owner_alt": self.alt[:255],
            "owner_name": self.name[:255],
            "origin": self.origin.as_dict(),
            "language": self.language,
        }

    @property
    def source(self) -> Source:
        """Them, as somebody who speaks there."""
        at = self.origin
        return Source(
            platform=at.platform,
            account=at.account,
            scope_id=at.scope_id,
            chat_type=ChatType(at.chat_type),
            chat_id=at.chat_id,
            thread_id=at.thread_id,
            user_id=self.id,
            user_id_alt=self.alt,
            user_name=self.name,
        )


def who_said(source: Source, *, language: str = "") -> Asker:
    """Who said something, as somebody who asks."""
    return Asker(
        origin=source.address,
        id=source.user_id,
        alt=source.user_id_alt,
        name=source.user_name,
        anchor=source.anchor,
        language=language,
    )


def who_began(turn: Turn) -> Asker:
    """Whom a turn works for, as somebody who asks."""
    return Asker(
        origin=turn.conversation.asked_at,
        id=turn.sender_id,
        alt=turn.sender_alt,
        name=turn.sender_name,
        language=turn.conversation.language,
    )


def owner_of(job: Job) -> Asker | None:
    """Whose a job is; None if staff made it."""
    if job.asked_at is None or not job.owner_id:
        return None
    return Asker(origin=job.asked_at, id=job.owner_id, alt=job.owner_alt, name=job.owner_name)
