"""Rows for tests: plain functions with sensible defaults, each changed by keyword.

They write through the product's own verbs where there is one (a prompt is asked, a debt is
recorded), and set the columns named in `changes` afterwards, so that any state can be built.
"""

import itertools
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from clarify import approvals, questions
from clarify.approvals import Operation, Reach
from clarify.models import Permit, Prompt, PromptKind, Reply
from clarify.questions import Answerer
from clarify.risks import RiskLevel
from clarify.schema import QuestionSet, normalise_ask_user, normalise_clarify
from delivery import ledger
from delivery.ledger import Debt
from delivery.models import (
    Attempt,
    DeadDestination,
    Kind,
    Lease,
    Obligation,
    Outcome,
    Part,
    Preview,
)
from delivery.states import PartState
from delivery.states import State as DeliveryState
from gateway import sessions, vault
from gateway.keys import KeyFields
from gateway.models import (
    Account,
    AccountState,
    AllowEntry,
    Conversation,
    Decision,
    InboundEvent,
    MediaFile,
    Note,
    ProcessBeat,
    ToolCall,
    ToolState,
    Turn,
    Upload,
)

_numbers = itertools.count(1)
QUESTION = "Where should it go?"
CHOICES = ("Staging", "Production")


def make_account(slug: str = "", **changes: Any) -> Account:
    """An account of Telegram with a credential of its own."""
    defaults: dict[str, Any] = {"platform": "telegram", "secret": vault.lock("123456:" + "A" * 35)}
    return Account.objects.create(slug=slug or f"bot{next(_numbers)}", **(defaults | changes))


def make_allow_entry(**changes: Any) -> AllowEntry:
    """A person who may speak on Telegram."""
    defaults: dict[str, Any] = {"platform": "telegram", "user_id": str(5000 + next(_numbers))}
    return AllowEntry.objects.create(**(defaults | changes))


def make_conversation(*, now: datetime | None = None, **fields: Any) -> Conversation:
    """A private chat on Telegram with a session of its own.

    Args:
        now: When it began.
        fields: Fields of its key (`platform`, `chat_type`, `chat_id`, …), or `title`.
    """
    title = fields.pop("title", "Ada")
    key: dict[str, Any] = {
        "profile": "default",
        "platform": "telegram",
        "account": "telegram",
        "scope_id": "",
        "chat_type": "dm",
        "chat_id": str(1000 + next(_numbers)),
    }
    fields = KeyFields(**(key | fields))
    return sessions.find_or_open(fields, title=title, now=now or timezone.now())


def make_turn(conversation: Conversation | None = None, **changes: Any) -> Turn:
    """A queued turn; of a conversation of its own if none is given."""
    conversation = conversation or make_conversation()
    now = changes.pop("now", None) or timezone.now()
    defaults: dict[str, Any] = {
        "session_id": conversation.session_id,
        "prompt": "Deploy it, please.",
        "sender_id": conversation.participant_id or conversation.chat_id,
        "sender_name": "Ada",
        "reply_to": "41",
        "created_at": now,
        "woken_at": now,
        "updated_at": now,
    }
    return Turn.objects.create(conversation=conversation, **(defaults | changes))


def make_inbound(turn: Turn | None = None, **changes: Any) -> InboundEvent:
    """A message that came in; the one that began `turn` if that is given."""
    number = next(_numbers)
    conversation = turn.conversation if turn else None
    chat_id = conversation.chat_id if conversation else str(1000 + number)
    message_id = str(changes.pop("message_id", number))
    defaults: dict[str, Any] = {
        "account": conversation.account if conversation else "telegram",
        "event_id": f"u{number}",
        "message_key": f"{chat_id}/{message_id}",
        "kind": "message",
        "platform": "telegram",
        "chat_id": chat_id,
        "chat_type": "dm",
        "sender_id": turn.sender_id if turn else chat_id,
        "sender_name": "Ada",
        "message_id": message_id,
        "text": turn.prompt if turn else "Hello",
        "decision": Decision.TURN if turn else Decision.IGNORED,
        "conversation": conversation,
        "turn": turn,
        "sent_at": turn.created_at if turn else timezone.now(),
        "received_at": turn.created_at if turn else timezone.now(),
    }
    return InboundEvent.objects.create(**(defaults | changes))


def make_tool_call(turn: Turn, **changes: Any) -> ToolCall:
    """A finished call of a tool."""
    defaults: dict[str, Any] = {
        "call_id": f"call{next(_numbers)}",
        "name": "note",
        "arguments": {"text": "remember"},
        "state": ToolState.DONE,
        "started_at": timezone.now(),
    }
    return ToolCall.objects.create(turn=turn, **(defaults | changes))


def choice_question(text: str = QUESTION, choices: tuple[str, ...] = CHOICES) -> QuestionSet:
    """One question with choices."""
    return normalise_clarify(text, list(choices))


