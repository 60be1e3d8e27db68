"""The words people read about a prompt: one value for each language. Pure.

`ENGLISH` stands here. `Words.through` makes the same in another language out of a function that
translates one text, so that nothing below the edge asks which language it is ([T5]).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from string import Formatter
from types import MappingProxyType
from typing import Any

from clarify.readings import Hint
from clarify.risks import RiskLevel
from clarify.states import State

# What the agent reads stays in the language its instructions are written in.
DENIED_NOTE = (
    "A person refused this operation; it was not run. Do not try it again in this form, and do not"
    " try to reach the same by another way; go on without it or ask what they want instead."
)
NOT_APPROVED_NOTE = (
    "Nobody approved this operation, so it was not run. Go on without it, and say so in your"
    " answer."
)
_LIST_SEPARATOR = " · "


def _(text: str) -> str:
    """`text`, marked for those who collect what is to be translated."""
    return text


def _table(**texts: str) -> Any:
    return field(default_factory=lambda: MappingProxyType(dict(texts)))


def _by(texts: Mapping[Any, str]) -> Any:
    return field(default_factory=lambda: MappingProxyType(dict(texts)))


@dataclass(frozen=True, kw_only=True)
class Words:
    """All that is said about prompts, in one language; what stands in braces is put in later."""

    # Beside and on buttons
    other: str = _("Other…")
    skip: str = _("Skip")
    back: str = _("‹ Back")
    submit: str = _("Submit")
    submit_count: str = _("Submit ({count})")
    your_answer: str = _("Your answer")
    by_toggles: str = _("Choose any, then press Submit; or just type your answer.")
    by_button: str = _("Press a button, or just type your answer.")
    by_numbered_button: str = _("Press the number of an option, or just type your answer.")
    choose_first: str = _("Choose at least one first, or press Skip.")
    not_shown_now: str = _("That button belongs to another question; here is the one that is open.")
    type_your_answer: str = _("Type your answer and send it.")

    # How to answer in words
    by_reply: str = _(
        "*In this group, type your answer as a reply to this message: I may not hear it else.*"
    )
    in_own_words: str = _("Reply with your answer, or `/skip` to decline.")
    one_by_number: str = _("Reply with the number or the text of one option.")
    one_by_letter: str = _("Reply with the letter or the text of one option.")
    any_by_number: str = _("Choose any: reply with numbers or texts, for example `{example}`.")
    any_by_letter: str = _("Choose any: reply with letters or texts, for example `{example}`.")
    or_skip: str = _("`/skip` to decline.")
    other_by_text: str = _("Other: reply with your own words.")
    other_by_number: str = _(
        "Other: reply with a number and your own words, as in `{number}: my words`."
    )
    all_at_once: str = _("Answer all at once, for example `{example}`, or one after another.")
    your_own_words: str = _("your own words")
    answer_every: str = _("Every question needs an answer; nothing was stored.")

    # A prompt as it stands
    one_left: str = _("One question is left:")
    several: str = _("{count} questions:")
    which_of: str = _("Question {number} of {count}")
    choose_any: str = _("choose any")
    asked_again: str = _("This question is asked again below.")
    staff: str = _("staff")  # who closed a question for somebody else
    none: str = _("none")
    endings: Mapping[State, str] = _by(
        {
            State.PENDING: _("open"),
            State.ANSWERED: _("no answer"),
            State.SKIPPED: _("skipped"),
            State.EXPIRED: _("expired, not answered in time"),
            State.CANCELLED: _("cancelled"),
            State.UNDELIVERABLE: _("could not be delivered"),
        }
    )
    closed_who: Mapping[State, str] = _by(
        {
            State.PENDING: _("Open"),
            State.ANSWERED: _("Answered"),
            State.SKIPPED: _("Skipped"),
            State.EXPIRED: _("Expired"),
            State.CANCELLED: _("Cancelled"),
            State.UNDELIVERABLE: _("Undeliverable"),
        }
    )
    by: str = _("by {name}")
    on: str = _("on {surface}")
    closed_as: Mapping[State, str] = _by(
        {
            State.PENDING: _("This question is closed"),
            State.SKIPPED: _("This question was skipped"),
            State.EXPIRED: _("This question is closed: the time to answer ran out"),
            State.CANCELLED: _("This question is closed: it was cancelled"),
            State.UNDELIVERABLE: _("This question is closed: it could not be delivered"),
        }
    )
    already: str = _("Already answered: {answers}")
    answered: str = _("Answered: {answers}")

    # Approvals
    approval_needed: str = _("Approval needed")
    approve: str = _("✅ Approve once")
    deny: str = _("✋ Deny")
    reaches: Mapping[str, str] = _table(
        session=_("Approve for this session"), always=_("Always approve this")
    )
    levels: Mapping[RiskLevel, str] = _by(
        {
            RiskLevel.LOW: _("low risk"),
            RiskLevel.MEDIUM: _("medium risk"),
            RiskLevel.HIGH: _("⚠️ high risk"),
            RiskLevel.CRITICAL: _("🛑 critical risk"),
        }
    )
    left_out: str = _("*{count} characters of it are not shown here.*")
    lasting_covers: str = _("*A lasting approval covers {covers} ({spans}).*")
    spans: Mapping[str, str] = _table(
        session=_("in this session, for {time}"), always=_("always: in this chat, for {time}")
    )
    for_whom: str = _("Asked for {name}.")
    ends_in: str = _("It is denied by itself after {time}.")
    rule_by_button: str = _(
        "Press a button, or send `/approve {number}` or `/deny {number} reason`."
    )
    rule_by_command: str = _("Send `/approve {number}` or `/deny {number} reason`.")
    rule_plainly: str = _(
        "Reply with yes or no, or send `/approve {number}` or `/deny {number} reason`."
    )
    not_allowed: str = _(
        "You may not approve this ({level}). Staff can let you, in the allowlist; they can also"
        " decide it themselves in the Control UI."
    )
    decided_already: str = _("This is decided already. {ending}.")
    approved: Mapping[str, str] = _table(
        once=_("Approved"),
        session=_("Approved for this session"),
        always=_("Approved, from now on"),
    )
    approved_by: Mapping[str, str] = _table(
        once=_("Approved by {name}"),
        session=_("Approved by {name} for this session"),
        always=_("Approved by {name}, from now on"),
    )
    denied: str = _("Denied")
    denied_by: str = _("Denied by {name}")
    not_ruled: Mapping[State, str] = _by(
        {
            State.PENDING: _("Not decided"),
            State.SKIPPED: _("Not approved: it was skipped"),
            State.EXPIRED: _("Not approved: nobody decided in time"),
            State.CANCELLED: _("Not approved: it was cancelled"),
            State.UNDELIVERABLE: _("Not approved: the question could not be delivered"),
        }
    )

    hints: Mapping[str, str] = _table(
        out_of_range=_(
            "There is no option {said}. Reply with one of {first} to {last}, with an option's text,"
            " or `other: {said}` if that is your own answer."
        ),
        ambiguous=_(
            "That fits more than one option: {options}. Reply with its number or its full text."
        ),
        ambiguous_number=_(
            "{said} could mean more than one option: {options}. Reply with the full text of one."
        ),
        choose_one=_("Only one option can be chosen here. Reply with one of: {options}."),
        own_words=_("Reply with your own answer in your own words."),
        missing=_(
            "Nothing was stored yet: {questions} also needs an answer. Reply to each by its number,"
            " for example `{example}`."
        ),
        which_question=_(
            "It is not clear which question that answers. Still open: {questions}. Reply to each by"
            " its number, for example `{example}`."
        ),
    )

    @classmethod
    def through(cls, translate: Callable[[str], str]) -> "Words":
        """The words as `translate` gives each of them.

        A translation that lost or invented a placeholder would break where it is used; such a one
        is left in English.
        """
        return cls(**{f.name: _through(getattr(ENGLISH, f.name), translate) for f in fields(cls)})

    def say(self, hint: Hint) -> str:
        """The hint as one short message to the person, in plain text."""
        params = {
            name: _LIST_SEPARATOR.join(value) if isinstance(value, tuple) else value
            for name, value in hint.params.items()
        }
        return self.hints[hint.code].format_map(params)

    def closed(
        self, state: State, answers: Mapping[str, Sequence[str]], *, by: str = "", on: str = ""
    ) -> str:
        """What became of a closed prompt, in one line of plain text.

        Args:
            state: How it ended.
            answers: What was answered, by key.
            by: Who closed it; empty if nobody did.
            on: On which surface; empty if unknown.
        """
        who = self.who(by, on)
        if state is State.ANSWERED:
            told = self.already.format(answers=self._given(answers))
            return f"{told} {who}" if who else told
        told = self.closed_as[state]
        return f"{told} {who}." if who and state is State.SKIPPED else f"{told}."

    def taken(self, state: State, answers: Mapping[str, Sequence[str]]) -> str:
        """What the person reads whose answer has just closed a prompt, in one plain line."""
        if state is State.ANSWERED:
            return self.answered.format(answers=self._given(answers))
        ending = self.endings[state]
        return f"{ending[:1].upper()}{ending[1:]}."

    def who(self, name: str, surface: str = "") -> str:
        """Who did it, and on which surface, as far as that is known."""
        by = self.by.format(name=name) if name else ""
        on = self.on.format(surface=surface) if surface else ""
        return " ".join(filter(None, [by, on]))

    def _given(self, answers: Mapping[str, Sequence[str]]) -> str:
        return "; ".join(", ".join(values) or self.none for values in answers.values())


def _through(said: Any, translate: Callable[[str], str]) -> Any:
    if isinstance(said, str):
        told = translate(said)
        return told if _places(told) == _places(said) else said
    return MappingProxyType({key: _through(text, translate) for key, text in said.items()})


def _places(text: str) -> set[str | None] | None:
    """The names of what is put into `text`; None if that cannot be said."""
    try:
        return {name for _before, name, _how, _as in Formatter().parse(text)} - {None}
    except ValueError:
        return None


ENGLISH = Words()
