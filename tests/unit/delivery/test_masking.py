"""Ids of people in what is logged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delivery import masking

KEY = "a key"
IDS = st.text(alphabet="abcXYZ0123456789+-@:._", min_size=masking.SHORTEST, max_size=20)


@pytest.mark.proves("A4")
@given(IDS, st.text(max_size=40), st.text(max_size=40))
def test_no_id_of_the_people_worked_for_is_shown(identity: str, before: str, after: str) -> None:
    with masking.people(identity):
        shown = masking.masked(f"{before} {identity} {after}", KEY)
    assert f" {identity} " not in f"{shown} "
    assert masking.mark(identity, KEY) in shown


def test_the_mark_of_an_id_stays_the_same_and_differs_with_the_key() -> None:
    assert masking.mark("48151623", KEY) == masking.mark("48151623", KEY)
    assert masking.mark("48151623", KEY) != masking.mark("48151623", "another")
    assert "48151623" not in masking.mark("48151623", KEY)


def test_a_number_that_only_contains_an_id_is_another_number() -> None:
    with masking.people("48151"):
        assert masking.masked("turn=481516 took 48151 ms", KEY).startswith("turn=481516 took id-")


def test_outside_of_the_work_nothing_is_masked() -> None:
    with masking.people("48151623"):
        pass
    assert masking.masked("48151623", KEY) == "48151623"


def test_work_within_work_masks_both() -> None:
    with masking.people("48151623"), masking.people("23421516"):
        shown = masking.masked("48151623 and 23421516", KEY)
    assert shown.count("id-") == 2


@pytest.mark.proves("A4")
@pytest.mark.parametrize(
    "key",
    [
        "agent:default:telegram:bot::dm:48151623",
        "agent:default:slack:bot:T1:group:C1:169.2:U4815",
        "agent:default:telegram:bot::group:-100::48151623",
    ],
)
def test_a_conversation_key_is_shown_without_its_ids_whoever_is_worked_for(key) -> None:
    shown = masking.masked(f'Key (key)=({key}) exists, "{key}"', KEY)
    assert key.rpartition(":")[2] not in shown
    assert shown.startswith(f"Key (key)=({':'.join(key.split(':')[:4])}:id-")
    assert shown.endswith('"')


@pytest.mark.parametrize("text", ["", "agent: the model", "an agent:with:colons", "user-agent:x"])
def test_what_names_nobody_stays_as_it_is(text) -> None:
    assert masking.masked(text, KEY) == text
