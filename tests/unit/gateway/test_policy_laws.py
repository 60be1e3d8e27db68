"""Laws of who may speak, for whatever entries there are ([A1], [A6], [A5])."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarify.risks import RiskLevel
from gateway.messages import ChatType, Source
from gateway.policy import Grant, Right, Verdict, decide, together
from gateway.roles import Role

PLATFORMS = st.sampled_from(["telegram", "slack"])
IDS = st.sampled_from(["", "1", "2"])
COMMANDS = ["", "status", "approve", "new"]
LEVELS = st.one_of(st.none(), st.sampled_from(RiskLevel))
SOURCES = st.builds(
    Source,
    platform=PLATFORMS,
    account=st.sampled_from(["a", "b"]),
    chat_type=st.sampled_from([ChatType.DM, ChatType.GROUP, ChatType.CHANNEL]),
    chat_id=st.sampled_from(["1", "2"]),
    user_id=IDS,
    scope_id=IDS,
    user_id_alt=IDS,
    is_bot=st.booleans(),
)
GRANTS = st.builds(
    Grant,
    platform=PLATFORMS,
    account=st.sampled_from(["", "a"]),
    scope_id=IDS,
    chat_id=IDS,
    user_id=IDS,
    role=st.sampled_from(Role),
    approves_up_to=LEVELS,
    commands=st.frozensets(st.sampled_from(COMMANDS[1:]), max_size=2),
    tools_up_to=LEVELS,
    is_for_bot=st.booleans(),
    only_direct=st.booleans(),
)
WIDE = {
    "account": "",
    "scope_id": "",
    "chat_id": "",
    "commands": frozenset(),
    "tools_up_to": None,
    "role": Role.ADMIN,
    "approves_up_to": RiskLevel.CRITICAL,
    "only_direct": False,
}
NARROW = {
    "account": "a",
    "scope_id": "1",
    "chat_id": "1",
    "commands": frozenset({"status"}),
    "tools_up_to": RiskLevel.LOW,
    "role": Role.VIEWER,
    "approves_up_to": RiskLevel.LOW,
    "only_direct": True,
}


def judge(source: Source, *grants: Grant, pairings=(), **opened) -> Verdict:
    facts = {"platform_open": False, "everywhere_open": False} | opened
    return decide(source, grants=grants, pairings=pairings, members_approve=RiskLevel.HIGH, **facts)


def rank(role: Role | None) -> int:
    return -1 if role is None else role.rank


def level(most: RiskLevel | None) -> int:
    return -1 if most is None else most.rank


def own(verdict: Verdict) -> int:
    """Up to where they approve what is done for themselves."""
    return max(level(verdict.authority.own), level(verdict.authority.others))


def bound(verdict: Verdict) -> int:
    """How far the agent may go for them."""
    if not verdict.may(Role.MEMBER):
        return -1
    return 9 if verdict.tools_up_to is None else verdict.tools_up_to.rank


def gives_no_more(one: Verdict, other: Verdict) -> bool:
    """Whether `one` lets nobody do what `other` does not."""
    return (
        one.allowed <= other.allowed
        and all(rank(one.role(name)) <= rank(other.role(name)) for name in COMMANDS)
        and level(one.authority.own)
        <= max(level(other.authority.own), level(other.authority.others))
        and level(one.authority.others) <= level(other.authority.others)
        and bound(one) <= bound(other)
    )


@pytest.mark.proves("A1")
@given(SOURCES)
def test_without_an_entry_nobody_may_anything(source: Source) -> None:
    verdict = judge(source)
    assert not verdict.allowed
    assert [verdict.role(name) for name in COMMANDS] == [None] * len(COMMANDS)
    assert level(verdict.authority.own) == level(verdict.authority.others) == -1


@pytest.mark.proves("A1")
@pytest.mark.parametrize("name", WIDE)
@given(SOURCES, GRANTS, st.lists(GRANTS, max_size=2))
def test_an_entry_that_is_bound_to_more_gives_no_more(
    name: str, source: Source, grant: Grant, others: list[Grant]
) -> None:
    named = replace(grant, user_id=grant.user_id or "1")
    wide, narrow = replace(named, **{name: WIDE[name]}), replace(named, **{name: NARROW[name]})

    assert gives_no_more(judge(source, narrow, *others), judge(source, wide, *others))


@pytest.mark.proves("A1")
@given(SOURCES, GRANTS)
def test_one_person_in_a_chat_is_let_in_no_further_than_everybody_there(
    source: Source, grant: Grant
) -> None:
    everybody = replace(grant, user_id="", chat_id="1", is_for_bot=False)
    one = replace(everybody, user_id="1")

    for name in COMMANDS:
        assert rank(judge(source, one).role(name)) <= rank(judge(source, everybody).role(name))


@pytest.mark.proves("A1")
@given(SOURCES, st.lists(GRANTS, max_size=3), GRANTS)
def test_another_entry_takes_nothing_away(source: Source, grants: list[Grant], more: Grant) -> None:
    assert gives_no_more(judge(source, *grants), judge(source, *grants, more))


@given(SOURCES, st.lists(GRANTS, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_entries_says_nothing(source: Source, grants: list[Grant], random) -> None:
    shuffled = list(grants)
    random.shuffle(shuffled)
    one, other = judge(source, *grants), judge(source, *shuffled)
    assert gives_no_more(one, other)
    assert gives_no_more(other, one)


@pytest.mark.proves("A1")
@pytest.mark.parametrize(
    ("opened", "reason"),
    [
        (("platform", "list", "paired", "all"), "the platform is open to everybody"),
        (("list", "paired", "all"), "on the allowlist"),
        (("paired", "all"), "paired"),
        (("all",), "everybody is allowed everywhere"),
        ((), "not on the allowlist"),
    ],
)
def test_the_first_that_lets_somebody_in_gives_the_reason(opened, reason) -> None:
    source = Source(
        platform="telegram", account="a", chat_type=ChatType.DM, chat_id="1", user_id="1"
    )
    entry = Grant(platform="telegram", user_id="1")
    verdict = judge(
        source,
        *([entry] if "list" in opened else []),
        pairings=[replace(entry, only_direct=True)] if "paired" in opened else [],
        platform_open="platform" in opened,
        everywhere_open="all" in opened,
    )
    assert verdict.reason == reason


@pytest.mark.proves("A1")
@given(SOURCES, GRANTS)
def test_every_field_that_is_bound_must_match(source: Source, grant: Grant) -> None:
    if not grant.covers(source):
        return
    bound_to = (grant.platform, grant.account, grant.scope_id, grant.chat_id)
    there = (source.platform, source.account, source.scope_id, source.chat_id)
    assert all(not wanted or wanted == is_so for wanted, is_so in zip(bound_to, there, strict=True))
    assert not grant.user_id or grant.user_id in {source.user_id, source.user_id_alt}
    assert grant.user_id or grant.chat_id
    assert not source.is_bot or grant.is_for_bot


@pytest.mark.proves("A3")
@given(SOURCES, st.lists(GRANTS, max_size=3), st.booleans(), st.booleans())
def test_a_bot_approves_nothing_and_speaks_by_an_entry_of_its_own_only(
    source: Source, grants: list[Grant], platform_open: bool, everywhere_open: bool
) -> None:
    bot = replace(source, is_bot=True)
    verdict = judge(bot, *grants, platform_open=platform_open, everywhere_open=everywhere_open)
    assert level(verdict.authority.own) == level(verdict.authority.others) == -1
    named = [grant for grant in grants if grant.is_for_bot and grant.user_id]
    assert not verdict.allowed or named


@pytest.mark.proves("A6")
@given(st.lists(GRANTS, max_size=3), SOURCES)
def test_a_role_goes_as_far_as_every_lower_one(grants: list[Grant], source: Source) -> None:
    verdict = judge(source, *grants)
    for name in COMMANDS:
        may = [verdict.may(role, name) for role in Role]
        assert may == sorted(may, reverse=True)


@pytest.mark.proves("A6")
def test_a_viewer_approves_nothing_whatever_the_entry_says() -> None:
    grant = Grant(
        platform="telegram", user_id="1", role=Role.VIEWER, approves_up_to=RiskLevel.CRITICAL
    )
    authority = grant.authority(RiskLevel.CRITICAL)
    assert (authority.own, authority.others) == (None, None)


@pytest.mark.proves("A1")
def test_an_entry_for_some_commands_lets_nobody_write_to_the_agent() -> None:
    source = Source(
        platform="telegram", account="a", chat_type=ChatType.DM, chat_id="1", user_id="1"
    )
    verdict = judge(source, Grant(platform="telegram", user_id="1", commands=frozenset({"status"})))
    assert (verdict.allowed, verdict.role("status"), verdict.role("new")) == (
        *(True, Role.MEMBER, None),
    )
    assert not verdict.may(Role.VIEWER)
    assert verdict.authority.own is None


@pytest.mark.proves("A5")
@given(SOURCES, SOURCES, st.lists(GRANTS, max_size=3), st.lists(GRANTS, max_size=3))
def test_two_who_are_one_may_no_more_than_each_of_them(
    one: Source, other: Source, ones: list[Grant], others: list[Grant]
) -> None:
    first, second = judge(one, *ones), judge(other, *others)
    both = together(first, second, who="the other")
    assert gives_no_more(both, first)
    assert gives_no_more(both, second)


@pytest.mark.proves("A5")
@given(SOURCES, st.lists(GRANTS, max_size=3))
def test_who_is_linked_to_somebody_who_may_the_same_loses_nothing(source, grants) -> None:
    verdict = judge(source, *grants)
    assert gives_no_more(verdict, together(verdict, verdict, who="the other"))


def test_rights_to_different_commands_have_nothing_in_common() -> None:
    assert Right(Role.MEMBER, frozenset({"new"})) & Right(Role.MEMBER, frozenset({"stop"})) is None
