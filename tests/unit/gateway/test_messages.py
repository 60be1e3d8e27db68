"""Words that every database, encoder and platform can carry."""

import json

from hypothesis import example, given
from hypothesis import strategies as st

from gateway.messages import ChatType, Source, clean

anything = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)


@given(anything)
@example("a\x00b")
@example("\ud83d\ude00")
@example("\ud800 alone")
def test_clean_text_can_be_stored_and_sent(text: str) -> None:
    cleaned = clean(text)
    assert "\x00" not in cleaned
    assert json.loads(json.dumps(cleaned)) == cleaned
    cleaned.encode("utf-8")


@given(anything)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20))
def test_what_is_clean_already_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


def test_the_halves_of_a_character_are_joined() -> None:
    assert clean("\ud83d\ude00") == "\U0001f600"


def test_a_lone_half_is_shown_as_unreadable_not_dropped() -> None:
    assert clean("a\ud83db") == "a\ufffdb"


def test_an_answer_goes_where_the_message_came_from() -> None:
    source = Source(
        platform="slack",
        account="work",
        chat_type=ChatType.CHANNEL,
        chat_id="C1",
        user_id="U1",
        scope_id="T1",
        thread_id="1700.1",
    )
    address = source.address
    assert (address.platform, address.account, address.chat_id) == ("slack", "work", "C1")
    assert (address.scope_id, address.thread_id, address.chat_type) == ("T1", "1700.1", "channel")
