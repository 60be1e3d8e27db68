"""What a person sees of a prompt: canonical Markdown, and the captions of native buttons. Pure.

The text always says that typing works, because it does on every surface ([Q12]); beside buttons it
says so shortly, and speaks of numbers only where the buttons are numbered.
"""

from collections.abc import Collection, Mapping, Sequence

import regex

from clarify.folding import first_graphemes, fold
from clarify.schema import Option, Question, QuestionSet
from clarify.states import State
from clarify.vocabulary import is_authored_other
from clarify.wording import ENGLISH, Words

_SPECIAL = regex.compile(r"([\\`*_\[\]<>~|&$])")
_LINE_START = regex.compile(r"^(?:([#+\-=])|(\d{1,9})([.)]))")
_HARD_BREAK = "  \n"  # two spaces: a line end that Markdown keeps
LONGEST_CAPTION = 30  # characters; what a phone shows of a button in one line
_CHECKED, _UNCHECKED, _CHOSEN = "☑ ", "☐ ", "✓ "


def escape(text: str) -> str:
    """`text` on one line as Markdown that shows exactly its characters."""
    plain = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    escaped: str = _LINE_START.sub(lambda m: rf"\{m[1]}" if m[1] else rf"{m[2]}\{m[3]}", plain)
    return escaped


def captions(
    question: Question,
    *,
    longest: int = LONGEST_CAPTION,
    selected: Collection[int] | None = None,
    many: bool = True,
) -> tuple[str, ...]:
    """What is written on the buttons of `question`, one for each option in the stored order.

    The full labels where every one fits and all differ; otherwise the options' numbers, and the
    labels stand in the text. A label is never clipped: two might then read the same. A button must
    send back the option's place in the stored order, whatever the order on the screen.

    Args:
        question: The question; it has options.
        longest: How many characters a button shows.
        selected: The places of the options that are on; None where none can be.
        many: Several can be on: those that are off are marked as well.
    """
    marks = [_mark(index, selected, many=many) for index in range(len(question.options))]
    full = tuple(f"{mark}{label}" for mark, label in zip(marks, question.labels, strict=True))
    if are_numbered(question, longest=longest):
        return tuple(f"{mark}{place}" for place, mark in enumerate(marks, start=1))
    return full


def are_numbered(question: Question, *, longest: int = LONGEST_CAPTION) -> bool:
    """Whether the labels cannot stand on buttons: one is too long, or two read the same."""
    same = len(set(map(fold, question.labels))) < len(question.labels)
    return same or any(len(label) > longest for label in question.labels)


def _mark(index: int, selected: Collection[int] | None, *, many: bool) -> str:
    if selected is None:
        return ""
    if many:
        return _CHECKED if index in selected else _UNCHECKED
    return _CHOSEN if index in selected else ""


def present(
    question_set: QuestionSet,
    *,
    buttons: bool = False,
    longest_caption: int = LONGEST_CAPTION,
    lettered: bool | None = None,
    answered: Mapping[str, Sequence[str]] | None = None,
    words: Words = ENGLISH,
) -> str:
    """The canonical Markdown of all questions that are still open, shown together.

    Args:
        question_set: What is asked.
        buttons: A single question gets native buttons beside the text.
        longest_caption: How many characters a button shows.
        lettered: Options as a), b) rather than 1., 2.; None means only where there are several
            questions, whose own numbers would otherwise be taken for the options'.
        answered: What is answered already; these are shown with their answers and not asked again.
        words: Those of the language they are asked in.
    """
    letters = len(question_set.questions) > 1 if lettered is None else lettered
    if len(question_set.questions) == 1:
        question = question_set.questions[0]
        return _single(question, letters, longest_caption if buttons else None, words)
    done = answered or {}
    left = [question for question in question_set.questions if question.key not in done]
    blocks = [f"**{_introduction(len(left), words)}**"]
    for number, question in enumerate(question_set.questions, start=1):
        if question.key in done:
            blocks.append(f"**{_heading(number, question)}:** {_values(done[question.key], words)}")
        else:
            blocks.append(_numbered(number, question, letters, words))
    return "\n\n".join([*blocks, _set_guidance(question_set.questions, left, letters, words)])


def present_one(
    question_set: QuestionSet,
    key: str,
    *,
    buttons: bool = False,
    longest_caption: int = LONGEST_CAPTION,
    lettered: bool = False,
    words: Words = ENGLISH,
) -> str:
    """The canonical Markdown of one question of a set that is shown one at a time."""
    keys = [question.key for question in question_set.questions]
    question = question_set.questions[keys.index(key)]
    text = _single(question, lettered, longest_caption if buttons else None, words)
    if len(keys) == 1:
        return text
    which = words.which_of.format(number=keys.index(key) + 1, count=len(keys))
    return f"*{which}*\n\n{text}"


