"""Who looks at the Control UI, and what they may see."""

from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from clarify.questions import Answerer
from clarify.risks import NO_AUTHORITY, Authority
from gateway import access
from gateway.accounts import CONSOLE
from gateway.messages import ChatType, Source
from gateway.models import Conversation


@dataclass(frozen=True, kw_only=True)
class Viewer:
    """One logged-in person.

    Attributes:
        pk: The user's key.
        name: What to call them.
        is_staff: They see every conversation and may answer every question ([Q15]).
        authority: Up to which risk they may approve operations ([Q19b]).
        session_hash: Changes with the password; an older one is logged out.
    """

    pk: int
    name: str
    is_staff: bool
    authority: Authority = NO_AUTHORITY
    session_hash: str = ""

    @property
    def person_id(self) -> str:
        """Their id on the console platform; also the id of their first chat."""
        return access.person_id(self.pk)

    @property
    def answerer(self) -> Answerer:
        """Them as somebody who answers questions."""
        return Answerer(
            id=self.person_id,
            name=self.name,
            surface=CONSOLE,
            is_staff=self.is_staff,
            authority=self.authority,
        )

    def source(self, chat_id: str, *, message_id: str = "") -> Source:
        """One of their own chats, as the source of a message."""
        return Source(
            platform=CONSOLE,
            account=CONSOLE,
            chat_type=ChatType.CONSOLE,
            chat_id=chat_id,
            user_id=self.person_id,
            user_name=self.name,
            message_id=message_id,
        )

    def owns(self, conversation: Conversation) -> bool:
        """Whether it is one of their own console chats: the only ones they can speak in."""
        if conversation.platform != CONSOLE:
            return False
        chat = conversation.chat_id
        return chat == self.person_id or chat.startswith(f"{self.person_id}-")

    def own_conversations(self) -> QuerySet[Conversation]:
        """Their own console chats."""
        chats = Q(chat_id=self.person_id) | Q(chat_id__startswith=f"{self.person_id}-")
        return Conversation.objects.filter(chats, platform=CONSOLE)

    def visible_conversations(self) -> QuerySet[Conversation]:
        """Everything they may look at."""
        return Conversation.objects.all() if self.is_staff else self.own_conversations()


def viewer_of(user: User) -> Viewer:
    """`user` as a viewer."""
    return Viewer(
        pk=user.pk,
        name=user.get_full_name() or user.get_username(),
        is_staff=user.is_staff,
        authority=access.authority_of(user),
        session_hash=user.get_session_auth_hash(),
    )


def find(pk: int) -> Viewer | None:
    """The viewer with that key as they are now; None if they may not log in any more."""
    user = get_user_model().objects.filter(pk=pk, is_active=True).first()
    return viewer_of(user) if user else None
