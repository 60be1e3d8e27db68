"""[Q19], [Q19b]: what a person approves is exactly what is shown, and how it is put to them."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarify import approvals
from clarify.approvals import Lasting, Operation, Reach, Ruling
from clarify.buttons import from_button
from clarify.risks import FULL_AUTHORITY, NO_AUTHORITY, Authority, RiskLevel
from clarify.states import State
from delivery.content import ButtonStyle

TOKEN = "t" * 16
POLICY = {
    Reach.SESSION: Lasting(RiskLevel.HIGH, 3600),
    Reach.ALWAYS: Lasting(RiskLevel.MEDIUM, 86_400),
}
LEVELS = st.sampled_from(RiskLevel)
MAYBE = st.none() | LEVELS
AUTHORITIES = st.builds(Authority, MAYBE, MAYBE)


def operation(**changes) -> Operation:
    facts = {
        "tool": "shell",
        "summary": "Run a shell command",
        "detail": "rm -r build",
        "level": RiskLevel.HIGH,
        "digest": "d",
        "lasting_key": "k",
        "covers": "this exact command",
        "lasts": {Reach.SESSION: 3600},
    }
    return Operation(**facts | changes)


def present(what: Operation, **changes) -> str:
    facts = {"asker": "Ada", "timeout": timedelta(minutes=10), "buttons": True} | changes
    return approvals.present(what, 17, **facts)


@pytest.mark.parametrize(
    ("level", "key", "reaches"),
    [
        (RiskLevel.MEDIUM, "k", {Reach.SESSION: 3600, Reach.ALWAYS: 86_400}),
        (RiskLevel.HIGH, "k", {Reach.SESSION: 3600}),
        (RiskLevel.CRITICAL, "k", {}),
        (RiskLevel.LOW, "", {}),
    ],
)
def test_lasting_approvals_are_offered_up_to_a_level(level, key, reaches):
    assert approvals.lasts(level, key, POLICY) == reaches


def test_the_text_shows_what_will_run_the_risk_the_number_and_the_end():
    text = present(operation())

    for words in ("rm -r build", "high risk", "#17", "Ada", "10m", "/approve 17", "/deny 17"):
        assert words in text


def test_a_lasting_approval_says_what_it_covers_and_for_how_long():
    assert "this exact command" in present(operation())
    assert "1h" in present(operation())
    assert "lasting" not in present(operation(lasts={}))


def test_a_long_operation_is_cut_in_the_middle_and_says_so():
    text = present(operation(detail="a" * 5000 + "END"))

    assert "END" in text
    assert "are not shown here" in text
    assert len(text) < 2500


@given(st.text(alphabet="`~\n ab", max_size=60))
def test_nothing_in_an_operation_can_end_its_code_block(detail):
    first, *inner, last = approvals.fenced(detail).split("\n")

    assert first == last
    assert set(first) == {"`"}
    assert all(first not in line for line in inner)


def test_the_buttons_stand_for_what_is_on_offer():
    rows = approvals.controls(operation(), TOKEN).rows

    assert [[button.label for button in row] for row in rows] == [
        ["✅ Approve once", "✋ Deny"],
        ["Approve for this session"],
    ]
    assert rows[0][1].style is ButtonStyle.DANGER
    rulings = [
        approvals.ruling_of(from_button(button.data)[1], operation())
        for row in rows
        for button in row
    ]
    assert rulings == [Ruling(True), Ruling(False), Ruling(True, Reach.SESSION)]


def test_a_button_that_was_not_offered_rules_nothing():
    assert approvals.ruling_of("aa", operation()) is None
    assert approvals.ruling_of("as", operation(lasts={})) is None
    assert approvals.ruling_of("p0.0", operation()) is None


@pytest.mark.parametrize(
    "ruling",
    [Ruling(True), Ruling(False, reason="wrong server"), Ruling(True, Reach.ALWAYS)],
)
def test_a_ruling_survives_its_column(ruling):
    assert Ruling.from_answers(ruling.as_answers()) == ruling


def test_an_operation_survives_its_column():
    assert Operation.from_dict(operation().as_dict()) == operation()


def test_another_argument_is_another_operation():
    one = approvals.digest("shell", {"command": "ls", "timeout": 1})

    assert one == approvals.digest("shell", {"timeout": 1, "command": "ls"})
    assert one != approvals.digest("shell", {"command": "ls ", "timeout": 1})
    assert one != approvals.digest("run", {"command": "ls", "timeout": 1})


def test_what_is_shown_hides_secrets_and_shows_what_is_invisible():
    shown = approvals.shown("curl -H 'Authorization: Bearer abcdef0123456789abcdef' x\u202e")

    assert "abcdef0123456789" not in shown
    assert "202E" in shown.upper()


@pytest.mark.parametrize(
    ("answers", "state", "words"),
    [
        (Ruling(True).as_answers(), State.ANSWERED, "Approved by Bo"),
        (
            Ruling(True, Reach.SESSION).as_answers(),
            State.ANSWERED,
            "Approved by Bo for this session",
        ),
        (Ruling(False, reason="no").as_answers(), State.ANSWERED, "Denied by Bo: no"),
        ({}, State.EXPIRED, "Not approved: nobody decided in time"),
        ({}, State.CANCELLED, "Not approved: it was cancelled"),
    ],
)
def test_the_ending_says_what_happened(answers, state, words):
    assert approvals.ending(answers, state, by="Bo") == words
    assert words in approvals.summary(operation(), answers, state, 17, by="Bo")


def test_the_agent_learns_of_a_denial_with_its_reason():
    told = approvals.denial(Ruling(False, reason="wrong server").as_answers(), State.ANSWERED)

    assert (told["status"], told["reason"]) == ("denied", "wrong server")


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (State.EXPIRED, "expired"),
        (State.CANCELLED, "cancelled"),
        (State.UNDELIVERABLE, "delivery_failed"),
    ],
)
def test_the_agent_learns_that_nobody_approved(state, reason):
    told = approvals.denial({}, state)

    assert (told["status"], told["reason"]) == ("not_approved", reason)


@pytest.mark.proves("Q19b")
@given(AUTHORITIES, AUTHORITIES, LEVELS, st.booleans())
def test_linked_identities_may_do_only_what_each_of_them_may(one, other, level, is_own):
    both = (one & other).allows(level, is_own=is_own)

    if both:
        assert one.allows(level, is_own=is_own)
        assert other.allows(level, is_own=is_own)
    assert one & FULL_AUTHORITY == one
    assert one & NO_AUTHORITY == NO_AUTHORITY
    assert one & other == other & one


@given(AUTHORITIES, AUTHORITIES, LEVELS, st.booleans())
def test_entries_of_one_identity_add_up(one, other, level, is_own):
    either = one.allows(level, is_own=is_own) or other.allows(level, is_own=is_own)

    assert (one | other).allows(level, is_own=is_own) == either


@given(AUTHORITIES, LEVELS)
def test_whoever_may_approve_for_others_may_for_themselves(authority, level):
    if authority.allows(level, is_own=False):
        assert authority.allows(level, is_own=True)
