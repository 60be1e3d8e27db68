"""What the model gets back from an asking tool, once its prompt is closed. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from clarify.schema import QuestionSet
from clarify.states import State

REASONS: Mapping[State, str] = {
    State.SKIPPED: "skipped",
    State.EXPIRED: "expired",
    State.CANCELLED: "cancelled",
    State.UNDELIVERABLE: "delivery_failed",
}
SUPERSEDED = "superseded"
UNDELIVERED = "delivery_failed"  # it certainly reached nobody
UNSURE = "delivery_unknown"  # it may have reached nobody
NOT_SHOWN = "not_shown"  # an earlier question was open all the time
# What is on record and says more than the state does: no silence of the person's.
TOLD = frozenset({SUPERSEDED, UNDELIVERED, UNSURE, NOT_SHOWN})

_CLARIFY_ENDINGS: Mapping[str, str] = {
    "skipped": "[user declined to answer]",
    "cancelled": "[question was cancelled]",
    UNDELIVERED: "[question could not be delivered to the user]",
    UNSURE: "[it is not known whether the question reached the user; no answer came]",
    NOT_SHOWN: "[question was not shown to the user: an earlier one was still open]",
    SUPERSEDED: "[question was superseded]",
}


def tool_result(
    kind: str,
    question_set: QuestionSet,
    answers: Mapping[str, Sequence[str]],
    state: State,
    *,
    reason: str = "",
) -> dict[str, Any]:
    """The result of the tool call that asked.

    Args:
        kind: `clarify` or `ask_user`.
        question_set: What was asked.
        answers: What was answered, by key, in the order of the questions or any other; empty
            values mean "none of them". Partial answers of an unfinished prompt are passed on.
        state: How the prompt ended; not pending.
        reason: What is on record about the ending; only one of `TOLD` changes the result.
    """
    is_answered = state is State.ANSWERED
    cause = "" if is_answered else reason if reason in TOLD else REASONS[state]
    if kind == "clarify":
        return _clarify_result(question_set, answers, cause)
    given = {q.key: list(answers[q.key]) for q in question_set.questions if q.key in answers}
    if is_answered:
        return {"status": "answered", "answers": {"answers": given}}
    partial = {"answers": {"answers": given}} if given else {}
    return {"status": "no_answer", "reason": cause, **partial}


def _clarify_result(
    question_set: QuestionSet, answers: Mapping[str, Sequence[str]], reason: str
) -> dict[str, Any]:
    question = question_set.questions[0]
    if not reason:
        response = ", ".join(answers.get(question.key, ())) or "[none of the choices]"
    elif reason == "expired":
        waited = duration(question_set.timeout_seconds)
        response = f"[user did not respond within {waited}]"
    else:
        response = _CLARIFY_ENDINGS[reason]
    return {
        "question": question.text,
        "choices_offered": list(question.labels) or None,
        "user_response": response,
    }


def duration(seconds: int) -> str:
    """A number of seconds in its largest units: `10m`, `1h`, `1h30m`, `90s` as `1m30s`."""
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    parts = [(hours, "h"), (minutes, "m"), (left, "s")]
    return "".join(f"{amount}{unit}" for amount, unit in parts if amount) or "0s"
