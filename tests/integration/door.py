"""The door of an account: events come in through it, and what is said back is read here."""

from clarify.models import Prompt
from delivery.models import Kind, Obligation
from gateway import intake
from gateway.deeds import AckPress
from gateway.messages import (
    Attachment,
    Batch,
    ButtonPress,
    ChatType,
    InboundMessage,
    Source,
)
from gateway.models import InboundEvent, Turn
from tests.factories import make_account, make_allow_entry, make_prompt
from tests.integration.desk import take_lease

PHOTO = Attachment(kind="photo", file_id="f1", name="a.jpg")


class Door:
    """An account through which events come, one after another."""

    def __init__(self, clock) -> None:
        self.clock, self.number = clock, 0
        make_account("telegram")
        make_allow_entry(user_id="7")
        self.fence = take_lease(clock=clock)

    def source(self, **changes) -> Source:
        facts = {
            "platform": "telegram",
            "account": "telegram",
            "chat_type": ChatType.DM,
            "chat_id": "7",
            "user_id": "7",
            "user_name": "Ada",
            "message_id": str(self.number),
        }
        return Source(**(facts | changes))

    def message(self, text: str = "Hello", *, event_id: str = "", **changes) -> InboundMessage:
        self.number += 1
        names = {"mentions_bot", "command_for_other", "reply_to", "attachments", "sent_at"}
        own = {name: changes.pop(name) for name in names & set(changes)}
        facts = {
            "source": self.source(**changes),
            "event_id": event_id or f"u{self.number}",
            "text": text,
            "sent_at": self.clock(),
        }
        return InboundMessage(**(facts | own))

    def press(self, data: str, **changes) -> ButtonPress:
        self.number += 1
        return ButtonPress(
            source=self.source(**changes),
            event_id=f"u{self.number}",
            interaction_id=f"i{self.number}",
            data=data,
        )

    def receive(self, *events, cursor: str = ""):
        """Let them in as one batch; what is to be done at once."""
        batch = Batch(cursor or f"c{self.number}", events)
        return intake.receive("telegram", self.fence, batch, now=self.clock())

    def say(self, text: str = "Hello", **changes) -> InboundEvent:
        """A message comes in; its row."""
        event = self.message(text, **changes)
        self.receive(event)
        return InboundEvent.objects.get(event_id=event.event_id)

    def asked(self, turn=None, **changes) -> Prompt:
        """The person has asked for something, and the agent asked back."""
        if turn is None:
            turn = self.say("Deploy it, please").turn
        Turn.objects.filter(pk=turn.pk).update(state="waiting")
        turn.refresh_from_db()
        return make_prompt(turn, now=self.clock(), **changes)


def said() -> list[str]:
    """What the gateway itself owes to people."""
    kinds = [Kind.CONTROL, Kind.NOTICE]
    owed = Obligation.objects.filter(kind__in=kinds).order_by("pk")
    return list(owed.values_list("content", flat=True))


def fresh(row):
    row.refresh_from_db()
    return row


def acknowledged(deeds) -> AckPress:
    (ack,) = [deed for deed in deeds if isinstance(deed, AckPress)]
    return ack
