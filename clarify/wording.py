"""The English words of every hint. Pure; a translation replaces the table."""

from collections.abc import Mapping

from clarify.readings import Hint

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

_LIST_SEPARATOR = " · "


def say(hint: Hint) -> str:
    """The hint as one short message to the person, in plain text."""
    params = {
        name: _LIST_SEPARATOR.join(value) if isinstance(value, tuple) else value
        for name, value in hint.params.items()
    }
    return HINTS[hint.code].format_map(params)
