"""What staff can do to a question, an approval, a lasting approval; each is confirmed first."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils import timezone

from clarify import staff
from clarify.approvals import LONGEST_REASON
from clarify.errors import ClarifyError
from clarify.models import Prompt
from delivery.pages import SURFACE, Deed

ERRORS = (ClarifyError,)


class AnswerForm(forms.Form):
    """What the person would have typed."""

    text = forms.CharField(
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 60}),
        label="Answer",
        help_text="A number, a label or own words; for several questions: 1b 2a 3: own words.",
    )


class ExtendForm(forms.Form):
    """How much more time."""

    minutes = forms.IntegerField(
        min_value=1,
        max_value=int(staff.LONGEST_EXTENSION.total_seconds() // 60),
        initial=30,
        help_text="Counted from the deadline, or from now if that has passed.",
    )


class DenyForm(forms.Form):
    """Why an operation may not run."""

    reason = forms.CharField(
        max_length=LONGEST_REASON,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 60}),
        help_text="The agent reads it and goes on with it; people in the chat read it, too.",
    )


def _answer(row: Prompt, given: dict[str, Any], actor: str, now: datetime) -> str:
    return staff.answer(row, given["text"], actor=actor, surface=SURFACE, now=now)


def _extend(row: Prompt, given: dict[str, Any], actor: str, now: datetime) -> str:
    more = timedelta(minutes=given["minutes"])
    until = timezone.localtime(staff.extend(row, by=more, actor=actor, now=now))
    return f"open until {until:%Y-%m-%d %H:%M:%S}"


def _approve(row: Prompt, _given: dict[str, Any], actor: str, now: datetime) -> str:
    return staff.rule(row, approved=True, actor=actor, surface=SURFACE, now=now)


def _deny(row: Prompt, given: dict[str, Any], actor: str, now: datetime) -> str:
    reason = given["reason"]
    return staff.rule(row, approved=False, reason=reason, actor=actor, surface=SURFACE, now=now)


APPROVE = Deed(
    title="Approve this operation, once?",
    past="approved",
    warning="It runs as soon as you do, and your name stands beside it. Read what will run.",
    do=_approve,
    errors=ERRORS,
    is_for_one=True,
    confirm="Approve once",
)
DENY = Deed(
    title="Deny this operation?",
    past="denied",
    warning="It does not run; the agent is told, and your name stands beside it.",
    do=_deny,
    errors=ERRORS,
    form=DenyForm,
    confirm="Deny",
)
ANSWER = Deed(
    title="Answer on behalf of the person who was asked?",
    warning="The agent goes on with this answer; the chat shows that staff gave it.",
    past="answered",
    do=_answer,
    errors=ERRORS,
    form=AnswerForm,
    foresee=lambda row, given: staff.foresee(row, given["text"]),
    is_for_one=True,
    confirm="Give this answer",
)
RESEND = Deed(
    title="Show these questions again?",
    past="shown again",
    warning="The earlier message then points to the new one.",
    do=lambda row, _given, actor, now: staff.resend(row, actor=actor, now=now),
    errors=ERRORS,
)
EXTEND = Deed(
    title="Give more time to answer?",
    past="extended",
    do=_extend,
    errors=ERRORS,
    form=ExtendForm,
)
EXPIRE = Deed(
    title="Close these questions as if their time had run out?",
    past="expired; the agent is told",
    warning="The agent goes on without an answer.",
    do=lambda row, _given, actor, now: staff.expire(row, actor=actor, surface=SURFACE, now=now),
    errors=ERRORS,
)
CANCEL = Deed(
    title="Withdraw these questions?",
    past="cancelled; the agent is told",
    warning="The agent goes on without an answer.",
    do=lambda row, _given, actor, now: staff.cancel(row, actor=actor, surface=SURFACE, now=now),
    errors=ERRORS,
)
REVOKE = Deed(
    title="Revoke these lasting approvals?",
    past="revoked",
    warning="The next operation that they covered is asked for again. What ran, ran.",
    do=lambda row, _given, actor, now: staff.revoke(row, actor=actor, now=now),
    errors=ERRORS,
)
