"""One-time codes: how they are spelled, and read back however they were typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.identity import codes

NUMBERS = st.integers(min_value=0, max_value=2**codes.BITS - 1)


@pytest.mark.proves("A2")
def test_no_letter_of_a_code_can_be_taken_for_another() -> None:
    assert not set("0O1Il") & set(codes.ALPHABET)
    assert len(set(codes.ALPHABET)) == 32
    assert codes.BITS >= 40


@given(NUMBERS)
def test_every_number_has_a_code_of_its_own(number: int) -> None:
    letters = codes.spelled(number).replace("-", "")
    value = 0
    for letter in letters:
        value = value * 32 + codes.ALPHABET.index(letter)
    assert value == number


@given(NUMBERS)
@pytest.mark.parametrize(
    "written",
    [str.lower, lambda code: code.replace("-", ""), lambda code: f" `{code}` ", lambda code: code],
)
def test_a_code_is_read_however_it_is_written(written, number: int) -> None:
    code = codes.spelled(number)
    assert codes.read(written(code)) == code


@given(st.text(max_size=30))
def test_whatever_is_typed_is_read_as_a_code_or_as_none(text: str) -> None:
    read = codes.read(text)
    assert read == "" or codes.read(read) == read


@pytest.mark.parametrize("text", ["", "ABCD", "ABCD-EFG0", "ABCD-EFGH-J", "#3", "please"])
def test_what_is_no_code_is_read_as_none(text: str) -> None:
    assert codes.read(text) == ""
