"""[A2]: a stranger in private is given a code, and staff let in whoever says it."""

import re

import pytest

from delivery.models import Obligation
from gateway import admission, barring, tasks
from gateway.errors import NotPossible
from gateway.identity import pairing, sealing
from gateway.identity.models import Pairing, StrangerPolicy
from gateway.messages import ChatType
from gateway.models import AllowEntry, AuditEvent, Turn
from gateway.roles import Role
from tests.factories import make_account, make_allow_entry
from tests.fakes.clock import FakeClock
from tests.integration.door import Door, fresh, said

pytestmark = pytest.mark.django_db(transaction=True)

STRANGER = {"user_id": "9", "chat_id": "9", "user_name": "Eve"}
CODE = re.compile(r"`([2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4})`")


@pytest.fixture
def door(clock: FakeClock) -> Door:
    return Door(clock)


def stranger(number: int) -> dict[str, str]:
    return {"user_id": str(900 + number), "chat_id": str(900 + number)}


def code_for(door: Door, text: str = "Hello", **who) -> str:
    """What a stranger is told who writes; the code in it."""
    before = len(said())
    assert door.say(text, **(who or STRANGER)).decision == "denied"
    told = said()[before:]
    return CODE.search(told[0]).group(1) if told else ""


def approve(door: Door, code: str, **facts) -> Pairing:
    return admission.approve(code, actor="boss", now=door.clock(), **facts)


@pytest.mark.proves("A2")
def test_whoever_is_given_a_code_may_speak_once_staff_approve_it(door) -> None:
    code = code_for(door)

    approve(door, code)

    assert door.say(**STRANGER).decision == "turn"
    assert "on this bot's list now" in said()[-1]
    row = AuditEvent.objects.get(action="pairing.approved")
    assert (row.actor, row.detail["person"], row.detail["role"]) == ("boss", "telegram:9", "member")


@pytest.mark.proves("A2")
def test_a_code_is_stored_as_a_hash_with_the_key_of_the_installation(door, settings) -> None:
    code = code_for(door)
    row = Pairing.objects.get()
    assert code not in str(vars(row))
    assert code.replace("-", "") not in str(vars(row))
    assert row.code_hash == sealing.sealed(code, sealing.PAIRING)
    settings.SECRET_KEY = "another-key-of-another-installation"
    assert row.code_hash != sealing.sealed(code, sealing.PAIRING)


@pytest.mark.proves("A2")
def test_codes_differ_though_nothing_else_does() -> None:
    assert len({sealing.fresh() for _ in range(200)}) == 200


@pytest.mark.proves("A2")
def test_a_pairing_is_for_private_chats_and_for_no_group(door) -> None:
    approve(door, code_for(door))

    group = {"chat_id": "-5", "chat_type": ChatType.GROUP, "mentions_bot": True}
    assert door.say(**(STRANGER | group)).decision == "denied"


def test_a_pairing_is_for_the_account_that_was_asked(door) -> None:
    make_account("other")
    approve(door, code_for(door))

    assert door.say(**STRANGER, account="other").decision == "denied"


@pytest.mark.proves("A2")
def test_in_a_group_nobody_is_given_a_code(door) -> None:
    door.say("/pair", user_id="9", chat_id="-5", chat_type=ChatType.GROUP, mentions_bot=True)

    assert said() == []
    assert not Pairing.objects.exists()


@pytest.mark.proves("A2")
def test_a_code_counts_once(door) -> None:
    code = code_for(door)
    approve(door, code)

    with pytest.raises(NotPossible):
        approve(door, code)


@pytest.mark.proves("A2")
def test_a_code_counts_for_one_hour(door) -> None:
    code = code_for(door)
    door.clock.advance(3600)

    with pytest.raises(NotPossible):
        approve(door, code)
    assert door.say(**STRANGER).decision == "denied"


@pytest.mark.proves("A2")
def test_a_stranger_is_given_one_code_an_hour_and_three_if_they_ask(door) -> None:
    assert code_for(door)
    assert code_for(door, "Hello?") == ""
    assert code_for(door, "/pair")
    assert code_for(door, "/PAIR@hermes_bot please")
    assert code_for(door, "/pair") == ""
    door.clock.advance(3601)
    assert code_for(door, "/pair")


