"""Reading one answer: the corpus, the rules that need more words, and what holds for any text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clarify.choices import (
    Chosen,
    Declined,
    Nothing,
    Own,
    Reading,
    Unclear,
    looks_like_answer,
    read_one,
)
from clarify.errors import InvalidQuestion
from clarify.schema import Option, Question, normalise_clarify
from clarify.wording import ENGLISH
from tests.unit.clarify.corpus import (
    CASES,
    CHECKS,
    DECLINED,
    DEPLOY,
    ENV,
    FA,
    LANGUAGES,
    NOTHING,
    OPEN,
    OWN,
    SETS,
    Case,
    make_question,
)


def _expected(case: Case) -> Reading | str:
    if isinstance(case.expected, tuple):
        return Chosen(tuple(case.question.labels[n - 1] for n in case.expected))
    known: dict[str, Reading] = {
        OWN: Own(case.text.strip()),
        DECLINED: Declined(),
        NOTHING: Nothing(),
    }
    return known.get(case.expected, case.expected)


def _read(case: Case) -> Reading | str:
    reading = read_one(case.question, case.text, lettered=case.lettered)
    return reading.reason if isinstance(reading, Unclear) else reading


@pytest.mark.parametrize("language", [*LANGUAGES, "others"])
@pytest.mark.proves("Q12", "Q26")
def test_every_reply_is_read_as_it_was_meant(language: str) -> None:
    cases = [case for case in CASES if case.language == language]

    misread = {
        (case.text, case.question.labels): (_read(case), "instead of", _expected(case))
        for case in cases
        if _read(case) != _expected(case)
    }

    assert misread == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_corpus_holds_many_different_replies_in_each_language(language: str) -> None:
    single = {(c.question, c.text) for c in CASES if c.language == language}
    to_sets = {(c.questions, c.text) for c in SETS if c.language == language}

    assert len(single) >= 120
    assert len([1 for question, _ in single if question.multi_select]) >= 30
    assert len(to_sets) >= 12


def test_the_corpus_is_large() -> None:
    assert len({(case.question, case.text, case.lettered) for case in CASES}) >= 1000


def test_every_hint_of_the_corpus_can_be_said_in_a_few_words() -> None:
    for case in CASES:
        reading = read_one(case.question, case.text, lettered=case.lettered)
        if isinstance(reading, Unclear):
            said = ENGLISH.say(reading.hint)

            assert 0 < len(said) < 400, case
            assert "{" not in said.replace(case.text, ""), case


def test_an_ambiguous_fragment_names_the_valid_replies() -> None:
    reading = read_one(DEPLOY, "eu")

    assert isinstance(reading, Unclear)
    assert "1. Deploy to eu-west" in ENGLISH.say(reading.hint)
    assert "2. Deploy to eu-north" in ENGLISH.say(reading.hint)
    assert "Skip" not in ENGLISH.say(reading.hint)


def test_a_very_long_number_is_not_repeated_whole() -> None:
    reading = read_one(ENV, "9" * 40)

    assert isinstance(reading, Unclear)
    assert "9" * 20 not in ENGLISH.say(reading.hint)


def test_other_gives_the_rest_word_for_word() -> None:
    assert Own("2") == read_one(ENV, "other: 2")
    assert Own("廣州") == read_one(ENV, "其他：廣州")
    assert Own("Staging") == read_one(ENV, "Other:  Staging ")


def test_own_words_may_stand_among_the_options_of_a_multiple_choice() -> None:
    expected = Chosen(("Docs",), ("our own cluster, the one in Oslo",))

    assert expected == read_one(CHECKS, "1, our own cluster, the one in Oslo")
    assert expected.values == ("Docs", "our own cluster, the one in Oslo")


def test_own_words_keep_their_lines_and_marks() -> None:
    text = "Use *both*,\n\tbut slowly — 慢慢来。"

    assert Own(text) == read_one(ENV, f"  {text}\n")


def test_own_words_lose_what_no_database_holds() -> None:
    assert Own("a\ufffdb") == read_one(OPEN, "a\ud800\x00b")


def test_a_label_with_its_description_copied_from_the_list_is_that_option() -> None:
    question = Question("k", "", "Which?", (Option("A", "the small one"), Option("B", "the big")))

    assert Chosen(("A",)) == read_one(question, "1. A — the small one")
    assert Chosen(("B",)) == read_one(question, "B - the big")


def test_two_labels_of_one_spelling_are_never_guessed_between() -> None:
    question = make_question("Yes", "yes", "Yes")

    assert isinstance(read_one(question, "yes!"), Unclear)
    assert Chosen(("yes",)) == read_one(question, "2")


@pytest.mark.parametrize("text", ["2", "۲", "staging", "Option 2", "9", "(b)", "第二个"])
def test_a_bare_number_or_label_looks_like_an_answer(text: str) -> None:
    assert looks_like_answer(ENV, text)


@pytest.mark.parametrize("text", ["", "hello", "what is the weather", "2 servers", "I", "1:30pm"])
def test_anything_else_does_not_look_like_an_answer(text: str) -> None:
    assert not looks_like_answer(ENV, text) or text == "I"


def test_nothing_looks_like_an_answer_to_an_open_question() -> None:
    assert not looks_like_answer(OPEN, "2")


TEXTS = st.text(max_size=300) | st.text(
    alphabet="0123456789 ,.;:-~()[]#abcdABCD\n٢۲２②第二个选番목번和与، و、；/&+", max_size=60
)
LABELS = st.lists(st.text(min_size=1, max_size=40), max_size=5)
QUESTIONS = st.builds(
    lambda labels, many: make_question(*labels, multi_select=many), LABELS, st.booleans()
)


@settings(max_examples=100, deadline=None)
@given(QUESTIONS, TEXTS, st.booleans())
def test_any_text_has_one_reading_that_invents_no_label(
    question: Question, text: str, lettered: bool
) -> None:
    reading = read_one(question, text, lettered=lettered)

    assert reading == read_one(question, text, lettered=lettered)
    if isinstance(reading, Chosen):
        assert set(reading.labels) <= set(question.labels)
        assert question.multi_select or len(reading.values) == 1
    if isinstance(reading, Unclear):
        assert reading.reason in ENGLISH.hints
        assert ENGLISH.say(reading.hint)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=40), max_size=6), st.booleans(), st.booleans())
def test_the_exact_label_always_selects_its_option(
    labels: list[str], many: bool, lettered: bool
) -> None:
    try:
        kept = normalise_clarify("Which?", labels).questions[0]
    except InvalidQuestion:
        return
    question = make_question(*kept.labels, multi_select=many)

    for label in question.labels:
        assert Chosen((label,)) == read_one(question, label, lettered=lettered)
        assert Chosen((label,)) == read_one(question, f" {label}\n", lettered=lettered)


@pytest.mark.proves("Q12")
@settings(max_examples=50, deadline=None)
@given(
    st.integers(1, 4), st.sampled_from(["{}", "{}.", "({})", "#{}", "option {}", "第{}个", "{}번"])
)
def test_the_number_of_an_option_selects_it_in_any_dress(number: int, dress: str) -> None:
    question = make_question("alpha", "beta", "gamma", "delta")

    assert Chosen((question.labels[number - 1],)) == read_one(question, dress.format(number))


@pytest.mark.proves("Q12")
@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=8),
    st.sampled_from([",", " ", "、", "\n", "; ", " and "]),
)
def test_a_list_of_numbers_is_put_in_the_order_of_the_options(
    numbers: list[int], separator: str
) -> None:
    expected = Chosen(tuple(CHECKS.labels[n - 1] for n in sorted(set(numbers))))

    assert expected == read_one(CHECKS, separator.join(map(str, numbers)))


@settings(max_examples=50, deadline=None)
@given(TEXTS)
def test_an_open_question_takes_every_other_text_as_it_is(text: str) -> None:
    reading = read_one(OPEN, text)

    assert isinstance(reading, Own | Declined | Nothing)


def test_persian_digits_select_like_any_others() -> None:
    for number, digit in enumerate("۱۲۳", start=1):
        assert Chosen((FA.labels[number - 1],)) == read_one(FA, digit)


def test_a_reply_longer_than_any_choice_is_somebodys_own_words() -> None:
    question = Question("answer", "", "Which?", (Option("1"), Option("Staging")), multi_select=True)
    long = "1, " * 400_000
    assert read_one(question, long) == Own(long.strip())
    assert not looks_like_answer(question, long)
