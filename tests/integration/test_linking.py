"""[A5]: one person on two platforms, proved by codes both ways; never more than both may."""

import re

import pytest

from clarify.risks import RiskLevel
from gateway import access, admission, barring, turns
from gateway.errors import NotPossible
from gateway.identity import links
from gateway.identity.models import Link, LinkEnd
from gateway.messages import ChatType, Source
from gateway.models import AllowEntry, AuditEvent, Turn
from gateway.roles import Role
from gateway.states import FailureKind
from tests.factories import make_account, make_allow_entry
from tests.fakes.clock import FakeClock
from tests.integration.door import Door, fresh, said

pytestmark = pytest.mark.django_db(transaction=True)

HERE = {"user_id": "7", "chat_id": "7"}
THERE = {"user_id": "88", "chat_id": "88", "scope_id": "T1"}
CODE = re.compile(r"`/link ([2-9A-Z]{4}-[2-9A-Z]{4})`")


@pytest.fixture
def door(clock: FakeClock) -> Door:
    door = Door(clock)
    make_account("other")
    make_allow_entry(user_id="88")
    return door


def told(door: Door, text: str, **who) -> str:
    door.say(text, **who)
    return said()[-1]


def code_in(words: str) -> str:
    return CODE.search(words).group(1)


def link(door: Door) -> Link:
    first = code_in(told(door, "/link", **HERE))
    second = code_in(told(door, f"/link {first}", **THERE))
    door.say(f"/link {second}", **HERE)
    return Link.objects.get(state="linked")


def judged(**who):
    facts = {"platform": "telegram", "account": "telegram", "chat_type": ChatType.DM}
    return access.judge(Source(**(facts | who)))


@pytest.mark.proves("A5")
def test_a_link_needs_a_code_each_way_and_both_sides_are_told(door) -> None:
    made = link(door)

    words = said()[-2:]
    assert ["`88`" in words[0], "`7`" in words[1]] == [True, True]
    ends = list(made.ends.order_by("-is_first"))
    assert [(end.user_id, end.proved_at is not None) for end in ends] == [("7", True), ("88", True)]
    assert all(end.message_id for end in ends)


@pytest.mark.proves("A5")
def test_one_code_alone_links_nobody(door) -> None:
    first = code_in(told(door, "/link", **HERE))
    told(door, f"/link {first}", **THERE)

    assert not Link.objects.filter(state="linked").exists()
    assert judged(**THERE).reason == "on the allowlist"


@pytest.mark.proves("A5")
def test_the_second_code_counts_on_the_first_side_only(door) -> None:
    make_allow_entry(user_id="9")
    first = code_in(told(door, "/link", **HERE))
    second = code_in(told(door, f"/link {first}", **THERE))

    for who in (THERE, {"user_id": "9", "chat_id": "9"}):
        assert "does not count here" in told(door, f"/link {second}", **who)
    assert not Link.objects.filter(state="linked").exists()


def test_nobody_is_linked_with_themselves(door) -> None:
    first = code_in(told(door, "/link", **HERE))
    assert "does not count here" in told(door, f"/link {first}", **HERE)


def test_two_who_are_linked_are_not_linked_again(door) -> None:
    link(door)
    first = code_in(told(door, "/link", **HERE))
    assert "does not count here" in told(door, f"/link {first}", **THERE)


@pytest.mark.proves("A5")
def test_codes_of_a_link_count_for_a_quarter_of_an_hour_and_once(door) -> None:
    first = code_in(told(door, "/link", **HERE))
    door.clock.advance(15 * 60)
    assert "does not count here" in told(door, f"/link {first}", **THERE)
    first = code_in(told(door, "/link", **HERE))
    told(door, f"/link {first}", **THERE)
    assert "does not count here" in told(door, f"/link {first}", **THERE)


def test_only_the_last_code_that_somebody_asked_for_counts(door) -> None:
    first = code_in(told(door, "/link", **HERE))
    again = code_in(told(door, "/link", **HERE))
    assert "does not count here" in told(door, f"/link {first}", **THERE)
    assert "Nearly there" in told(door, f"/link {again}", **THERE)


def test_whoever_asks_for_too_many_codes_waits(door) -> None:
    for _ in range(5):
        told(door, "/link", **HERE)
    assert "Try again in an hour" in told(door, "/link", **HERE)


@pytest.mark.proves("A5")
def test_whoever_guesses_codes_is_stopped(door) -> None:
    for _ in range(10):
        told(door, "/link AAAA-AAAA", **THERE)
    first = code_in(told(door, "/link", **HERE))
    assert "Too many codes were wrong" in told(door, f"/link {first}", **THERE)


def test_a_code_is_not_said_where_others_read_it(door) -> None:
    words = told(
        door, "/link", user_id="7", chat_id="-5", chat_type=ChatType.GROUP, mentions_bot=True
    )
    assert "in private" in words
    assert not Link.objects.exists()


@pytest.mark.proves("A5", "Q19b")
def test_linked_identities_may_what_both_may_and_no_more(door) -> None:
    AllowEntry.objects.filter(user_id="7").update(role=Role.ADMIN)
    AllowEntry.objects.filter(user_id="88").update(approves_up_to=RiskLevel.LOW)
    link(door)

    for who in (HERE, THERE):
        verdict = judged(**who)
        assert verdict.role() is Role.MEMBER
        assert verdict.authority.own is RiskLevel.LOW
        assert verdict.authority.others is None


@pytest.mark.proves("A5", "A8")
def test_whoever_may_not_speak_on_one_side_may_not_on_the_other(door) -> None:
    link(door)
    turn = door.say("Deploy it, please", **HERE).turn
    AllowEntry.objects.filter(user_id="88").delete()

    assert barring.sweep(now=door.clock()) == 1

    assert "linked to" in fresh(turn).detail
    row = door.say("Hello", **HERE)
    assert (row.decision, "linked to" in row.reason) == ("denied", True)


