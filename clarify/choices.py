"""Reading an answer from plain text: a number, a letter, a label, or the person's own words.

Pure and total: whatever is typed gets a reading, and the same text always gets the same one.

The order of the rules for one question, the first that applies decides:

1. The whole text is a label, so an option may be called "2", "Skip" or "A, B and C".
   With the options "2" and "1", the reply `2` is the option called "2", though it is the first.
2. `other: …` is what follows, taken literally; a bare "other" asks for the words.
3. `/skip`, "skip", "none of these" decline. A bare "none" declines a single choice, and answers
   a multiple choice with no option at all. An open question takes it as its answer.
4. A number, an ordinal, or a letter where options are lettered. Outside the list it is unclear.
   A number that another label begins with ("2 servers" as the first option) is unclear too.
5. A line copied from the list: "2. Staging", "b) Staging - for trying things".
6. Several of these in a list. A single choice does not take several.
7. A telling part of one label ("north"); of several labels it is unclear.
8. Anything else is the person's own words.

Where a rule finds nothing in the whole text, it is tried without the courtesies and smiles around
it: "I think the second, please 👍", "2번이요", "二番だけ". A courtesy that is an option makes it
unclear ("yes, keep it"), and own words with a "not" in them are never half of a list.

The rules for several questions are in `clarify.sets`.
"""

from clarify.readings import (
    Chosen,
    Declined,
    Doubt,
    Hint,
    Nothing,
    Own,
    Reading,
    SetReading,
    Unclear,
)
from clarify.sets import read_set
from clarify.single import is_label, looks_like_answer, read_one

__all__ = [
    "Chosen",
    "Declined",
    "Doubt",
    "Hint",
    "Nothing",
    "Own",
    "Reading",
    "SetReading",
    "Unclear",
    "is_label",
    "looks_like_answer",
    "read_one",
    "read_set",
]
