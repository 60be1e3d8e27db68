"""What holds for the reader whatever is asked and whatever is typed ([Q12], [Q13], [Q26])."""

import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from clarify.choices import (
    Chosen,
    Declined,
    Nothing,
    Own,
    Unclear,
    looks_like_answer,
    read_one,
    read_set,
)
from clarify.folding import clean, fold, without_recommendation, words
from clarify.schema import Option, Question
from clarify.wording import ENGLISH
from tests.unit.clarify.corpus import CASES, CHECKS, ENV, OPEN, make_question

# Everything a platform or an attacker can send: lone surrogates, controls, bidi marks, joiners.
HOSTILE = st.text(
    alphabet=st.one_of(
        st.characters(),
        st.characters(
            categories=["Cs", "Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Nd", "Nl", "No", "So"]
        ),
        st.sampled_from(
            "12abAB ,.،、：:;-~()[]#/\n\u202e\u2066\u200b\u200d\ufe0f\u20e3第番번목と와و"
        ),
    ),
    max_size=120,
)
TYPED = HOSTILE | st.sampled_from([case.text for case in CASES])
SCRIPTS = st.sampled_from(
    [
        "Staging",
        "eu west",
        "部署到上海",
        "今すぐ",
        "부산 지점",
        "شیراز",
        "Köln-Süd",
        "Größe",
        "ΑΘΗΝΑ",
        "Ёлка",
    ]
)
LABEL = st.one_of(
    SCRIPTS,
    st.text(
        alphabet=st.one_of(
            st.characters(categories=["Lu", "Ll", "Lo", "Nd"], max_codepoint=0xFFFF),
            st.sampled_from(" ,.;:!?、，。،-+#&/()'"),
        ),
        min_size=1,
        max_size=30,
    ).filter(lambda text: any(unicodedata.category(c)[0] in "LN" for c in text)),
)
LABELS = st.lists(LABEL, min_size=2, max_size=4, unique_by=fold)
ASKED = st.sampled_from([ENV, CHECKS, OPEN]) | st.builds(
    lambda labels, many: make_question(*labels, multi_select=many), LABELS, st.booleans()
)


@settings(max_examples=150, deadline=None)
@given(ASKED, TYPED, st.booleans())
def test_the_reader_is_total_and_reads_the_same_words_the_same_way(
    question: Question, text: str, lettered: bool
) -> None:
    reading = read_one(question, text, lettered=lettered)

    assert isinstance(reading, Chosen | Own | Declined | Unclear | Nothing)
    assert reading == read_one(question, text, lettered=lettered)
    assert isinstance(looks_like_answer(question, text), bool)
    if isinstance(reading, Unclear):
        assert ENGLISH.say(reading.hint)


@settings(max_examples=150, deadline=None)
@given(ASKED, TYPED, st.booleans())
def test_cleaning_a_text_before_it_is_read_changes_nothing(
    question: Question, text: str, lettered: bool
) -> None:
    cleaned = clean(text)

    assert clean(cleaned) == cleaned
    assert fold(fold(text)) == fold(text)
    assert read_one(question, cleaned, lettered=lettered) == read_one(
        question, text, lettered=lettered
    )


@settings(max_examples=150, deadline=None)
@given(ASKED, TYPED)
def test_what_was_read_once_is_read_again_from_its_own_values(
    question: Question, text: str
) -> None:
    reading = read_one(question, text)

    if isinstance(reading, Chosen) and not reading.others:
        for label in reading.labels:
            assert read_one(question, label) == Chosen((label,))
    if isinstance(reading, Own) and not text.casefold().lstrip().startswith(("other", "something")):
        assert reading.text in clean(text)


@pytest.mark.parametrize(
    "unit", ["1, ", "第一个、", "a and ", "yes ", "\u202e", "\ud800", "1b ", "((", "と"]
)
def test_a_hundred_thousand_characters_are_somebodys_own_words(unit: str) -> None:
    text = unit * (100_000 // len(unit))

    for question in (ENV, CHECKS, OPEN):
        assert isinstance(read_one(question, text), Own | Nothing)
    assert not looks_like_answer(ENV, text)
    assert read_set((ENV, CHECKS), {}, text).answers == {}


def _dresses(label: str) -> list[str]:
    """A label as people type it: other case, other width, marks around it, its recommendation."""
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in label)
    return [
        *(label, label.upper(), label.lower(), label.swapcase(), wide, f"  {label}\n"),
        *(f"{label}.", f"{label}。", f"{label}!", f"“{label}”", f"{label} (Recommended)"),
        *(f"{label}（推荐）", f"\u200f{label}\u200f", unicodedata.normalize("NFD", label)),
    ]


def _key(text: str) -> str:
    """What is left of a text without its marks, its width, its case and its space."""
    return "".join(words(without_recommendation(fold(text))))


@settings(max_examples=60, deadline=None)
@given(st.lists(LABEL, min_size=2, max_size=4, unique_by=_key), st.booleans(), st.booleans())
def test_a_label_selects_its_option_whatever_its_dress(
    labels: list[str], many: bool, recommended: bool
) -> None:
    shown = [f"{labels[0]} (Recommended)" if recommended else labels[0], *labels[1:]]
    question = make_question(*shown, multi_select=many)

    for option, label in zip(question.labels, labels, strict=True):
        assume(not label.lower().startswith("/skip"))
        for typed in _dresses(label):
            # A dressed number may be the option's number; some letters have no other case.
            if _key(typed) == _key(label) and not _key(label).isdigit():
                assert read_one(question, typed) == Chosen((option,)), typed


