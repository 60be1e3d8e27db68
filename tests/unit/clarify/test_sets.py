"""Reading one reply to several questions."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clarify.choices import read_set
from clarify.schema import Option, Question
from clarify.wording import ENGLISH
from tests.unit.clarify.corpus import SETS, SetCase

pytestmark = pytest.mark.proves("Q13")


def _question(key: str, text: str, *labels: str, multi_select: bool = False) -> Question:
    return Question(key, key.title(), text, tuple(map(Option, labels)), multi_select)


ENV = _question("env", "Which environment?", "dev", "staging", "prod")
CHECKS = _question("checks", "Which checks?", "lint", "unit", "e2e", multi_select=True)
HOST = _question("host", "Where?", "AWS", "GCP")
THREE = (ENV, CHECKS, HOST)
TWO = (ENV, HOST)
FREE = (_question("city", "Which city?"), _question("budget", "How much?"))

Answers = dict[str, tuple[str, ...]]

TO_THREE: dict[str, Answers] = {
    "1b 2a,c 3: our own cluster": {
        "env": ("staging",),
        "checks": ("lint", "e2e"),
        "host": ("our own cluster",),
    },
    "1b 2ac 3a": {"env": ("staging",), "checks": ("lint", "e2e"), "host": ("AWS",)},
    "1B, 2A/C, 3B": {"env": ("staging",), "checks": ("lint", "e2e"), "host": ("GCP",)},
    "1. b\n2. a, c\n3. b": {"env": ("staging",), "checks": ("lint", "e2e"), "host": ("GCP",)},
    "1) staging 2) lint, unit 3) AWS": {
        "env": ("staging",),
        "checks": ("lint", "unit"),
        "host": ("AWS",),
    },
    "1. dev; 2. unit; 3. GCP": {"env": ("dev",), "checks": ("unit",), "host": ("GCP",)},
    "b\na,c\na": {"env": ("staging",), "checks": ("lint", "e2e"), "host": ("AWS",)},
    "env: prod\nchecks: all\nhost: hetzner": {
        "env": ("prod",),
        "checks": ("lint", "unit", "e2e"),
        "host": ("hetzner",),
    },
    "Env = dev, Host = GCP": {"env": ("dev",), "host": ("GCP",)},
    "Q1: 1\nQ2: 2": {"env": ("dev",), "checks": ("unit",)},
    "Question 2: unit": {"checks": ("unit",)},
    "Which checks? unit, lint": {"checks": ("lint", "unit")},
    "第1题: 2": {"env": ("staging",)},
    "سوال ۲: ۱": {"checks": ("lint",)},
    "２：１": {"checks": ("lint",)},
    "2: 1": {"checks": ("lint",)},
    "2: none": {"checks": ()},
    "1: skip": {"env": ()},
    "b": {"env": ("staging",)},
    "2": {"env": ("staging",)},
    "staging": {"env": ("staging",)},
    "AWS": {"host": ("AWS",)},
    "e2e": {"checks": ("e2e",)},
    "1\n2": {"env": ("dev",), "checks": ("unit",)},
    "- 1\n- 2\n- 1": {"env": ("dev",), "checks": ("unit",), "host": ("AWS",)},
    "2: 1\n2: 3": {"checks": ("e2e",)},
}

TO_TWO: dict[str, Answers] = {
    "1\n2": {"env": ("dev",), "host": ("GCP",)},
    "1\n\n2": {"env": ("dev",), "host": ("GCP",)},
    "1: 2\n2: 1": {"env": ("staging",), "host": ("AWS",)},
    "1:2": {"env": ("staging",)},
    "1: 1; 2: 2": {"env": ("dev",), "host": ("GCP",)},
    "1. 1\n2. 2": {"env": ("dev",), "host": ("GCP",)},
    "1) 1\n2) 2": {"env": ("dev",), "host": ("GCP",)},
    "1 - 1\n2 - 2": {"env": ("dev",), "host": ("GCP",)},
    "- 1\n- 2": {"env": ("dev",), "host": ("GCP",)},
    "env=1\nhost=2": {"env": ("dev",), "host": ("GCP",)},
    "1 2": {"env": ("dev",), "host": ("GCP",)},
    "b, a": {"env": ("staging",), "host": ("AWS",)},
    "(1) b (2) a": {"env": ("staging",), "host": ("AWS",)},
    "1:30pm\n2": {"env": ("1:30pm",), "host": ("GCP",)},
    "2-3 people\n1": {"env": ("2-3 people",), "host": ("AWS",)},
    "skip\n2": {"env": (), "host": ("GCP",)},
    "1: dev\nGCP": {"env": ("dev",), "host": ("GCP",)},
    "1. dev\n2.": {"env": ("dev",)},
    "2nd": {"env": ("staging",)},
}

TO_FREE: dict[str, Answers] = {
    "1. Oslo\n2. 500": {"city": ("Oslo",), "budget": ("500",)},
    "city: Oslo\nbudget: 500": {"city": ("Oslo",), "budget": ("500",)},
    "City: Oslo, Norway\nBudget: 500": {"city": ("Oslo, Norway",), "budget": ("500",)},
    "budget: 500\ncity: Oslo": {"city": ("Oslo",), "budget": ("500",)},
    "Oslo\n500": {"city": ("Oslo",), "budget": ("500",)},
    "Oslo\nbudget: 500": {"city": ("Oslo",), "budget": ("500",)},
    "1: Oslo\nNorway\n2: 500": {"city": ("Oslo\nNorway",), "budget": ("500",)},
    "1: Oslo; 2: 500": {"city": ("Oslo",), "budget": ("500",)},
    "budget: 500": {"budget": ("500",)},
    "2. 500": {"budget": ("500",)},
    "1: at 10:30": {"city": ("at 10:30",)},
}


@pytest.mark.parametrize(
    ("questions", "text", "expected"),
    [
        *((THREE, text, expected) for text, expected in TO_THREE.items()),
        *((TWO, text, expected) for text, expected in TO_TWO.items()),
        *((FREE, text, expected) for text, expected in TO_FREE.items()),
    ],
)
def test_each_part_answers_the_question_it_names(
    questions: tuple[Question, ...], text: str, expected: Answers
) -> None:
    reading = read_set(questions, {}, text)

    assert expected == reading.answers
    assert reading.unclear == ()
    assert tuple(q.key for q in questions if q.key not in expected) == reading.still_open


@pytest.mark.parametrize("case", SETS, ids=lambda case: f"{case.language}-{case.text!r}")
def test_a_reply_to_a_set_is_read_as_it_was_meant(case: SetCase) -> None:
    reading = read_set(case.questions, {}, case.text)

    assert case.answers == reading.answers
    assert not reading.declined
    assert len(reading.hints) == (0 if case.answers else 1)


def test_one_unkeyed_line_for_two_open_questions_is_not_stored_and_names_the_missing_one() -> None:
    reading = read_set(FREE, {}, "Oslo")

    assert reading.answers == {}
    assert reading.still_open == ("city", "budget")
    assert len(reading.hints) == 1
    assert "budget" in ENGLISH.say(reading.hints[0]).casefold()
    assert "city" not in ENGLISH.say(reading.hints[0]).casefold()


def test_shown_one_at_a_time_the_text_answers_just_the_current_question() -> None:
    first = read_set(FREE, {}, "Oslo", one_at_a_time=True)
    second = read_set(FREE, {"city": ("Oslo",)}, "Oslo", one_at_a_time=True)

    assert first.answers == {"city": ("Oslo",)}
    assert second.answers == {"budget": ("Oslo",)}
    assert second.is_complete


def test_the_last_open_question_takes_any_words() -> None:
    reading = read_set(FREE, {"city": ("Oslo",)}, "about 500")

    assert reading.answers == {"budget": ("about 500",)}
    assert reading.is_complete


def test_the_last_open_question_takes_a_number_as_its_own() -> None:
    assert read_set(TWO, {"env": ("dev",)}, "2").answers == {"host": ("GCP",)}


@pytest.mark.parametrize(("text", "labels"), [("2: a", ("lint",)), ("2: a,c", ("lint", "e2e"))])
def test_the_last_open_question_may_be_named_by_its_number(
    text: str, labels: tuple[str, ...]
) -> None:
    reading = read_set(THREE, {"env": ("dev",), "host": ("x",)}, text)
    assert reading.answers == {"checks": labels}


def test_a_key_changes_an_answer_that_was_given_before() -> None:
    reading = read_set(TWO, {"env": ("dev",)}, "1: prod")

    assert reading.answers == {"env": ("prod",)}
    assert reading.still_open == ("host",)


def test_a_numbered_list_among_own_words_changes_no_answer_given_before() -> None:
    text = "1. first the small ones\n2. then the rest"
    reading = read_set(THREE, {"env": ("dev",), "checks": ("lint",)}, text)

    assert {"host": (text,)} == reading.answers


@pytest.mark.parametrize("text", ["our own cluster", "1:30pm", "1.5", "1b because cheap 2a"])
def test_own_words_without_a_key_are_asked_about(text: str) -> None:
    reading = read_set(THREE, {}, text)

    assert reading.answers == {}
    assert [hint.code for hint in reading.hints] == ["which_question"]
    assert "2. Checks" in ENGLISH.say(reading.hints[0])


def test_an_option_under_the_number_of_another_question_is_asked_about() -> None:
    reading = read_set(TWO, {}, "2. staging")

    assert reading.answers == {}
    assert [hint.code for hint in reading.hints] == ["which_question"]


def test_what_is_clear_is_kept_beside_what_is_not() -> None:
    reading = read_set(THREE, {}, "1: 9 2: a")

    assert reading.answers == {"checks": ("lint",)}
    assert [doubt.key for doubt in reading.unclear] == ["env"]
    assert reading.still_open == ("env", "host")


@pytest.mark.parametrize("text", ["skip", "/skip", "none of these", "跳过", "رد کن"])
def test_a_refusal_declines_the_whole_set(text: str) -> None:
    for already in ({}, {"env": ("dev",)}, {"env": ("dev",), "checks": ()}):
        for one_at_a_time in (True, False):
            reading = read_set(THREE, already, text, one_at_a_time=one_at_a_time)

            assert reading.declined
            assert reading.answers == {}
            assert not reading.is_complete


def test_an_option_called_skip_is_chosen_rather_than_obeyed() -> None:
    questions = (_question("a", "A?", "Go", "Skip"), HOST)

    assert read_set(questions, {}, "skip").answers == {"a": ("Skip",)}


def test_the_exact_label_wins_over_a_key() -> None:
    questions = (_question("a", "A?", "1: one", "2: two"), HOST)

    assert read_set(questions, {}, "2: two").answers == {"a": ("2: two",)}


@pytest.mark.parametrize("text", ["", "  ", "\u200b", "\n\n"])
def test_nothing_answers_nothing(text: str) -> None:
    reading = read_set(THREE, {"env": ("dev",)}, text)

    assert reading.is_nothing
    assert reading.still_open == ("checks", "host")


def test_a_set_that_is_answered_already_takes_no_more() -> None:
    reading = read_set((HOST,), {"host": ("AWS",)}, "2")

    assert reading.answers == {}
    assert reading.is_complete


def test_a_single_question_may_be_named_too() -> None:
    assert read_set((HOST,), {}, "host: GCP").answers == {"host": ("GCP",)}
    assert read_set((HOST,), {}, "2").answers == {"host": ("GCP",)}
    assert read_set((HOST,), {}, "b").answers == {"host": ("b",)}


TEXTS = st.text(max_size=200) | st.text(
    alphabet="123 .:;)(-=,\nabcQqenvhost：，、；۱２②", max_size=60
)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([THREE, TWO, FREE, (HOST,)]),
    st.sets(st.sampled_from(["env", "checks", "host", "city"])),
    TEXTS,
    st.booleans(),
)
def test_any_text_leaves_the_set_consistent(
    questions: tuple[Question, ...], done: set[str], text: str, one_at_a_time: bool
) -> None:
    already = {question.key: ("x",) for question in questions if question.key in done}
    reading = read_set(questions, already, text, one_at_a_time=one_at_a_time)

    assert reading == read_set(questions, already, text, one_at_a_time=one_at_a_time)
    keys = {question.key for question in questions}
    assert keys >= set(reading.answers)
    assert keys - set(already) - set(reading.answers) == set(reading.still_open)
    assert not reading.declined or not reading.answers
    assert all(ENGLISH.say(hint) for hint in reading.hints)
    if one_at_a_time:
        assert len(reading.answers) <= 1


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 3), st.sets(st.integers(1, 3), min_size=1), st.integers(1, 2))
def test_numbered_lines_are_read_back(env: int, checks: set[int], host: int) -> None:
    letters = ",".join(sorted("abc"[n - 1] for n in checks))
    replies = [
        f"1{'abc'[env - 1]} 2{letters} 3{'ab'[host - 1]}",
        f"1: {env}\n2: {', '.join(map(str, sorted(checks)))}\n3: {host}",
        f"{ENV.labels[env - 1]}\n{letters}\n{HOST.labels[host - 1]}",
    ]
    expected = {
        "env": (ENV.labels[env - 1],),
        "checks": tuple(CHECKS.labels[n - 1] for n in sorted(checks)),
        "host": (HOST.labels[host - 1],),
    }

    assert [expected] * 3 == [read_set(THREE, {}, reply).answers for reply in replies]
