"""What the chat shows of a prompt: each change of it is a message owed by the ledger ([Q6])."""

from dataclasses import replace
from datetime import datetime, timedelta

from clarify import approvals, presenting, stepping
from clarify.models import Prompt, PromptKind
from clarify.questions.looking import still_open
from clarify.states import State
from delivery import ledger, registry
from delivery.content import Controls
from delivery.ledger import Debt
from delivery.models import Kind, Obligation
from delivery.states import State as DeliveryState

KINDS = (Kind.PROMPT, Kind.APPROVAL, Kind.CHANGE, Kind.RETIRE, Kind.CONTROL)


def show(prompt: Prompt, now: datetime, *, again: str = "") -> None:
    """Owe the message that asks it.

    Args:
        prompt: The open prompt.
        now: The present.
        again: Tells a later showing of the same prompt from the earlier ones; empty for the first.
    """
    controls = _controls(prompt) if _fits_buttons(prompt) else Controls()
    prompt.has_buttons = bool(controls.rows)
    prompt.obligation = ledger.record(
        Debt(
            conversation_key=prompt.conversation_key,
            trigger=f"prompt:{prompt.pk}{again}",
            address=prompt.destination,
            kind=Kind.APPROVAL if prompt.kind == PromptKind.APPROVAL else Kind.PROMPT,
            content=_text(prompt),
            reply_to=prompt.reply_to,
            controls=controls,
            correlation=prompt.correlation,
        ),
        now=now,
    )
    prompt.save(update_fields=["has_buttons", "obligation"])


def _fits_buttons(prompt: Prompt) -> bool:
    """Whether its platform can show it with buttons: several steps need a message that changes."""
    outlet = registry.outlet(prompt.destination.platform)
    if prompt.is_approval:
        return outlet.supports_buttons
    questions = prompt.question_set.questions
    has_steps = len(questions) > 1 or questions[0].multi_select
    return outlet.supports_buttons and (outlet.supports_editing or not has_steps)


def _controls(prompt: Prompt) -> Controls:
    if prompt.is_approval:
        return approvals.controls(prompt.what, prompt.token, prompt.words)
    return stepping.controls(prompt.question_set, prompt.so_far, prompt.token, prompt.words)


def _text(prompt: Prompt) -> str:
    if prompt.is_approval:
        return approvals.present(
            prompt.what,
            prompt.pk,
            asker=prompt.asker_name,
            timeout=timedelta(seconds=prompt.question_set.timeout_seconds),
            buttons=prompt.has_buttons,
            words=prompt.words,
        )
    if prompt.has_buttons:
        text = stepping.present(prompt.question_set, prompt.so_far, prompt.words)
    else:
        text = presenting.present(prompt.question_set, answered=prompt.given, words=prompt.words)
    return f"{text}\n\n{prompt.words.by_reply}" if _is_heard_by_reply(prompt) else text


def _is_heard_by_reply(prompt: Prompt) -> bool:
    """Whether a plain word may not reach us where it is shown ([Q27])."""
    place = prompt.destination
    outlet = registry.outlet(place.platform)
    return outlet.groups_need_reply and not place.is_private


def refresh(prompt: Prompt, now: datetime) -> None:
    """Owe an edit that shows the prompt as it is now, in place of an earlier one not yet sent."""
    shown = prompt.obligation
    if shown is None:
        return
    _withdraw_changes(shown, now)
    prompt.views += 1
    prompt.save(update_fields=["views"])
    _replace(
        prompt,
        shown,
        _text(prompt),
        f"prompt:{prompt.pk}:view:{prompt.views}",
        controls=_controls(prompt),
        kind=Kind.CHANGE,
        now=now,
    )


def show_below(prompt: Prompt, now: datetime) -> None:
    """Show an open prompt anew, as it is now: what the person typed stands below the old message.

    The old one keeps no buttons.
    """
    shown = prompt.obligation
    if shown is None:  # an earlier question is open; it is shown, as it is then, after that
        return
    _withdraw_changes(shown, now)
    supersede(prompt, shown, now)
    show(prompt, now, again=f":below:{shown.pk}")


def invite(prompt: Prompt, now: datetime) -> None:
    """Owe an invitation to type one's own answer; where it can, the app opens its reply field."""
    prompt.views += 1
    prompt.save(update_fields=["views"])
    question = prompt.question_set.questions[prompt.so_far.current(prompt.question_set.questions)]
    asked = presenting.escape(presenting.clipped(question.header or question.text))
    ledger.record(
        Debt(
            conversation_key=prompt.conversation_key,
            trigger=f"prompt:{prompt.pk}:type:{prompt.views}",
            address=prompt.destination,
            kind=Kind.CONTROL,
            content=f"{prompt.words.type_your_answer} ({asked})",
            reply_to=prompt.reply_to,
            controls=Controls(force_reply=True, placeholder=prompt.words.your_answer),
            correlation=prompt.correlation,
        ),
        now=now,
    )