def several_questions() -> QuestionSet:
    """Two questions, the second with several choices."""
    options = [{"label": "Logs"}, {"label": "Metrics"}]
    return normalise_ask_user(
        [
            {
                "id": "place",
                "header": "Place",
                "question": QUESTION,
                "options": [{"label": label} for label in CHOICES],
            },
            {
                "id": "extras",
                "header": "Extras",
                "question": "What else?",
                "options": options,
                "multiSelect": True,
            },
        ],
        None,
    )


def operation(**changes: Any) -> Operation:
    """A dangerous operation as it is put before people; high risk by default."""
    facts: dict[str, Any] = {
        "tool": "pretend_delete",
        "summary": "Delete something",
        "detail": "delete build",
        "level": RiskLevel.HIGH,
        "digest": approvals.digest("pretend_delete", {"target": "build"}),
        "lasting_key": "k",
        "covers": "exactly this call",
        "lasts": {Reach.SESSION: 3600},
    }
    return Operation(**facts | changes)


def make_approval(
    turn: Turn,
    *,
    now: datetime | None = None,
    delivered: bool = True,
    seconds: int = 600,
    **changes: Any,
) -> Prompt:
    """An open approval of a waiting turn, asked and (by default) delivered.

    Args:
        turn: Whose.
        now: When it was asked.
        delivered: Its message has reached the platform.
        seconds: How long it waits.
        changes: Of the operation.
    """
    now = now or timezone.now()
    call = make_tool_call(turn, name="pretend_delete", state=ToolState.WAITING, started_at=now)
    ask = questions.Ask(
        kind=PromptKind.APPROVAL,
        correlation=turn.correlation,
        call_id=call.call_id,
        conversation_key=turn.conversation.key,
        address=turn.conversation.address,
        asker_id=turn.sender_id,
        asker_name=turn.sender_name,
        questions=QuestionSet((), seconds),
        operation=operation(**changes),
        session=str(turn.session_id),
    )
    with transaction.atomic():
        prompt = questions.ask(ask, now=now)
    if delivered and prompt.obligation is not None:
        settle(prompt.obligation, at=now)
    return prompt


def make_prompt(
    turn: Turn | None = None,
    *,
    question_set: QuestionSet | None = None,
    now: datetime | None = None,
    delivered: bool = True,
    **changes: Any,
) -> Prompt:
    """An open prompt of a turn that waits for it, asked and (by default) delivered.

    Args:
        turn: Whose; a waiting one of its own if none is given.
        question_set: What is asked; one question with two choices by default.
        now: When it was asked.
        delivered: Its message has reached the platform.
        changes: Columns to set afterwards.
    """
    now = now or timezone.now()
    turn = turn or make_turn(state="waiting", now=now)
    questions_asked = question_set or choice_question()
    several = len(questions_asked.questions) > 1
    call = make_tool_call(
        turn, name="ask_user" if several else "clarify", state=ToolState.WAITING, started_at=now
    )
    ask = questions.Ask(
        kind=PromptKind.ASK_USER if several else PromptKind.CLARIFY,
        correlation=turn.correlation,
        call_id=call.call_id,
        conversation_key=turn.conversation.key,
        address=turn.conversation.address,
        asker_id=turn.sender_id,
        asker_name=turn.sender_name,
        questions=questions_asked,
    )
    with transaction.atomic():
        prompt = questions.ask(ask, now=now)
    if delivered and prompt.obligation is not None:
        settle(prompt.obligation, at=now)
    return _changed(prompt, changes)


def make_permit(turn: Turn | None = None, **changes: Any) -> Permit:
    """A lasting approval, in force; for whom `turn` runs, in its session, if that is given."""
    turn = turn or make_turn()
    now = timezone.now()
    defaults: dict[str, Any] = {
        "conversation_key": turn.conversation.key,
        "session": str(turn.session_id),
        "asker_id": turn.sender_id,
        "tool": "pretend_delete",
        "lasting_key": "k",
        "covers": "exactly this call",
        "level": RiskLevel.HIGH.value,
        "given_by": "Grace",
        "given_at": now,
        "expires_at": now + timedelta(hours=12),
    }
    return Permit.objects.create(**(defaults | changes))


def make_answerer(**changes: Any) -> Answerer:
    """Somebody on Telegram."""
    defaults: dict[str, Any] = {"id": "7", "name": "Grace", "surface": "telegram"}
    return Answerer(**(defaults | changes))


def make_reply(prompt: Prompt, **changes: Any) -> Reply:
    """Something said to a prompt that was not taken as its answer."""
    defaults: dict[str, Any] = {
        "by": prompt.asker_id,
        "surface": "telegram",
        "text": "7",
        "outcome": "hinted",
        "detail": "There is no option 7.",
        "at": timezone.now(),
    }
    return Reply.objects.create(prompt=prompt, **(defaults | changes))


