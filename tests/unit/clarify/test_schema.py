"""What an agent may ask."""

import json
import string
from typing import Any

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from clarify.errors import InvalidQuestion
from clarify.schema import (
    ASK_USER_DESCRIPTION,
    CLARIFY_DESCRIPTION,
    Option,
    QuestionSet,
    normalise_ask_user,
    normalise_clarify,
)


def _asked(**changes: Any) -> dict[str, Any]:
    question: dict[str, Any] = {
        "id": "env",
        "header": "Environment",
        "question": "Which environment?",
        "options": [{"label": "dev"}, {"label": "prod", "description": "the real one"}],
    }
    return {**question, **changes}


def _taken(questions: object, seconds: object) -> QuestionSet | None:
    """The set, or None where it is refused with a field and a message."""
    try:
        return normalise_ask_user(questions, seconds)
    except InvalidQuestion as caught:
        refusal = caught
    assert refusal.field
    assert refusal.message
    return None


def _labels(question_set: QuestionSet) -> tuple[str, ...]:
    return question_set.questions[0].labels


@pytest.mark.proves("Q7")
@pytest.mark.parametrize(
    ("choices", "labels"),
    [
        (None, ()),
        ([], ()),
        (["a", "b"], ("a", "b")),
        ([" a ", "", "  ", None, "b"], ("a", "b")),
        (["Yes", "yes", "ＹＥＳ", "No"], ("Yes", "No")),
        (["1", "2", "3", "4", "5"], ("1", "2", "3", "4")),
        (["a", "Other", "b"], ("a", "b")),
        (["a", "Other (please specify)", "b", "c", "d"], ("a", "b", "c", "d")),
        (["a", "其他", "سایر", "기타", "その他", "Andere", "Otro"], ("a",)),
        (["Other", "other..."], ()),
        ([{"label": "a"}, {"text": "b"}, {"title": "c"}, {"description": "d"}], tuple("abcd")),
        ([{"label": ""}, {"label": None, "text": "b"}, {}], ("b",)),
        ([1, 2.5], ("1", "2.5")),
        (("a", "b"), ("a", "b")),
        (["Another day", "Others' work"], ("Another day", "Others' work")),
        (["two\nlines", "tab\there"], ("two lines", "tab here")),
    ],
)
def test_clarify_takes_choices_as_models_send_them(choices: object, labels: tuple[str]) -> None:
    assert labels == _labels(normalise_clarify("Which?", choices))


def test_clarify_keeps_the_description_of_a_wrapped_choice() -> None:
    question_set = normalise_clarify("Which?", [{"label": "a", "description": "the first"}])

    assert (Option("a", "the first"),) == question_set.questions[0].options


def test_clarify_waits_ten_minutes_for_one_single_choice() -> None:
    question_set = normalise_clarify("Which?")

    assert question_set.timeout_seconds == 600
    assert not question_set.questions[0].multi_select


@pytest.mark.proves("Q7")
@pytest.mark.parametrize("question", ["", "  ", "\u200b", None, 5, ["Which?"], "x" * 4001])
def test_clarify_refuses_a_question_that_says_nothing_or_too_much(question: object) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        normalise_clarify(question, ["a", "b"])

    assert caught.value.field == "question"


@pytest.mark.parametrize(
    ("choices", "field"),
    [("a, b", "choices"), ({"a": 1}, "choices"), (["a", True], "choices[1]"), ([[]], "choices[0]")],
)
def test_clarify_refuses_choices_that_are_none(choices: object, field: str) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        normalise_clarify("Which?", choices)

    assert field == caught.value.field


def test_ask_user_keeps_what_was_asked() -> None:
    question_set = normalise_ask_user([_asked(multiSelect=True), _asked(id="b", header=" B ")], 60)

    first, second = question_set.questions
    assert (first.key, first.header, first.text) == ("env", "Environment", "Which environment?")
    assert (Option("dev"), Option("prod", "the real one")) == first.options
    assert (first.multi_select, second.multi_select, second.header) == (True, False, "B")
    assert question_set.timeout_seconds == 60


