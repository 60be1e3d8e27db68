"""What the chat shows of a prompt: each change of it is a message owed by the ledger ([Q6])."""

from datetime import datetime

from clarify import buttons, presenting, wording
from clarify.models import Prompt, PromptKind
from clarify.questions.looking import still_open
from clarify.states import State
from delivery import ledger, registry
from delivery.content import Controls
from delivery.ledger import Debt
from delivery.models import Kind, Obligation


def show(prompt: Prompt, now: datetime, *, again: str = "") -> None:
    """Owe the message that asks it.

    Args:
        prompt: The open prompt.
        now: The present.
        again: Tells a later showing of the same prompt from the earlier ones; empty for the first.
    """
    question_set = prompt.question_set
    outlet = registry.outlet(prompt.destination.platform)
    controls = Controls()
    if outlet.supports_buttons and len(question_set.questions) == 1:
        controls = buttons.controls(question_set.questions[0], prompt.token)
    prompt.has_buttons = bool(controls.rows)
    prompt.obligation = ledger.record(
        Debt(
            conversation_key=prompt.conversation_key,
            trigger=f"prompt:{prompt.pk}{again}",
            address=prompt.destination,
            kind=Kind.APPROVAL if prompt.kind == PromptKind.APPROVAL else Kind.PROMPT,
            content=presenting.present(
                question_set, buttons=prompt.has_buttons, answered=prompt.given
            ),
            reply_to=prompt.reply_to,
            controls=controls,
            correlation=prompt.correlation,
        ),
        now=now,
    )
    prompt.save(update_fields=["has_buttons", "obligation"])


def show_next(conversation_key: str, now: datetime) -> None:
    """Show the oldest open prompt of a conversation, if it still waits for its turn ([Q23])."""
    oldest = still_open(conversation_key).order_by("id").first()
    if oldest is not None and oldest.obligation_id is None:
        show(oldest, now)


def point_to_newer(prompt: Prompt, shown: Obligation, now: datetime) -> None:
    """Say on the message `shown` that the prompt is asked again below, and take its buttons."""
    _replace(
        prompt, shown, str(wording.ASKED_AGAIN), f"prompt:{prompt.pk}:again:{shown.pk}", now=now
    )


def retire(prompt: Prompt, now: datetime) -> None:
    """Close a resolved prompt where it is shown: its summary in place of its buttons ([Q5])."""
    shown = prompt.obligation
    if shown is None or ledger.withdraw_unseen(
        shown, reason="resolved before it was shown", now=now
    ):
        return
    _replace(prompt, shown, _summary(prompt), f"prompt:{prompt.pk}", now=now)


def _replace(
    prompt: Prompt, shown: Obligation, content: str, trigger: str, *, now: datetime
) -> None:
    """Owe an edit of `shown`, where the platform can edit."""
    if not registry.outlet(prompt.destination.platform).supports_editing:
        return
    ledger.record(
        Debt(
            conversation_key=prompt.conversation_key,
            trigger=trigger,
            address=prompt.destination,
            kind=Kind.RETIRE,
            content=content,
            controls=Controls(clear=True),
            correlation=prompt.correlation,
            edits=shown,
        ),
        now=now,
    )


def _summary(prompt: Prompt) -> str:
    """The resolved prompt in a few words: the question beside its answer, or what became of it."""
    return presenting.summary(
        prompt.question_set, prompt.given, State(prompt.state), by=prompt.closed_by
    )