def clipped(text: str, longest: int = 60) -> str:
    """`text` on one line, cut between characters a person sees."""
    line = " ".join(text.split())
    short = first_graphemes(line, longest)
    return line if short == line else f"{short.rstrip()}…"


def answered_lines(
    question_set: QuestionSet, answers: Mapping[str, Sequence[str]], words: Words = ENGLISH
) -> str:
    """The canonical Markdown of what is answered already, a line a question."""
    lines = [
        f"✓ {escape(question.header or question.key)}: **{_values(answers[question.key], words)}**"
        for question in question_set.questions
        if question.key in answers
    ]
    return _HARD_BREAK.join(lines)


def summary(
    question_set: QuestionSet,
    answers: Mapping[str, Sequence[str]],
    state: State,
    *,
    by: str = "",
    surface: str = "",
    words: Words = ENGLISH,
) -> str:
    """The canonical Markdown of a closed prompt: each question in full beside its answer ([Q5]).

    Args:
        question_set: What was asked.
        answers: What was answered, by key; with an ending other than "answered" it may be partial.
        state: How it ended.
        by: The name of who closed it; empty for nobody.
        surface: Where they did; empty if unknown.
        words: Those of the language it was asked in.
    """
    lines = []
    for question in question_set.questions:
        if question.key in answers:
            ending = f"→ **{_values(answers[question.key], words)}**"
        else:
            ending = f"→ *{words.endings[state]}*"
        asked = question.text.strip()
        between = "\n\n" if "\n" in asked else _HARD_BREAK
        lines.append(f"{asked}{between}{ending}")
    who = words.who(escape(by), escape(surface))
    return "\n\n".join([*lines, *([f"*{words.closed_who[state]} {who}*"] if who else [])])


def _single(question: Question, letters: bool, longest_caption: int | None, words: Words) -> str:
    """One question; `longest_caption` is None where it gets no buttons."""
    blocks = [question.text.strip()]
    if longest_caption is None or not question.options:
        listed, guidance = bool(question.options), _guidance(question, letters, words)
    else:
        numbered = are_numbered(question, longest=longest_caption)
        # Else the buttons alone say everything about the options.
        listed = numbered or any(option.description for option in question.options)
        if question.multi_select:
            guidance = words.by_toggles
        else:
            guidance = words.by_numbered_button if numbered else words.by_button
    if listed:
        blocks.append(_list(question, letters))
    return "\n\n".join([*blocks, guidance])


def _list(question: Question, letters: bool) -> str:
    lines = [_line(index, option, letters) for index, option in enumerate(question.options)]
    return (_HARD_BREAK if letters else "\n").join(lines)


def _line(index: int, option: Option, letters: bool) -> str:
    mark = f"{chr(ord('a') + index)})" if letters else f"{index + 1}."
    told = f" — {escape(option.description)}" if option.description else ""
    return f"{mark} {escape(option.label)}{told}"


def _guidance(question: Question, letters: bool, words: Words) -> str:
    if not question.options:
        return words.in_own_words
    if question.multi_select:
        example = (
            "a, c" if letters and len(question.options) > 2 else ("a, b" if letters else "1, 2")
        )
        how = (words.any_by_letter if letters else words.any_by_number).format(example=example)
    else:
        how = words.one_by_letter if letters else words.one_by_number
    own = "" if _offers_other(question) else words.other_by_text
    return " ".join(filter(None, [own, how, words.or_skip]))


def _offers_other(question: Question) -> bool:
    return any(is_authored_other(label) for label in question.labels)


def _introduction(count: int, words: Words) -> str:
    return words.one_left if count == 1 else words.several.format(count=count)


def _heading(number: int, question: Question) -> str:
    return f"{number}. {escape(question.header or question.key)}"


def _numbered(number: int, question: Question, letters: bool, words: Words) -> str:
    several = f" *({words.choose_any})*" if question.multi_select else ""
    head = f"**{_heading(number, question)}** — {question.text.strip()}{several}"
    return f"{head}\n\n{_list(question, letters)}" if question.options else head


def _set_guidance(
    questions: Sequence[Question], left: Sequence[Question], letters: bool, words: Words
) -> str:
    """How to answer the open questions together, with an example made of them."""
    if len(left) == 1:
        return _guidance(left[0], letters, words)
    parts = []
    for question in left:
        number = questions.index(question) + 1
        first = "a" if letters else "1"
        parts.append(f"{number}: {first if question.options else words.your_own_words}")
    example = "; ".join(parts)
    own = words.other_by_number.format(number=questions.index(left[0]) + 1)
    return " ".join([own, words.all_at_once.format(example=example), words.or_skip])


def _values(values: Sequence[str], words: Words) -> str:
    return ", ".join(escape(value) for value in values) if values else words.none
