"""Asking, answering and closing: the only writer of the clarify tables.

Every function works inside the caller's transaction or opens its own, takes the present as `now`,
and resolves a prompt by one conditional update, so that of any number of simultaneous answers
exactly one wins ([Q1]).

answering   somebody says something to a prompt
ruling      somebody approves or denies an operation
asking      a prompt is put to a person, shown again, given more time, moved
closing     a prompt is resolved, by whatever event
showing     what the chat shows of a prompt, as messages owed
looking     which prompts there are, whose they are, and holding them; nothing is written
"""

from clarify.questions.answering import answer_all, answer_text, foresee, press, skip
from clarify.questions.asking import Ask, ask, extend, rename, resend
from clarify.questions.closing import cancel_for, close_undeliverable, expire_overdue, resolve
from clarify.questions.looking import (
    CLOSED_LATELY,
    Answerer,
    approval,
    approvals_at,
    closed_lately,
    closed_words,
    hold,
    looks_like_answer,
    may_allow,
    may_answer,
    nothing_lately,
    open_below,
    open_to,
    pending_for,
    quoted,
    shown_at,
)
from clarify.questions.outcomes import Outcome
from clarify.questions.ruling import rule
from clarify.questions.showing import messages_of
from clarify.states import Effect

__all__ = [
    "CLOSED_LATELY",
    "Answerer",
    "Ask",
    "Effect",
    "Outcome",
    "answer_all",
    "answer_text",
    "approval",
    "approvals_at",
    "ask",
    "cancel_for",
    "close_undeliverable",
    "closed_lately",
    "closed_words",
    "expire_overdue",
    "extend",
    "foresee",
    "hold",
    "looks_like_answer",
    "may_allow",
    "may_answer",
    "messages_of",
    "nothing_lately",
    "open_below",
    "open_to",
    "pending_for",
    "press",
    "quoted",
    "rename",
    "resend",
    "resolve",
    "rule",
    "shown_at",
    "skip",
]