def _withdraw_changes(shown: Obligation, now: datetime) -> None:
    """Changes of a message that nobody has seen are not owed when another follows."""
    for change in Obligation.objects.filter(
        edits=shown, kind=Kind.CHANGE, state=DeliveryState.PENDING
    ):
        ledger.withdraw_unseen(change, reason="changed again", now=now)


def show_next(conversation_key: str, now: datetime) -> None:
    """Show the oldest open prompt of a conversation, unless one of them is shown ([Q23]).

    Not one whose own time is up: after a silence nobody is asked what is over already.
    """
    asked = still_open(conversation_key).exclude(kind=PromptKind.APPROVAL)
    waiting = list(asked.filter(expires_at__gt=now).order_by("id"))
    if waiting and all(prompt.obligation_id is None for prompt in waiting):
        show(waiting[0], now)


def show_elsewhere(prompt: Prompt, shown: Obligation, now: datetime) -> None:
    """Show an open prompt in another place; its message `shown` is out of reach for ever."""
    _withdraw_changes(shown, now)
    prompt.views += 1
    prompt.save(update_fields=["views"])
    show(prompt, now, again=f":moved:{shown.pk}")


def supersede(prompt: Prompt, shown: Obligation, now: datetime) -> None:
    """The prompt is shown anew: its message `shown` is not owed any more, or points there.

    Only what may have been seen counts as a view: an answer is taken for what was seen ([Q22]).
    """
    if ledger.withdraw_unseen(shown, reason="shown again", now=now):
        return
    point_to_newer(prompt, shown, now)
    prompt.views += 1
    prompt.save(update_fields=["views"])


def point_to_newer(prompt: Prompt, shown: Obligation, now: datetime) -> None:
    """Say on the message `shown` that the prompt is asked again below, and take its buttons."""
    _replace(
        prompt, shown, prompt.words.asked_again, f"prompt:{prompt.pk}:again:{shown.pk}", now=now
    )


def retire(prompt: Prompt, now: datetime) -> None:
    """Close a resolved prompt where it is shown: its summary in place of its buttons ([Q5])."""
    shown = prompt.obligation
    if shown is None or ledger.withdraw_unseen(
        shown, reason="resolved before it was shown", now=now
    ):
        return
    _withdraw_changes(shown, now)
    _replace(prompt, shown, _summary(prompt), f"prompt:{prompt.pk}", now=now)


def _replace(
    prompt: Prompt,
    shown: Obligation,
    content: str,
    trigger: str,
    *,
    controls: Controls = Controls(clear=True),  # noqa: B008 - frozen
    kind: Kind = Kind.RETIRE,
    now: datetime,
) -> None:
    """Owe an edit of `shown`, where the platform can edit."""
    if not registry.outlet(prompt.destination.platform).supports_editing:
        return
    ledger.record(
        Debt(
            conversation_key=prompt.conversation_key,
            trigger=trigger,
            address=prompt.destination,
            kind=kind,
            content=content,
            controls=controls,
            correlation=prompt.correlation,
            edits=shown,
        ),
        now=now,
    )


def messages_of(prompt: Prompt) -> list[Obligation]:
    """Every message that showed, changed or closed `prompt`, oldest first.

    Those of other prompts of the same turn are told apart by what they were owed for, which their
    delivery id says.
    """
    rows = Obligation.objects.filter(correlation=prompt.correlation, kind__in=KINDS)
    candidates = list(rows.prefetch_related("parts").order_by("id"))
    name = f"prompt:{prompt.pk}"
    triggers = [name]
    triggers += [
        f"{name}:{how}:{n}" for how in ("view", "type") for n in range(1, prompt.views + 1)
    ]
    triggers += [
        f"{name}:{how}:{row.pk}" for how in ("again", "below", "moved") for row in candidates
    ]
    found: set[int | None] = {prompt.obligation_id} - {None}
    for row in candidates:
        if row.edits_id in found or row.pk in found or _is_owed_for(row, triggers):
            found.add(row.pk)
    return [row for row in candidates if row.pk in found]


def _is_owed_for(row: Obligation, triggers: list[str]) -> bool:
    debt = Debt(
        conversation_key=row.conversation_key,
        trigger="",
        address=row.destination,
        kind=Kind(row.kind),
        content=row.content,
    )
    return any(replace(debt, trigger=name).delivery_id == row.delivery_id for name in triggers)


def _summary(prompt: Prompt) -> str:
    """The resolved prompt in a few words: the question beside its answer, or what became of it."""
    if prompt.is_approval:
        return approvals.summary(
            prompt.what,
            prompt.answers,
            State(prompt.state),
            prompt.pk,
            by=prompt.closed_by,
            words=prompt.words,
        )
    return presenting.summary(
        prompt.question_set,
        prompt.given,
        State(prompt.state),
        by=prompt.closed_by,
        words=prompt.words,
    )
