"""Conversation keys: one for each place, and back again."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.keys import KeyFields, Sharing, correlation_of, fields_of, from_key, to_key, turn_of
from gateway.messages import ChatType, Source

HOSTILE = st.one_of(
    st.text(st.sampled_from("a:%|/2F3A \x00\n\u202e\ud800\U0001f600"), max_size=8),
    st.text(max_size=8),
    st.sampled_from(["", "agent", "%3A", "None", "-1001", "::", "%", "a%3Ab"]),
    st.sampled_from(
        [
            "Zm9v",
            "Zm9v==",
            "ZM9V",
            "a+b",
            "a b",
            "سلام",
            "\N{RIGHT-TO-LEFT MARK}سلام",
            "ａ",
            "a" * 4000,
        ]
    ),
)
fields = st.builds(
    KeyFields,
    profile=HOSTILE,
    platform=HOSTILE,
    account=HOSTILE,
    scope_id=HOSTILE,
    chat_type=HOSTILE,
    chat_id=HOSTILE,
    thread_id=HOSTILE,
    participant_id=HOSTILE,
)


def source(**changes) -> Source:
    facts = {
        "platform": "telegram",
        "account": "telegram",
        "chat_type": ChatType.GROUP,
        "chat_id": "-100",
        "user_id": "7",
    }
    return Source(**(facts | changes))


@pytest.mark.proves("S2")
@given(fields)
def test_a_key_says_exactly_its_fields(some: KeyFields) -> None:
    assert from_key(to_key(some)) == some


@pytest.mark.proves("S2")
@given(fields, fields)
def test_two_places_never_share_a_key(one: KeyFields, other: KeyFields) -> None:
    assert (to_key(one) == to_key(other)) == (one == other)


@given(fields)
def test_a_key_is_plain_ascii_whatever_the_ids_are(some: KeyFields) -> None:
    key = to_key(some)
    assert key.isascii()
    assert key.isprintable()
    assert " " not in key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"chat_id": "a:b", "thread_id": "c"}, {"chat_id": "a", "thread_id": "b:c"}),
        (
            {"chat_id": "x", "participant_id": "y"},
            {"chat_id": "x", "thread_id": "y"},
        ),
        ({"chat_id": "x", "thread_id": ""}, {"chat_id": "x:", "thread_id": ""}),
    ],
)
def test_shifted_colons_give_different_keys(one, other) -> None:
    same = {
        "profile": "default",
        "platform": "webhook",
        "account": "w",
        "scope_id": "",
        "chat_type": "webhook",
    }
    assert to_key(KeyFields(**same, **one)) != to_key(KeyFields(**same, **other))


@pytest.mark.proves("S2")
def test_a_key_is_spelt_as_documented() -> None:
    key = to_key(fields_of(source(thread_id="9", scope_id="s"), Sharing()))
    assert key == "agent:default:telegram:telegram:s:group:-100:9"


@pytest.mark.parametrize("text", ["", "agent", "agent:a:b:c:d:e", "x:a:b:c:d:e:f", "a" * 5000])
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a conversation key"):
        from_key(text)


@pytest.mark.proves("S3")
@pytest.mark.parametrize(
    ("per_group", "per_thread", "in_thread"), list(product([False, True], repeat=3))
)
def test_who_shares_a_history_is_decided_in_one_place(per_group, per_thread, in_thread) -> None:
    sharing = Sharing(group_per_participant=per_group, thread_per_participant=per_thread)
    found = fields_of(source(thread_id="9" if in_thread else ""), sharing)
    is_alone = per_thread if in_thread else per_group
    assert found.participant_id == ("7" if is_alone else "")


@pytest.mark.proves("S3")
@pytest.mark.parametrize("chat_type", [ChatType.DM, ChatType.CONSOLE])
def test_a_private_chat_has_one_history_whatever_the_policy(chat_type: ChatType) -> None:
    found = fields_of(source(chat_type=chat_type), Sharing(thread_per_participant=True))
    assert found.participant_id == ""


def test_a_stable_id_is_preferred_to_one_that_may_change() -> None:
    assert fields_of(source(user_id_alt="uuid"), Sharing()).participant_id == "uuid"


def test_a_changed_display_name_changes_nothing() -> None:
    one = fields_of(source(user_name="Ada"), Sharing())
    assert one == fields_of(source(user_name="Eve"), Sharing())


def test_the_name_of_a_turn_leads_back_to_it() -> None:
    assert turn_of(correlation_of(12)) == 12


@pytest.mark.parametrize("word", ["", "t12", "-1", "1.5", "٣", "9" * 30])
def test_what_names_no_turn_is_told_from_what_does(word: str) -> None:
    assert turn_of(word) is None