def make_obligation(
    conversation: Conversation | None = None,
    *,
    content: str = "",
    kind: Kind = Kind.FINAL,
    turn: Turn | None = None,
    now: datetime | None = None,
    **changes: Any,
) -> Obligation:
    """An owed message with its parts, never tried yet.

    Args:
        conversation: Where it goes; one of its own if none is given.
        content: Its Markdown; different each time by default.
        kind: What sort of message.
        turn: The turn whose answer it is.
        now: When it was recorded.
        changes: Columns to set afterwards.
    """
    number = next(_numbers)
    conversation = conversation or (turn.conversation if turn else make_conversation())
    debt = Debt(
        conversation_key=conversation.key,
        trigger=f"turn:{turn.pk}" if turn else f"test:{number}",
        address=conversation.address,
        kind=kind,
        content=content or f"Answer number {number}.",
        correlation=turn.correlation if turn else "",
    )
    with transaction.atomic():
        obligation = ledger.record(debt, now=now or timezone.now())
    return _changed(obligation, changes)


def make_attempt(part: Part, **changes: Any) -> Attempt:
    """A try to send a part that did not end well."""
    defaults: dict[str, Any] = {
        "number": part.attempts + 1,
        "owner": "host/1/1",
        "epoch": 1,
        "outcome": Outcome.NOT_SENT,
        "detail": "NetworkDown: no route to host",
        "finished_at": timezone.now(),
    }
    return Attempt.objects.create(part=part, **(defaults | changes))


def settle(obligation: Obligation, *, at: datetime | None = None) -> Obligation:
    """The platform took all of `obligation`: every part has a message id."""
    at = at or timezone.now()
    for part in obligation.parts.order_by("position"):
        part.state, part.message_id = PartState.DELIVERED, str(90_000 + next(_numbers))
        part.delivered_at = at
        part.attempts += 1
        part.save()
        make_attempt(
            part, number=part.attempts, outcome=Outcome.ACCEPTED, detail="", finished_at=at
        )
    return _changed(obligation, {"state": DeliveryState.DELIVERED, "settled_at": at, "attempts": 1})


def make_file(turn: Turn, **changes: Any) -> MediaFile:
    """A photo that came with a turn's message and is not fetched yet."""
    now = timezone.now()
    defaults: dict[str, Any] = {
        "direction": "in",
        "account": turn.conversation.account,
        "conversation": turn.conversation,
        "kind": "photo",
        "remote_id": "FILE000000000001",
        "label": "[photo: without a name]",
        "created_at": now,
        "expires_at": now + timedelta(days=7),
    }
    return MediaFile.objects.create(turn=turn, **(defaults | changes))


def make_staff(name: str = "boss", **changes: Any):
    """A logged-in superuser."""
    defaults: dict[str, Any] = {"is_staff": True, "is_superuser": True}
    return get_user_model().objects.create_user(name, password="pass", **(defaults | changes))


def make_stuck_question() -> tuple[InboundEvent, Turn, Prompt]:
    """A person wrote, the agent asked, and their reply was not understood."""
    conversation = make_conversation(chat_id="77")
    turn = make_turn(conversation, state="waiting", now=ago(minutes=5))
    event = make_inbound(turn, message_id="41")
    make_account("telegram", state=AccountState.READY)
    make_allow_entry(user_id=turn.sender_id)
    prompt = make_prompt(turn, now=ago(minutes=4))
    make_reply(prompt, text="7")
    return event, turn, prompt


def make_everything_else(turn: Turn) -> None:
    """A row of every kind that no other factory makes."""
    now, address = timezone.now(), turn.conversation.address
    Lease.objects.create(name="account:telegram", owner="host/1/1", epoch=1, expires_at=now)
    Preview.objects.create(
        key=turn.preview_key,
        account=address.account,
        address=address.as_dict(),
        message_ids=["7"],
        created_at=now,
    )
    DeadDestination.objects.create(
        platform=address.platform,
        account=address.account,
        chat_id=address.chat_id,
        reason="blocked",
        since=now,
    )
    ProcessBeat.objects.create(
        name="worker:host/1/1", kind="worker", started_at=now, seen_at=ago(hours=1)
    )
    make_file(turn)
    Upload.objects.create(
        account="telegram", form="photo", sha256="0" * 64, remote_id="AgAC", uploaded_at=now
    )
    Note.objects.create(conversation=turn.conversation, turn=turn, text="remember", created_at=now)
    make_permit(turn, covers="<script>alert('x')</script>")


def ago(**duration: float) -> datetime:
    """An instant in the past: `ago(minutes=5)`."""
    return timezone.now() - timedelta(**duration)


def _changed(row: Model, changes: dict[str, Any]) -> Any:
    if changes:
        type(row)._default_manager.filter(pk=row.pk).update(**changes)
        row.refresh_from_db()
    return row
