"""Replies as people type them, each with what it must be read as; a file for each language."""

from tests.unit.clarify.corpus import chinese, english, german, japanese, korean, others, persian
from tests.unit.clarify.corpus.cases import (
    DECLINED,
    NOTHING,
    OWN,
    Case,
    SetCase,
    cases_of,
    make_question,
    sets_of,
)
from tests.unit.clarify.corpus.english import CHECKS, DEPLOY, ENV, OPEN
from tests.unit.clarify.corpus.persian import FA

__all__ = [
    "CASES",
    "CHECKS",
    "DECLINED",
    "DEPLOY",
    "ENV",
    "FA",
    "LANGUAGES",
    "NOTHING",
    "OPEN",
    "OWN",
    "SETS",
    "Case",
    "SetCase",
    "make_question",
]

LANGUAGES = {
    "English": english,
    "Chinese": chinese,
    "Persian": persian,
    "Korean": korean,
    "Japanese": japanese,
    "German": german,
}
_ALL = {**LANGUAGES, "others": others}

CASES = [
    case
    for name, replies in _ALL.items()
    for case in [
        *cases_of(name, replies.REPLIES),
        *cases_of(name, replies.LETTERED, lettered=True),
    ]
]
SETS = [case for name, replies in _ALL.items() for case in sets_of(name, replies.SETS)]
