"""The English words people read about a prompt. Pure; a translation replaces the tables."""

from collections.abc import Mapping, Sequence

from clarify.readings import Hint
from clarify.risks import RiskLevel
from clarify.states import State

OTHER = "Other…"
SKIP = "Skip"
BACK = "‹ Back"
SUBMIT = "Submit"
SUBMIT_COUNT = "Submit ({count})"
YOUR_ANSWER = "Your answer"
BY_TOGGLES = "Choose any, then press Submit; or just type your answer."
CHOOSE_FIRST = "Choose at least one first, or press Skip."
NOT_SHOWN_NOW = "That button belongs to another question; here is the one that is open."
BY_BUTTON = "Press a button, or just type your answer."
BY_NUMBERED_BUTTON = "Press the number of an option, or just type your answer."
BY_REPLY = "*In this group, type your answer as a reply to this message: I may not hear it else.*"
OTHER_BY_TEXT = "Other: reply with your own words."
OTHER_BY_NUMBER = "Other: reply with a number and your own words, as in `{number}: my words`."
ANSWER_EVERY = "Every question needs an answer; nothing was stored."
TYPE_YOUR_ANSWER = "Type your answer and send it."
STAFF = "staff"  # who closed a question for somebody else
ASKED_AGAIN = "This question is asked again below."

APPROVAL_NEEDED = "Approval needed"
APPROVE = "✅ Approve once"
DENY = "✋ Deny"
REACHES: Mapping[str, str] = {
    "session": "Approve for this session",
    "always": "Always approve this",
}
LEVELS: Mapping[RiskLevel, str] = {
    RiskLevel.LOW: "low risk",
    RiskLevel.MEDIUM: "medium risk",
    RiskLevel.HIGH: "⚠️ high risk",
    RiskLevel.CRITICAL: "🛑 critical risk",
}
LEFT_OUT = "*{count} characters of it are not shown here.*"
LASTING_COVERS = "*A lasting approval covers {covers} ({spans}).*"
SPANS: Mapping[str, str] = {
    "session": "in this session, for {time}",
    "always": "always: in this chat, for {time}",
}
FOR_WHOM = "Asked for {name}."
ENDS_IN = "It is denied by itself after {time}."
RULE_BY_BUTTON = "Press a button, or send `/approve {number}` or `/deny {number} reason`."
RULE_BY_COMMAND = "Send `/approve {number}` or `/deny {number} reason`."
NOT_ALLOWED = (
    "You may not approve this ({level}). Staff can let you, in the allowlist; they can also decide"
    " it themselves in the Control UI."
)
RULE_PLAINLY = "Reply with yes or no, or send `/approve {number}` or `/deny {number} reason`."
CLOSED_APPROVAL = "This is decided already. {ending}."
APPROVED, DENIED = "Approved", "Denied"
APPROVED_FOR: Mapping[str, str] = {
    "once": "",
    "session": " for this session",
    "always": ", from now on",
}
NOT_RULED: Mapping[State, str] = {
    State.PENDING: "Not decided",
    State.SKIPPED: "Not approved: it was skipped",
    State.EXPIRED: "Not approved: nobody decided in time",
    State.CANCELLED: "Not approved: it was cancelled",
    State.UNDELIVERABLE: "Not approved: the question could not be delivered",
}
DENIED_NOTE = (
    "A person refused this operation; it was not run. Do not try it again in this form, and do not"
    " try to reach the same by another way; go on without it or ask what they want instead."
)
NOT_APPROVED_NOTE = (
    "Nobody approved this operation, so it was not run. Go on without it, and say so in your"
    " answer."
)

ENDINGS: Mapping[State, str] = {
    State.PENDING: "open",
    State.ANSWERED: "no answer",
    State.SKIPPED: "skipped",
    State.EXPIRED: "expired, not answered in time",
    State.CANCELLED: "cancelled",
    State.UNDELIVERABLE: "could not be delivered",
}

HINTS: Mapping[str, str] = {
    "out_of_range": (
        "There is no option {said}. Reply with one of {first} to {last}, with an option's text, "
        "or `other: {said}` if that is your own answer."
    ),
    "ambiguous": (
        "That fits more than one option: {options}. Reply with its number or its full text."
    ),
    "ambiguous_number": (
        "{said} could mean more than one option: {options}. Reply with the full text of one."
    ),
    "choose_one": "Only one option can be chosen here. Reply with one of: {options}.",
    "own_words": "Reply with your own answer in your own words.",
    "missing": (
        "Nothing was stored yet: {questions} also needs an answer. "
        "Reply to each by its number, for example `{example}`."
    ),
    "which_question": (
        "It is not clear which question that answers. Still open: {questions}. "
        "Reply to each by its number, for example `{example}`."
    ),
}

_CLOSED: Mapping[State, str] = {
    State.SKIPPED: "This question was skipped",
    State.EXPIRED: "This question is closed: the time to answer ran out",
    State.CANCELLED: "This question is closed: it was cancelled",
    State.UNDELIVERABLE: "This question is closed: it could not be delivered",
}

_LIST_SEPARATOR = " · "


def say(hint: Hint) -> str:
    """The hint as one short message to the person, in plain text."""
    params = {
        name: _LIST_SEPARATOR.join(value) if isinstance(value, tuple) else value
        for name, value in hint.params.items()
    }
    return HINTS[hint.code].format_map(params)


def closed(
    state: State, answers: Mapping[str, Sequence[str]], *, by: str = "", on: str = ""
) -> str:
    """What became of a closed prompt, in one line of plain text.

    Args:
        state: How it ended.
        answers: What was answered, by key.
        by: Who closed it; empty if nobody did.
        on: On which surface; empty if unknown.
    """
    who = "".join([f" by {by}" if by else "", f" on {on}" if on else ""])
    if state is State.ANSWERED:
        said = "; ".join(", ".join(values) or "none" for values in answers.values())
        return f"Already answered: {said}{who}"
    return (
        f"{_CLOSED.get(state, 'This question is closed')}{who if state is State.SKIPPED else ''}."
    )


def taken(state: State, answers: Mapping[str, Sequence[str]]) -> str:
    """What the person reads whose answer has just closed a prompt, in one line of plain text."""
    if state is State.ANSWERED:
        return "Answered: " + "; ".join(", ".join(values) or "none" for values in answers.values())
    return f"{ENDINGS[state].capitalize()}."