@pytest.mark.proves("A2")
def test_only_the_last_code_of_a_person_counts(door) -> None:
    first, second = code_for(door), code_for(door, "/pair")

    with pytest.raises(NotPossible):
        approve(door, first)
    approve(door, second)


@pytest.mark.proves("A2")
def test_no_more_than_three_wait_and_the_newest_is_never_turned_away(door) -> None:
    codes = [code_for(door, **stranger(number)) for number in range(4)]

    assert all(codes)
    assert pairing.waiting(now=door.clock()).count() == 3
    with pytest.raises(NotPossible):
        approve(door, codes[0])
    approve(door, codes[3])


@pytest.mark.proves("A2")
def test_whom_staff_have_seen_gives_way_last(door) -> None:
    seen = code_for(door, **stranger(0))
    pairing.mark_seen(Pairing.objects.all(), now=door.clock())

    for number in range(1, 5):
        door.clock.advance(1)
        code_for(door, **stranger(number))

    approve(door, seen)


def test_the_cap_is_of_each_account(door) -> None:
    make_account("other")
    for number in range(3):
        code_for(door, **stranger(number))

    code_for(door, **stranger(7), account="other")

    assert pairing.waiting(now=door.clock()).count() == 4


def test_an_account_may_let_more_wait(door) -> None:
    StrangerPolicy.objects.create(account="telegram", most_waiting=5)
    for number in range(7):
        code_for(door, **stranger(number))
    assert pairing.waiting(now=door.clock()).count() == 5


@pytest.mark.proves("A2")
def test_what_a_stranger_reads_says_nothing_of_others(door) -> None:
    def shape(text: str) -> str:
        return re.sub(r"`9\d*`", "`id`", CODE.sub("`code`", text))

    first = door.say(**stranger(0))
    for number in range(1, 6):
        door.say(**stranger(number))

    assert first.decision == "denied"
    assert len({shape(text) for text in said()}) == 1


@pytest.mark.proves("A2")
def test_ten_wrong_codes_void_what_waits(door) -> None:
    code = code_for(door)
    for _ in range(10):
        with pytest.raises(NotPossible):
            approve(door, "AAAA-AAAA")

    with pytest.raises(NotPossible):
        approve(door, code)
    assert fresh(Pairing.objects.get()).reason == "too many wrong codes were entered"
    assert AuditEvent.objects.filter(action="pairing.lapsed").count() == 1


def test_nine_wrong_codes_do_not(door) -> None:
    code = code_for(door)
    for _ in range(9):
        with pytest.raises(NotPossible):
            approve(door, "nonsense")

    assert approve(door, code).state == "paired"


@pytest.mark.proves("A2")
def test_every_code_that_does_not_count_is_refused_in_the_same_words(door) -> None:
    used = code_for(door)
    approve(door, used)
    late = code_for(door, **stranger(1))
    door.clock.advance(3600)

    words = set()
    for code in (used, late, "ABCD-EFGH", "", "/etc/passwd"):
        with pytest.raises(NotPossible) as refusal:
            approve(door, code)
        words.add(str(refusal.value))
    assert len(words) == 1


@pytest.mark.proves("A2", "A8")
def test_what_is_revoked_counts_at_once_for_what_waits_and_for_the_next_message(door) -> None:
    row = approve(door, code_for(door))
    prompt = door.asked(door.say("Deploy it, please", **STRANGER).turn)

    admission.revoke(row, actor="boss", now=door.clock())

    assert fresh(prompt).state == "cancelled"
    assert Turn.objects.get().state == "stopped"
    assert door.say("1", **STRANGER).decision == "denied"
    assert AuditEvent.objects.filter(action="pairing.revoked", actor="boss").exists()


def test_whoever_is_revoked_is_not_told(door) -> None:
    row = approve(door, code_for(door))
    before = Obligation.objects.count()

    admission.revoke(row, actor="boss", now=door.clock())

    assert Obligation.objects.count() == before


def test_whoever_was_revoked_may_ask_again(door) -> None:
    row = approve(door, code_for(door))
    admission.revoke(row, actor="boss", now=door.clock())
    door.clock.advance(3601)

    approve(door, code_for(door))

    assert door.say(**STRANGER).decision == "turn"