@settings(max_examples=100, deadline=None)
@given(LABELS, st.sampled_from(["{}", "{}.", "{} please", "I choose {}", "{}!", "“{}”"]))
def test_a_plain_word_selects_only_the_option_it_names(labels: list[str], dress: str) -> None:
    words = [f"{'αβγδ'[place]}{'xyzw'[place]}{label}" for place, label in enumerate(labels)]
    question = make_question(*words)

    for label in words:
        reading = read_one(question, dress.format(label))
        if isinstance(reading, Chosen):
            assert reading == Chosen((label,))


DIGIT_ZEROS = [chr(code) for code in range(0x110000) if unicodedata.decimal(chr(code), None) == 0]


@pytest.mark.parametrize("zero", DIGIT_ZEROS, ids=unicodedata.name)
def test_a_number_selects_in_the_digits_of_any_script(zero: str) -> None:
    question = make_question("alpha", "beta", "gamma", "delta")

    for number in range(1, 5):
        digit = chr(ord(zero) + number)
        assert read_one(question, digit) == Chosen((question.labels[number - 1],))
        assert read_one(question, f"({digit})") == Chosen((question.labels[number - 1],))


@settings(max_examples=150, deadline=None)
@given(
    st.integers(-(10**30), 10**30).filter(lambda number: not 1 <= number <= 3),
    st.sampled_from(
        ["{}", "#{}", "({})", "option {}", "{}.", "第{}个", "{}번", "گزینه {}", "die {}"]
    ),
    st.sampled_from(DIGIT_ZEROS),
)
def test_a_number_outside_the_list_never_selects(number: int, dress: str, zero: str) -> None:
    digits = str(number).translate({ord("0") + d: chr(ord(zero) + d) for d in range(10)})
    reading = read_one(ENV, dress.format(digits))

    assert not isinstance(reading, Chosen)


def _question(key: str, *labels: str, multi_select: bool = False) -> Question:
    return Question(key, key.title(), f"Which {key}?", tuple(map(Option, labels)), multi_select)


THREE = (
    _question("env", "dev", "staging", "prod"),
    _question("checks", "lint", "unit", "e2e", multi_select=True),
    _question("host", "AWS", "GCP"),
)
STORED = {"env": ("dev",), "checks": ("lint",), "host": ("AWS",)}
OPENED = st.sets(st.sampled_from(sorted(STORED)), min_size=1)


def _names(text: str, question: Question, number: int) -> bool:
    said = fold(text)
    names = (str(number), "一二三"[number - 1], question.key, fold(question.text).rstrip("?"))
    return any(name in said for name in names)


@settings(max_examples=200, deadline=None)
@given(OPENED, TYPED, st.booleans())
def test_an_answer_once_kept_is_changed_only_by_a_reply_that_names_its_question(
    still_open: set[str], text: str, one_at_a_time: bool
) -> None:
    already = {key: values for key, values in STORED.items() if key not in still_open}
    reading = read_set(THREE, already, text, one_at_a_time=one_at_a_time)

    for number, question in enumerate(THREE, start=1):
        if question.key in reading.answers and question.key in already:
            assert _names(text, question, number)
            assert not one_at_a_time
    assert not set(reading.still_open) & set(already)


@settings(max_examples=100, deadline=None)
@given(
    st.sets(st.sampled_from([1, 2, 3]), min_size=1),
    st.sampled_from(["{n}: {v}", "{n}. {v}", "{n}) {v}", "Q{n}: {v}", "{k}: {v}", "{k} = {v}"]),
    st.sampled_from(["\n", "\n\n", "; "]),
    OPENED,
)
def test_a_keyed_reply_answers_the_questions_it_names_and_no_other(
    named: set[int], form: str, gap: str, still_open: set[str]
) -> None:
    wanted = {1: ("env", "staging"), 2: ("checks", "unit"), 3: ("host", "GCP")}
    parts = [form.format(n=n, k=wanted[n][0], v=wanted[n][1]) for n in sorted(named)]
    already = {key: values for key, values in STORED.items() if key not in still_open}
    reading = read_set(THREE, already, gap.join(parts))

    assert reading.answers == {wanted[n][0]: (wanted[n][1],) for n in named}


@settings(max_examples=100, deadline=None)
@given(
    st.sets(st.sampled_from([0, 1, 2]), min_size=1, max_size=2),
    st.sampled_from(
        [case.text for case in CASES if case.expected == "own" and "\n" not in case.text]
    ),
)
def test_what_was_kept_stays_beside_words_for_nothing_in_particular(
    done: set[int], text: str
) -> None:
    already = {THREE[i].key: STORED[THREE[i].key] for i in done}
    assume(not any(_names(text, question, n) for n, question in enumerate(THREE, start=1)))
    reading = read_set(THREE, already, text)

    assert not set(already) & set(reading.answers)
    assert set(reading.still_open) | set(reading.answers) == {q.key for q in THREE} - set(already)
