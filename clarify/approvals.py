"""What a person approves, and how it is put to them. Pure.

An `Operation` is exactly what will run, as it is shown: an approval is bound to its `digest`, so
that a changed operation needs a new one ([Q19b]).
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any

from clarify.buttons import button_data
from clarify.presenting import escape
from clarify.redaction import excerpt, redact, visible
from clarify.results import REASONS, duration
from clarify.risks import RiskLevel
from clarify.states import State
from clarify.wording import DENIED_NOTE, ENGLISH, NOT_APPROVED_NOTE, Words
from delivery.content import Button, ButtonStyle, Controls

LONGEST_SHOWN = 1500  # characters of an operation that a chat message shows
LONGEST_REASON = 500  # characters that are kept


class Reach(StrEnum):
    """For how long an approval counts."""

    ONCE = "once"
    SESSION = "session"  # the same operation again, in this session
    ALWAYS = "always"  # the same operation again, in this conversation


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What a tool call would do.

    Attributes:
        tool: The tool's name.
        summary: What it does, one line.
        detail: Exactly what will run, with secrets hidden and invisible characters shown.
        level: How much harm it can do.
        digest: Of the tool and its arguments as they will be run.
        lasting_key: What a lasting approval would cover; empty where none may be given.
        covers: The same in words.
        lasts: The lasting approvals on offer, and for how many seconds each would count.
    """

    tool: str
    summary: str
    detail: str
    level: RiskLevel
    digest: str
    lasting_key: str = ""
    covers: str = ""
    lasts: Mapping[Reach, int] = field(default_factory=dict)

    @property
    def reaches(self) -> tuple[Reach, ...]:
        """The approvals on offer."""
        return (Reach.ONCE, *self.lasts)

    def as_dict(self) -> dict[str, Any]:
        """The operation as JSON, for a column."""
        lasts = {reach.value: seconds for reach, seconds in self.lasts.items()}
        return {**vars(self), "level": self.level.value, "lasts": lasts}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "Operation":
        """The operation that `as_dict` wrote."""
        lasts = {Reach(reach): int(seconds) for reach, seconds in fields["lasts"].items()}
        return cls(**{**fields, "level": RiskLevel(fields["level"]), "lasts": lasts})


@dataclass(frozen=True)
class Ruling:
    """What a person decided about an operation."""

    approved: bool
    reach: Reach = Reach.ONCE
    reason: str = ""

    def as_answers(self) -> dict[str, list[str]]:
        """The ruling as the answers of its prompt."""
        decision = "approved" if self.approved else "denied"
        reason = {"reason": [self.reason[:LONGEST_REASON]]} if self.reason else {}
        return {"decision": [decision], "reach": [self.reach.value], **reason}

    @classmethod
    def from_answers(cls, answers: Mapping[str, Any]) -> "Ruling":
        """The ruling that `as_answers` wrote."""
        return cls(
            approved=answers["decision"][0] == "approved",
            reach=Reach(answers["reach"][0]),
            reason=next(iter(answers.get("reason", ())), ""),
        )


@dataclass(frozen=True)
class Lasting:
    """How far lasting approvals of one reach go.

    Attributes:
        up_to: The highest level that may be approved so; None for none.
        seconds: How long such an approval counts.
    """

    up_to: RiskLevel | None
    seconds: int


def lasts(level: RiskLevel, lasting_key: str, policy: Mapping[Reach, Lasting]) -> dict[Reach, int]:
    """The lasting approvals on offer for an operation of that level, and their seconds."""
    if not lasting_key:
        return {}
    return {
        reach: lasting.seconds
        for reach, lasting in policy.items()
        if lasting.up_to is not None and level <= lasting.up_to
    }


def digest(tool: str, arguments: Mapping[str, Any]) -> str:
    """What identifies one operation: the same tool with the same arguments, and nothing else."""
    canonical = json.dumps([tool, arguments], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "backslashreplace")).hexdigest()


def shown(text: str) -> str:
    """`text` as it may be put before people: secrets hidden, invisible characters visible."""
    return redact(visible(text))


# ---- the buttons --------------------------------------------------------------------------------

_CODES: Mapping[str, Ruling] = {
    "a1": Ruling(approved=True),
    "as": Ruling(approved=True, reach=Reach.SESSION),
    "aa": Ruling(approved=True, reach=Reach.ALWAYS),
    "d1": Ruling(approved=False),
}
_CODE_OF = {ruling: code for code, ruling in _CODES.items()}


