"""The buttons under a question, and what a press of one is read as."""

import pytest

from clarify import buttons
from clarify.schema import Option, Question

TOKEN = "x" * 16  # as long as a real one
WHERE = Question(
    key="where",
    header="Where",
    text="Where to?",
    options=(Option("Staging"), Option("Production")),
)


def test_each_option_has_a_row_and_the_ways_out_share_the_last() -> None:
    rows = buttons.controls(WHERE, TOKEN).rows

    assert [[button.label for button in row] for row in rows] == [
        ["Staging"],
        ["Production"],
        ["Other…", "Skip"],
    ]


@pytest.mark.parametrize(
    "question",
    [
        Question(key="name", header="", text="Its name?"),
        Question(
            key="where", header="", text="Where to?", options=WHERE.options, multi_select=True
        ),
    ],
)
def test_what_one_press_cannot_answer_has_no_buttons(question: Question) -> None:
    assert buttons.controls(question, TOKEN).rows == ()


def test_a_pressed_button_names_its_prompt_and_its_option() -> None:
    pressed = [
        buttons.from_button(button.data)
        for row in buttons.controls(WHERE, TOKEN).rows
        for button in row
    ]

    assert pressed == [(TOKEN, "0"), (TOKEN, "1"), (TOKEN, buttons.OTHER), (TOKEN, buttons.SKIP)]
    assert buttons.option(WHERE, "1") == Option("Production")


def test_a_button_carries_few_bytes_and_no_words() -> None:
    for row in buttons.controls(WHERE, TOKEN).rows:
        for button in row:
            assert len(button.data.encode("ascii")) <= 24
            assert "Staging" not in button.data


@pytest.mark.parametrize("data", ["", "q", "q:", "q:token", "x:token:0", "q:token:0:0"])
def test_what_no_button_carries_names_nothing(data: str) -> None:
    assert buttons.from_button(data) is None


@pytest.mark.parametrize("choice", ["", "2", "-1", "00", "²", "１", "o", "s", "x"])
def test_what_no_option_carries_is_none_of_them(choice: str) -> None:
    assert buttons.option(WHERE, choice) is None
