"""Reading consent from plain words that quote an approval message ([Q24]). Pure and total.

Approving must be hard to do by accident: a text approves only if it holds nothing but words of
assent, courtesies and the marks around them. A text denies if it begins with a refusal; what
follows is the reason. A question, a condition, hesitation or both at once is neither.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import regex

from clarify.assent import (
    ASSENT,
    CONDITIONS,
    COURTESIES,
    COURTESY,
    REFUSAL,
    REFUSALS,
    REFUSALS_WITH_REASON,
    without_courtesy,
)
from clarify.folding import clean, fold, is_blank

LONGEST_ASSENT = 120  # characters; whoever approves says little
LONGEST_REFUSAL = 4_000  # characters, reason included

_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{So}]"
_APART = rf"(?:[\s,.!。！、，،]+|(?<={_UNSPACED})(?={COURTESY})|(?=\p{{So}}))"
_ASSENTING = regex.compile(
    rf"(?:{COURTESY}{_APART})*(?:{ASSENT})(?:{_APART}(?:{ASSENT}|{COURTESY}))*[\s.!。！]*"
)
_TRAILING_OFF = ("..", "。。", "、、")
_ASKING = regex.compile(r"[?？؟⁇⁈⁉‽❓❔¿]")
_STOP = regex.compile(r"[,.!;:(，。！；：（、،؛\n]|\s[-–—]\s")
_BEFORE_REASON = " \t\n,.!;:(-–—，。！；：（、،؛"
_AFTER_REASON = " \t\n,.;:)，。；：）、،؛"
_MOST_REPEATED = 4  # "no, no, stop, don't"
_MOST_WORDS = 5  # of a refusal that may be followed by its reason with no mark between


class Verdict(StrEnum):
    """What somebody's words do to an approval."""

    APPROVE = "approve"
    DENY = "deny"
    UNCLEAR = "unclear"  # nothing may follow from it but a hint


@dataclass(frozen=True)
class Consent:
    """What was said to an approval; a `reason` comes only with a denial, as it was typed."""

    verdict: Verdict
    reason: str = ""


APPROVE = Consent(Verdict.APPROVE)
UNCLEAR = Consent(Verdict.UNCLEAR)


def read_consent(text: str) -> Consent:
    """Whether `text`, which quotes an approval message, approves or denies.

    Never ask it about a text that quotes nothing: a bare "yes" belongs to the conversation.

    Args:
        text: What the person typed, without the quotation; anything at all.
    """
    said = clean(text).strip()
    if is_blank(said) or len(said) > LONGEST_REFUSAL or _ASKING.search(said):
        return UNCLEAR
    if _assents(said):
        return APPROVE
    reason = _reason(said)
    if reason is None or CONDITIONS.search(fold(reason)) or _takes_it_back(reason):
        return UNCLEAR
    return Consent(Verdict.DENY, reason)


def _assents(said: str) -> bool:
    """Whether there is assent and nothing else; "ok..." and "yes," are about to go on."""
    if len(said) > LONGEST_ASSENT:
        return False
    core = fold(said)
    if any(mark in core for mark in _TRAILING_OFF):
        return False
    return _ASSENTING.fullmatch(core) is not None


def _reason(said: str) -> str | None:
    """What follows the refusals `said` begins with, as typed; None if it begins with none."""
    reason = _after_refusal(said)
    for _ in range(_MOST_REPEATED):
        after = None if reason is None else _after_refusal(reason)
        if after is None:
            return reason
        reason = after
    return reason


def _after_refusal(said: str) -> str | None:
    """What follows one refusal at the beginning; None if there is none.

    A plain "no" must be followed by a mark: "no problem" and "不错" refuse nothing.
    """
    stop = _STOP.search(said)
    head = said[: stop.start()] if stop else said
    if without_courtesy(fold(head)) in REFUSALS:
        return _bare(said[len(head) :])
    for begin, end in _openings(head):
        if without_courtesy(fold(head[:begin])) in REFUSALS_WITH_REASON:
            return _bare(said[end:])
    return None


def _bare(reason: str) -> str:
    """A reason without the marks around it; "thanks" is none."""
    bare = reason.lstrip(_BEFORE_REASON).rstrip(_AFTER_REASON)
    return "" if COURTESIES.fullmatch(fold(bare)) else bare


def _openings(head: str) -> Iterator[tuple[int, int]]:
    """Where the first words of `head` end and the words after them begin, the longest first."""
    gaps = [gap.span() for gap in regex.finditer(r"\s+", head)]
    yield from reversed(gaps[:_MOST_WORDS])


def _takes_it_back(reason: str) -> bool:
    """Whether a part of the reason begins or ends with assent, or denies the denial."""
    parts = (without_courtesy(fold(part)) for part in _STOP.split(reason))
    return any(
        regex.match(rf"(?:{ASSENT})(?!\w)", part)
        or regex.search(rf"(?<!\w)(?:{ASSENT})$", part)
        or regex.search(rf"(?<!\w)(?:{REFUSAL})(?!\w)", part)
        for part in parts
    )