def ruling_of(choice: str, operation: Operation) -> Ruling | None:
    """The ruling a button stands for; None if there was no such button."""
    ruling = _CODES.get(choice)
    return ruling if ruling is not None and ruling.reach in operation.reaches else None


def controls(operation: Operation, token: str, words: Words = ENGLISH) -> Controls:
    """The buttons of an approval; `token` names its prompt."""

    def button(label: str, ruling: Ruling, style: ButtonStyle = ButtonStyle.PLAIN) -> Button:
        return Button(label=label, data=button_data(token, _CODE_OF[ruling]), style=style)

    first = (
        button(words.approve, Ruling(approved=True), ButtonStyle.PRIMARY),
        button(words.deny, Ruling(approved=False), ButtonStyle.DANGER),
    )
    lasting = [
        (button(words.reaches[reach], Ruling(approved=True, reach=reach)),)
        for reach in operation.reaches
        if reach is not Reach.ONCE
    ]
    return Controls(rows=(first, *lasting))


# ---- the words ----------------------------------------------------------------------------------


def present(
    operation: Operation,
    number: int,
    *,
    asker: str,
    timeout: timedelta,
    buttons: bool,
    words: Words = ENGLISH,
) -> str:
    """The canonical Markdown of an approval that is asked for.

    Args:
        operation: What would run.
        number: The approval's id, as people type it.
        asker: For whom the agent works; may be empty.
        timeout: How long it can be approved.
        buttons: Whether there are buttons beside the text.
        words: Those of the language it is asked in.
    """
    told, left_out = excerpt(operation.detail, LONGEST_SHOWN)
    risk = words.levels[operation.level]
    blocks = [f"**{words.approval_needed}** · {risk} · #{number}", escape(operation.summary)]
    blocks.append(fenced(told))
    if left_out:
        blocks.append(words.left_out.format(count=f"{left_out:,}"))
    if operation.lasts:
        spans = ", ".join(
            words.spans[reach].format(time=duration(seconds))
            for reach, seconds in operation.lasts.items()
        )
        covers = escape(operation.covers)
        blocks.append(words.lasting_covers.format(covers=covers, spans=spans))
    who = words.for_whom.format(name=escape(asker)) if asker else ""
    left = words.ends_in.format(time=duration(int(timeout.total_seconds())))
    how = words.rule_by_button if buttons else words.rule_by_command
    blocks.append(" ".join(filter(None, [who, left, how.format(number=number)])))
    return "\n\n".join(blocks)


def fenced(text: str) -> str:
    """`text` as a code block that nothing in it can end."""
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def summary(
    operation: Operation,
    answers: Mapping[str, Any],
    state: State,
    number: int,
    *,
    by: str,
    words: Words = ENGLISH,
) -> str:
    """The canonical Markdown of an approval that is closed ([Q5])."""
    told, left_out = excerpt(operation.detail, LONGEST_SHOWN)
    rest = [words.left_out.format(count=f"{left_out:,}")] if left_out else []
    head = f"**{escape(ending(answers, state, by=by, words=words))}** · #{number}"
    return "\n\n".join([head, escape(operation.summary), fenced(told), *rest])


def ending(
    answers: Mapping[str, Any], state: State, *, by: str = "", words: Words = ENGLISH
) -> str:
    """What became of an approval, in one line of plain text."""
    if state is not State.ANSWERED:
        return words.not_ruled[state]
    ruling = Ruling.from_answers(answers)
    if ruling.approved:
        told = words.approved_by if by else words.approved
        return told[ruling.reach].format(name=by)
    denied = words.denied_by.format(name=by) if by else words.denied
    return f"{denied}: {ruling.reason}" if ruling.reason else denied


def denial(answers: Mapping[str, Any], state: State) -> dict[str, Any]:
    """What the agent's tool call returns when the operation may not run ([Q19b])."""
    if state is State.ANSWERED:
        ruling = Ruling.from_answers(answers)
        told = {"reason": ruling.reason} if ruling.reason else {}
        return {"status": "denied", **told, "note": DENIED_NOTE}
    return {"status": "not_approved", "reason": REASONS[state], "note": NOT_APPROVED_NOTE}