def test_what_is_not_paired_cannot_be_revoked(door) -> None:
    code_for(door)
    with pytest.raises(NotPossible, match="is not paired"):
        admission.revoke(Pairing.objects.get(), actor="boss", now=door.clock())


def test_a_request_that_staff_refuse_comes_to_nothing(door) -> None:
    code = code_for(door)
    admission.refuse(Pairing.objects.get(), actor="boss", now=door.clock())

    with pytest.raises(NotPossible):
        approve(door, code)


@pytest.mark.proves("A2")
def test_an_account_that_does_not_pair_says_the_id_alone(door) -> None:
    StrangerPolicy.objects.create(account="telegram", pairing=False)

    door.say("/pair", **STRANGER)

    assert "`9`" in said()[0]
    assert not CODE.search(said()[0])
    assert not Pairing.objects.exists()


def test_an_installation_may_pair_nobody(door, settings) -> None:
    settings.GATEWAY = settings.GATEWAY | {"PAIRING": False}
    door.say(**STRANGER)
    assert not CODE.search(said()[0])


@pytest.mark.proves("A2", "A6")
def test_an_admin_lets_somebody_in_by_command_and_nobody_else_does(door) -> None:
    code = code_for(door)
    assert door.say(f"/pair {code}").decision == "command"
    assert "takes the role “admin”" in said()[-1]
    AllowEntry.objects.filter(user_id="7").update(role=Role.ADMIN)

    door.say(f"/pair {code.lower()}")

    assert said()[-1] == "`9` is let in, as a member."
    assert door.say(**STRANGER).decision == "turn"
    assert AuditEvent.objects.get(action="pairing.approved").actor == "telegram:7"


@pytest.mark.proves("A2")
def test_an_admin_who_guesses_is_stopped_and_the_count_outlives_a_restart(door) -> None:
    AllowEntry.objects.filter(user_id="7").update(role=Role.ADMIN)
    for _ in range(10):
        door.say("/pair AAAA-AAAA")
    code = code_for(door, **stranger(3))

    door.say(f"/pair {code}")

    assert said()[-1] == "Too many codes were wrong. Try again in an hour."
    door.clock.advance(3601)
    door.say(f"/pair {code_for(door, '/pair', **stranger(3))}")
    assert said()[-2].startswith("`903` is let in") or said()[-1].startswith("`903` is let in")


def test_whoever_is_on_the_list_needs_no_code(door) -> None:
    door.say("/pair")
    assert "already" in said()[-1]


def test_a_bot_is_given_no_code(door) -> None:
    door.say(**STRANGER, is_bot=True)
    assert not Pairing.objects.exists()


def test_a_paired_person_is_known_by_the_stable_id_of_the_platform(door) -> None:
    approve(door, code_for(door, user_id="+49", user_id_alt="uuid", chat_id="+49"))
    assert door.say(user_id="+50", user_id_alt="uuid", chat_id="+50").decision == "turn"
    assert door.say(user_id="+50", user_id_alt="other", chat_id="+50").decision == "denied"


def test_a_pairing_that_turned_out_wrong_ends_a_turn_that_a_worker_would_take_up(door) -> None:
    row = approve(door, code_for(door))
    turn = door.say(**STRANGER).turn
    Pairing.objects.filter(pk=row.pk).update(state="revoked")

    tasks.run_turns(conversation=turn.conversation_id)

    assert fresh(turn).state == "stopped"
    assert barring.sweep(now=door.clock()) == 0


def test_requests_that_came_to_nothing_go_after_a_while(door) -> None:
    code_for(door)
    door.clock.advance(3601)
    pairing.tidy(now=door.clock())
    assert Pairing.objects.get().reason == "nobody approved it in time"
    door.clock.advance(31 * 86_400)
    pairing.tidy(now=door.clock())
    assert not Pairing.objects.exists()


def test_whoever_is_paired_has_the_role_that_they_were_let_in_with(door) -> None:
    row = approve(door, code_for(door), role=Role.VIEWER)
    assert door.say("/status", **STRANGER).decision == "command"
    assert door.say("Hello", **STRANGER).decision == "denied"
    assert row.role == "viewer"
    make_allow_entry(user_id="9")
    assert door.say("Hello", **STRANGER).decision == "turn"