def test_what_waits_of_somebody_who_may_less_by_a_link_ends(door) -> None:
    AllowEntry.objects.filter(user_id="88").update(role=Role.VIEWER)
    turn = door.say("Deploy it, please", **HERE).turn

    link(door)

    assert fresh(turn).state == "stopped"


@pytest.mark.proves("A5")
def test_either_side_ends_a_link_and_both_are_told(door) -> None:
    made = link(door)

    door.say("/unlink", **THERE)

    made = fresh(made)
    assert (made.state, made.ended_by) == ("ended", "telegram:88")
    assert ["any more" in words for words in said()[-2:]] == [True, True]
    AllowEntry.objects.filter(user_id="88").delete()
    assert judged(**HERE).allowed


def test_whoever_is_not_linked_is_told_so(door) -> None:
    assert "linked with nobody" in told(door, "/unlink", **HERE)


@pytest.mark.proves("A5", "A7")
def test_each_step_of_a_link_is_in_the_audit_log(door) -> None:
    made = link(door)
    admission.unlink(made, actor="boss", now=door.clock())

    rows = AuditEvent.objects.filter(subject=f"link:{made.pk}").order_by("pk")
    steps = [(row.action, row.actor) for row in rows]
    assert steps == [
        ("link.asked", "telegram:7"),
        ("link.answered", "telegram:88"),
        ("link.confirmed", "telegram:7"),
        ("link.ended", "boss"),
    ]


def test_a_link_ends_once(door) -> None:
    made = link(door)
    admission.unlink(made, actor="boss", now=door.clock())
    with pytest.raises(NotPossible):
        admission.unlink(made, actor="boss", now=door.clock())


@pytest.mark.proves("A5", "S1")
def test_the_same_id_in_another_workspace_is_somebody_else(door) -> None:
    link(door)
    AllowEntry.objects.filter(user_id="7").delete()

    assert judged(user_id="88", chat_id="88", scope_id="T2").allowed
    assert not judged(**THERE).allowed


@pytest.mark.proves("A5")
def test_sessions_stay_apart(door) -> None:
    link(door)
    here, there = door.say("one", **HERE).turn, door.say("two", **THERE).turn
    assert here.session_id != there.session_id
    assert Turn.objects.count() == 2


def test_what_nobody_finished_is_forgotten(door) -> None:
    told(door, "/link", **HERE)
    door.clock.advance(3600)
    links.tidy(now=door.clock())
    assert Link.objects.get().state == "lapsed"
    door.clock.advance(31 * 86_400)
    links.tidy(now=door.clock())
    assert not LinkEnd.objects.exists()


# --- one history, if the link says so


@pytest.mark.proves("A5")
def test_a_link_that_says_so_lets_both_private_chats_go_on_with_one_history(door) -> None:
    link(door)

    told(door, "/link share", **THERE)

    assert ["one history" in words for words in said()[-2:]] == [True, True]
    here, there = door.say("one", **HERE).turn, door.say("two", **THERE).turn
    assert there.session_id == here.session_id
    assert there.conversation_id != here.conversation_id
    assert AuditEvent.objects.get(action="link.shared").actor == "telegram:88"


def test_one_who_begins_afresh_does_so_on_both_sides(door) -> None:
    link(door)
    told(door, "/link share", **HERE)
    before = door.say("one", **HERE).turn
    told(door, "/new", **THERE)

    after = door.say("two", **HERE).turn

    assert after.session_id != before.session_id
    assert after.session_id == door.say("three", **THERE).turn.session_id


@pytest.mark.proves("A5", "T1")
def test_one_history_is_never_written_by_two_turns_at_once(door) -> None:
    link(door)
    told(door, "/link share", **HERE)
    here, there = door.say("one", **HERE).turn, door.say("two", **THERE).turn

    first = turns.claim(here.conversation_id, "host/1/1", now=door.clock(), capacity=9)
    assert first == here
    assert turns.claim(there.conversation_id, "host/1/1", now=door.clock(), capacity=9) is None
    turns.fail(first, FailureKind.INTERNAL, "No", "", now=door.clock())
    assert turns.claim(there.conversation_id, "host/1/1", now=door.clock(), capacity=9) == there


@pytest.mark.proves("A5")
@pytest.mark.parametrize("words", ["/link apart", "/unlink"])
def test_histories_are_apart_again_when_the_link_does_not_say_so(door, words) -> None:
    link(door)
    before = door.say("one", **HERE).turn
    told(door, "/link share", **HERE)
    there = door.say("two", **THERE).turn
    assert door.say("three", **HERE).turn.session_id == there.session_id

    told(door, words, **THERE)

    assert door.say("four", **THERE).turn.session_id == there.session_id
    assert door.say("five", **HERE).turn.session_id == before.session_id


def test_a_group_keeps_its_own_history(door) -> None:
    link(door)
    told(door, "/link share", **HERE)
    here = door.say("one", **HERE).turn
    group = {"user_id": "88", "chat_id": "-5", "scope_id": "T1", "chat_type": ChatType.GROUP}
    assert door.say("two", **group, mentions_bot=True).turn.session_id != here.session_id


def test_what_is_so_already_is_said_to_be(door) -> None:
    assert "linked with nobody" in told(door, "/link share", **HERE)
    made = link(door)
    assert "so already" in told(door, "/link apart", **HERE)
    with pytest.raises(NotPossible):
        admission.share(made, shares=False, actor="boss", now=door.clock())
    admission.share(made, shares=True, actor="boss", now=door.clock())
    assert fresh(made).shares
