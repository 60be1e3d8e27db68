"""What a reply turned out to be. Pure values, no text of ours: the words are in `wording`."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Hint:
    """Why a reply was not taken, as a code and its arguments; `wording.say` gives the words.

    Attributes:
        code: A key of `wording.HINTS`.
        params: What the words are about; a tuple is a list to be shown.
    """

    code: str
    params: Mapping[str, str | int | tuple[str, ...]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Chosen:
    """Options were chosen.

    Attributes:
        labels: The labels as the agent wrote them, in the order of the options, none twice.
            Empty if the person said "none" to a question that takes several.
        others: Own words that came with them ("1, and our own cluster"); multi-select only.
    """

    labels: tuple[str, ...]
    others: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        """What is stored as the answer."""
        return self.labels + self.others


@dataclass(frozen=True)
class Own:
    """The person answered in their own words."""

    text: str

    @property
    def values(self) -> tuple[str, ...]:
        """What is stored as the answer."""
        return (self.text,)


@dataclass(frozen=True)
class Declined:
    """The person does not want to answer, or wants none of what is on offer."""


@dataclass(frozen=True)
class Unclear:
    """It is an answer, but not one answer; nothing may be stored.

    Attributes:
        hint: What to tell the person, once.
    """

    hint: Hint

    @property
    def reason(self) -> str:
        """The hint's code, as the reason to write down for staff."""
        return self.hint.code


@dataclass(frozen=True)
class Nothing:
    """There was nothing to read: empty, white space or zero-width characters only."""


Reading = Chosen | Own | Declined | Unclear | Nothing


@dataclass(frozen=True)
class Doubt:
    """One question that the reply did not settle, and why."""

    key: str
    hint: Hint


@dataclass(frozen=True, kw_only=True)
class SetReading:
    """What a reply says to a set of questions.

    Attributes:
        answers: The questions newly answered, and with what; empty values mean the person said
            "none" or skipped that one question.
        declined: The whole set was declined; `answers` is then empty.
        unclear: The questions to be asked about again, in their order; one hint each.
        still_open: The keys that have no answer yet after this reply, in their order.
        is_nothing: There was nothing to read.
    """

    answers: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    declined: bool = False
    unclear: tuple[Doubt, ...] = ()
    still_open: tuple[str, ...] = ()
    is_nothing: bool = False

    @property
    def is_complete(self) -> bool:
        """Every question has its answer now."""
        return not self.declined and not self.still_open

    @property
    def hints(self) -> tuple[Hint, ...]:
        """What to tell the person, each thing once."""
        return tuple(
            doubt.hint
            for place, doubt in enumerate(self.unclear)
            if doubt.hint not in [earlier.hint for earlier in self.unclear[:place]]
        )