@pytest.mark.proves("Q11")
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"id": ""}, "id"),
        ({"id": "Env"}, "id"),
        ({"id": "1st"}, "id"),
        ({"id": "target-env"}, "id"),
        ({"id": "env\n"}, "id"),
        ({"id": None}, "id"),
        ({"id": "é"}, "id"),
        ({"header": ""}, "header"),
        ({"header": "\u200b"}, "header"),
        ({"header": None}, "header"),
        ({"question": " "}, "question"),
        ({"question": "x" * 4001}, "question"),
        ({"multiSelect": "yes"}, "multiSelect"),
        ({"options": None}, "options"),
        ({"options": []}, "options"),
        ({"options": [{"label": "a"}]}, "options"),
        ({"options": [{"label": c} for c in "abcde"]}, "options"),
        ({"options": [{"label": c} for c in "abcdefgh"]}, "options"),
        ({"options": [{"label": "a"}, {"label": "Other"}]}, "options"),
        ({"options": [{"label": "a"}, {"label": " A "}]}, "options"),
        ({"options": [{"label": "a"}, {"label": " "}]}, "options[1].label"),
        ({"options": [{"label": "a"}, {}]}, "options[1].label"),
        ({"options": [{"label": "a"}, 5]}, "options[1]"),
        ({"options": [{"label": "a"}, {"label": "x" * 201}]}, "options[1].label"),
        ({"options": [{"label": "a", "description": 5}, {"label": "b"}]}, "options[0].description"),
    ],
)
def test_ask_user_names_the_field_that_breaks_a_rule(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        normalise_ask_user([_asked(id="fine"), _asked(**changes)])

    assert f"questions[1].{field}" == caught.value.field
    assert caught.value.message
    assert str(caught.value).startswith(caught.value.field)


@pytest.mark.proves("Q11")
@pytest.mark.parametrize("questions", [None, "x", {}, [], [_asked(id=f"q{i}") for i in range(4)]])
def test_ask_user_takes_one_to_three_questions(questions: object) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        normalise_ask_user(questions)

    assert caught.value.field == "questions"


def test_ask_user_refuses_an_id_twice() -> None:
    with pytest.raises(InvalidQuestion) as caught:
        normalise_ask_user([_asked(), _asked()])

    assert caught.value.field == "questions[1].id"


@pytest.mark.proves("Q11")
def test_ask_user_drops_an_authored_other_and_does_not_count_it() -> None:
    options = [{"label": label} for label in ("a", "b", "c", "d", "Other…")]

    assert tuple("abcd") == _labels(normalise_ask_user([_asked(options=options)]))


@pytest.mark.proves("Q10")
@pytest.mark.parametrize(
    ("given_seconds", "seconds"),
    [(None, 900), (1, 30), (30, 30), (60, 60), (3600, 3600), (10**9, 3600), (-5, 30)],
)
def test_ask_user_clamps_its_time(given_seconds: int | None, seconds: int) -> None:
    assert seconds == normalise_ask_user([_asked()], given_seconds).timeout_seconds


@pytest.mark.parametrize("given_seconds", ["60", 60.0, 0.5, float("nan"), True, [60]])
def test_ask_user_refuses_a_time_that_is_no_whole_number(given_seconds: object) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        normalise_ask_user([_asked()], given_seconds)

    assert caught.value.field == "timeoutSeconds"


@pytest.mark.proves("Q11")
@pytest.mark.parametrize(
    ("header", "cut"),
    [
        ("Environment target", "Environment"),
        ("abcdefghijklmnop", "abcdefghijkl"),
        ("👩‍👩‍👧‍👦" * 13, "👩‍👩‍👧‍👦" * 12),
        ("🇩🇪" * 13, "🇩🇪" * 12),
        ("e\u0301" * 13, "e\u0301" * 12),
        ("  two   spaces ", "two spaces"),
    ],
)
def test_a_header_is_cut_between_the_characters_a_person_sees(header: str, cut: str) -> None:
    assert cut == normalise_ask_user([_asked(header=header)]).questions[0].header


def test_texts_lose_what_no_platform_carries() -> None:
    options = [{"label": "a\x00\x07\u202eb"}, {"label": "\ud83d\ude00 c\ud800"}]
    question = normalise_ask_user([_asked(options=options, question="A\x00?\r\nB")]).questions[0]

    assert question.labels == ("ab", "😀 c\ufffd")
    assert question.text == "A?\nB"


def test_a_set_survives_a_column() -> None:
    question_set = normalise_ask_user([_asked(multiSelect=True), _asked(id="b")], 77)

    assert question_set == QuestionSet.from_dict(json.loads(json.dumps(question_set.as_dict())))


@pytest.mark.proves("Q18")
def test_the_guidance_says_when_to_ask_and_what_not_to_ask_for() -> None:
    for description in (CLARIFY_DESCRIPTION, ASK_USER_DESCRIPTION):
        for words in ("(Recommended)", "credential", "permission", "Other", "best judgement"):
            assert words in description
    assert "no_answer" in ASK_USER_DESCRIPTION


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["id", "header", "question", "options", "label"]), inner)
    ),
    max_leaves=12,
)
QUESTION = st.fixed_dictionaries(
    {
        "id": st.text(string.ascii_lowercase + "_1", min_size=1, max_size=5) | JSON,
        "header": st.text(max_size=30) | JSON,
        "question": st.text(max_size=30) | JSON,
        "options": st.lists(st.fixed_dictionaries({"label": st.text(max_size=9)}), max_size=5)
        | JSON,
    }
)


@settings(max_examples=100, deadline=None)
@given(st.lists(QUESTION, max_size=4) | JSON, JSON)
def test_whatever_a_model_sends_is_taken_by_the_rules_or_refused_by_name(
    questions: object, seconds: object
) -> None:
    question_set = _taken(questions, seconds)
    if question_set is None:
        return
    assert 1 <= len(question_set.questions) <= 3
    assert 30 <= question_set.timeout_seconds <= 3600
    for question in question_set.questions:
        assert 2 <= len(question.options) <= 4
        assert 1 <= len(regex.findall(r"\X", question.header)) <= 12
    assert question_set == QuestionSet.from_dict(json.loads(json.dumps(question_set.as_dict())))


@settings(max_examples=50, deadline=None)
@given(JSON, JSON)
def test_clarify_takes_or_refuses_anything(question: object, choices: object) -> None:
    try:
        question_set = normalise_clarify(question, choices)
    except InvalidQuestion:
        return
    assert len(_labels(question_set)) <= 4
    assert all(label.strip() for label in _labels(question_set))
