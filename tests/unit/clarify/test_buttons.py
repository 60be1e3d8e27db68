"""What a button carries."""

import pytest

from clarify import buttons


def test_a_pressed_button_names_its_prompt_and_its_choice() -> None:
    assert buttons.from_button(buttons.button_data("x" * 16, "p0.3")) == ("x" * 16, "p0.3")


def test_a_button_carries_few_bytes() -> None:
    assert len(buttons.button_data("x" * 16, "p0.3").encode("ascii")) <= 24


@pytest.mark.parametrize("data", ["", "q", "q:", "q:token", "x:token:0", "q:token:0:0"])
def test_what_no_button_carries_names_nothing(data: str) -> None:
    assert buttons.from_button(data) is None
