"""Who may speak, decided from plain values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.messages import ChatType, Source
from gateway.policy import Grant, decide

ADA = "111"


def source(**changes) -> Source:
    facts = {
        "platform": "telegram",
        "account": "bot",
        "chat_type": ChatType.DM,
        "chat_id": ADA,
        "user_id": ADA,
        "user_name": "ada",
    }
    return Source(**(facts | changes))


def allowed(who: Source, *grants: Grant, platform_open=False, everywhere_open=False) -> bool:
    return decide(
        who, platform_open=platform_open, grants=grants, everywhere_open=everywhere_open
    ).allowed


@pytest.mark.proves("A1")
def test_nobody_may_speak_by_default() -> None:
    verdict = decide(source(), platform_open=False, grants=[], everywhere_open=False)
    assert not verdict.allowed
    assert verdict.reason == "not on the allowlist"


def test_an_entry_for_a_person_lets_them_in_everywhere_on_that_platform() -> None:
    grant = Grant(platform="telegram", user_id=ADA)
    assert allowed(source(), grant)
    assert allowed(source(chat_type=ChatType.GROUP, chat_id="-5"), grant)


@pytest.mark.proves("S1")
def test_an_entry_is_for_one_platform() -> None:
    assert not allowed(source(), Grant(platform="slack", user_id=ADA))


@pytest.mark.proves("A1")
@pytest.mark.parametrize("field", ["account", "scope_id", "chat_id", "user_id"])
def test_every_bound_field_must_match(field: str) -> None:
    assert not allowed(source(), Grant(platform="telegram", **{field: "other"}))


def test_an_entry_for_a_chat_opens_it_to_everybody_in_it() -> None:
    grant = Grant(platform="telegram", chat_id="-5")
    assert allowed(source(chat_id="-5", user_id="9", chat_type=ChatType.GROUP), grant)
    assert not allowed(source(user_id="9", chat_id="9"), grant)


def test_an_entry_that_names_nobody_and_no_chat_allows_nobody() -> None:
    assert not allowed(source(), Grant(platform="telegram"))


def test_a_stable_id_counts_as_the_person() -> None:
    grant = Grant(platform="signal", user_id="uuid")
    assert allowed(source(platform="signal", user_id="+49", user_id_alt="uuid"), grant)


@pytest.mark.proves("A4")
@pytest.mark.parametrize("name", ["ada", "@ada", "Ada"])
def test_a_name_is_never_an_identity(name: str) -> None:
    assert not allowed(source(user_id="666"), Grant(platform="telegram", user_id=name))


def test_an_unknown_sender_matches_no_entry_for_a_person() -> None:
    assert not allowed(source(user_id=""), Grant(platform="telegram", user_id=ADA))


@pytest.mark.proves("A1")
def test_an_open_platform_lets_everybody_in() -> None:
    assert allowed(source(user_id="9"), platform_open=True)


def test_an_open_installation_lets_everybody_in() -> None:
    assert allowed(source(user_id="9"), everywhere_open=True)


def test_whoever_is_logged_in_to_the_site_may_speak_in_the_control_ui() -> None:
    assert allowed(source(platform="console", chat_type=ChatType.CONSOLE))


@pytest.mark.proves("A3")
@given(
    platform_open=st.booleans(),
    everywhere_open=st.booleans(),
    chat_type=st.sampled_from(ChatType),
    grants=st.lists(st.just(Grant(platform="telegram")), max_size=2),
)
def test_a_bot_never_starts_a_turn(platform_open, everywhere_open, chat_type, grants) -> None:
    who = source(is_bot=True, chat_type=chat_type)
    assert not allowed(who, *grants, platform_open=platform_open, everywhere_open=everywhere_open)
