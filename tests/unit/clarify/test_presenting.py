"""What a person sees of a prompt, open and closed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from clarify.choices import read_set
from clarify.presenting import (
    are_numbered,
    captions,
    escape,
    present,
    present_one,
    summary,
)
from clarify.schema import Option, Question, QuestionSet
from clarify.states import State
from tests.unit.clarify.corpus import CHECKS, ENV, OPEN, make_question

LONG = (
    "Delete the old backups on server alpha and keep the newest seven copies of the database",
    "Delete the old backups on server alpha and keep the newest seven copies of the mail spool",
)
CITY = Question("city", "City", "Which city?", (Option("Oslo", "up north"), Option("Rome")))
EXTRAS = Question("extras", "Extras", "What else?", (Option("Food"), Option("Bed")), True)


def _set(*questions: Question) -> QuestionSet:
    return QuestionSet(questions, 600)


def _shown(markdown: str) -> str:
    """The words a reader sees, without the formatting."""
    tokens = MarkdownIt().parseInline(markdown)[0].children or []
    return "".join(token.content if token.type == "text" else "\n" for token in tokens)


def test_a_single_question_is_a_numbered_list_that_says_how_to_answer() -> None:
    expected = (
        "Which city?\n\n1. Oslo — up north\n2. Rome\n\n"
        "Other: reply with your own words. Reply with the number or the text of one option. "
        "`/skip` to decline."
    )

    assert expected == present(_set(CITY))


def test_an_open_question_asks_for_words_and_lists_nothing() -> None:
    text = present(_set(OPEN))

    assert text.startswith("What should it be called?")
    assert "1." not in text
    assert "/skip" in text


def test_a_multiple_choice_says_that_several_may_be_chosen() -> None:
    assert "`1, 2`" in present(_set(CHECKS))


@pytest.mark.proves("Q13")
def test_several_questions_are_numbered_and_their_options_lettered() -> None:
    text = present(_set(CITY, EXTRAS))

    assert "**1. City** — Which city?\n\na) Oslo — up north  \nb) Rome" in text
    assert "**2. Extras** — What else? *(choose any)*" in text
    assert "`1: a; 2: a`" in text


def test_the_example_of_a_set_is_an_answer_to_it() -> None:
    reading = read_set((CITY, EXTRAS), {}, "1: a; 2: a")

    assert reading.answers == {"city": ("Oslo",), "extras": ("Food",)}


def test_own_words_for_one_of_several_are_asked_for_with_a_number_that_is_read_so() -> None:
    reading = read_set((CITY, EXTRAS), {}, "1: my words")

    assert "`1: my words`" in present(_set(CITY, EXTRAS))
    assert reading.answers == {"city": ("my words",)}


def test_the_last_of_several_is_asked_for_like_a_single_one() -> None:
    text = present(_set(CITY, EXTRAS), answered={"city": ("Oslo",)})

    assert "reply with your own words" in text
    assert "one after another" not in text
    assert read_set((CITY, EXTRAS), {"city": ("Oslo",)}, "my words").answers == {
        "extras": ("my words",)
    }


def test_what_is_answered_is_shown_and_not_asked_again() -> None:
    text = present(_set(CITY, EXTRAS), answered={"city": ("Oslo",)})

    assert "One question is left:" in text
    assert "**1. City:** Oslo" in text
    assert "b) Rome" not in text
    assert "**2. Extras** — What else?" in text
    assert "`a, b`" in text


def test_one_question_of_a_set_says_which_it_is() -> None:
    text = present_one(_set(CITY, EXTRAS), "extras")

    assert text.startswith("*Question 2 of 2*\n\nWhat else?")
    assert "1. Food" in text


def test_short_labels_stand_on_the_buttons_and_the_list_is_left_out() -> None:
    assert ENV.labels == captions(ENV)
    assert "1. dev" not in present(_set(ENV), buttons=True)
    assert "1. dev" in present(_set(ENV))


def test_beside_buttons_the_text_speaks_of_no_number_and_says_nothing_twice() -> None:
    text = present(_set(ENV), buttons=True)

    assert text == f"{ENV.text}\n\nPress a button, or just type your answer."
    assert text == present_one(_set(ENV), ENV.key, buttons=True)


def test_numbered_buttons_are_spoken_of_as_numbers() -> None:
    text = present(_set(make_question(*LONG)), buttons=True)

    assert text.endswith("\n\nPress the number of an option, or just type your answer.")


def test_an_open_question_is_told_how_to_skip_it_whatever_the_surface() -> None:
    assert present(_set(OPEN), buttons=True) == present(_set(OPEN))


def test_descriptions_keep_the_list_beside_the_buttons() -> None:
    assert "1. Oslo — up north" in present(_set(CITY), buttons=True)


def test_long_labels_that_would_be_clipped_alike_are_numbered_and_listed_in_full() -> None:
    question = make_question(*LONG)

    assert captions(question) == ("1", "2")
    assert all(label in present(_set(question), buttons=True) for label in LONG)


def test_labels_that_read_the_same_are_numbered() -> None:
    assert are_numbered(make_question("Yes", "YES"))


def test_toggles_show_what_is_on() -> None:
    assert captions(EXTRAS, selected={1}) == ("☐ Food", "☑ Bed")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=4))
def test_the_captions_of_a_question_are_pairwise_distinct(labels: list[str]) -> None:  # B013
    texts = captions(make_question(*labels))

    assert len(labels) == len(set(texts))


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab *_`[]()<>~|&;$#+-=.!\\12:/", max_size=30))
def test_an_escaped_label_is_shown_as_it_is(label: str) -> None:
    assert " ".join(label.split()) == _shown(escape(label)).replace("\n", "").strip()


def test_an_escaped_label_never_begins_a_block() -> None:
    for label in ("# a", "- a", "+ a", "1. a", "2) a", "> a", "* a", "---", "==="):
        kinds = [token.type for token in MarkdownIt().parse(escape(label))]

        assert kinds == ["paragraph_open", "inline", "paragraph_close"]


@pytest.mark.proves("Q5")
def test_a_summary_puts_the_full_question_beside_its_answer() -> None:
    text = summary(
        _set(CITY, EXTRAS),
        {"city": ("Rome",), "extras": ("Food", "a *view*")},
        State.ANSWERED,
        by="Ann",
        surface="telegram",
    )

    expected = (
        "Which city?  \n→ **Rome**\n\nWhat else?  \n→ **Food, a \\*view\\***\n\n"
        "*Answered by Ann on telegram*"
    )
    assert expected == text


def test_a_summary_says_how_each_question_ended() -> None:
    for state, words in [
        (State.SKIPPED, "skipped"),
        (State.EXPIRED, "expired"),
        (State.CANCELLED, "cancelled"),
        (State.UNDELIVERABLE, "could not be delivered"),
    ]:
        text = summary(_set(CITY, EXTRAS), {"city": ("Rome",)}, state)

        assert "→ **Rome**" in text
        assert f"What else?  \n→ *{words}" in text


def test_none_of_them_is_an_answer() -> None:
    assert "→ **none**" in summary(_set(EXTRAS), {"extras": ()}, State.ANSWERED)
