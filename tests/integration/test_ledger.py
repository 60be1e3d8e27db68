"""The ledger: what is owed, to whom, in which order, and by whom it may be sent."""

import copy
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction

from delivery import ageing, destinations, ledger, retention
from delivery.errors import LeaseLost, LedgerUnavailable, NetworkDown, OutcomeUnknown, Refused
from delivery.ledger import Debt, steps
from delivery.models import Attempt, DeadDestination, Kind, Obligation, Part, Preview
from delivery.ports import Receipt
from delivery.states import OBLIGATIONS, PARTS, Event, PartEvent, PartState, State
from gateway import accounts
from tests.factories import make_account, make_conversation, make_obligation, settle
from tests.integration.desk import ACCOUNT, OWNER, outcomes, parts_of, take_lease
from tests.integration.racing import race

LONG = "\n\n".join(f"Paragraph {number}. " + "word " * 150 for number in range(20))


@pytest.fixture
def fence(db, clock):
    return take_lease(clock=clock)


def due(fence, clock, **options):
    return ledger.claim_due(fence, ACCOUNT, now=clock(), **options)


def contents(works) -> list[str]:
    return [work.obligation.content for work in works]


def accept(work, clock, message_id="m1") -> None:
    ledger.accept(
        work, work.parts[0], Receipt(message_id), operation="send", marked=False, now=clock()
    )


def postpone(work, clock, error=None, *, lost=False, seconds=5) -> None:
    ledger.postpone(
        work,
        work.parts[0],
        error or (OutcomeUnknown() if lost else NetworkDown()),
        until=clock() + timedelta(seconds=seconds),
        operation="send",
        now=clock(),
    )


def debt(conversation, **changes) -> Debt:
    facts = {
        "conversation_key": conversation.key,
        "trigger": "turn:1",
        "address": conversation.address,
        "kind": Kind.FINAL,
        "content": "Hello",
    }
    return Debt(**(facts | changes))


# --- recording


@pytest.mark.proves("D3")
@pytest.mark.django_db(transaction=True)
def test_a_debt_outside_a_transaction_is_refused(clock) -> None:
    with pytest.raises(LedgerUnavailable):
        ledger.record(debt(make_conversation()), now=clock())
    assert not Obligation.objects.exists()


@pytest.mark.proves("D3")
@pytest.mark.django_db(transaction=True)
def test_a_debt_goes_the_way_of_its_transaction(clock) -> None:
    conversation = make_conversation()
    with transaction.atomic():
        ledger.record(debt(conversation), now=clock())
        transaction.set_rollback(True)
    assert not Obligation.objects.exists()


@pytest.mark.proves("D2")
@pytest.mark.django_db
def test_the_same_debt_recorded_twice_is_one_row(clock) -> None:
    conversation = make_conversation()
    first = ledger.record(debt(conversation), now=clock())
    again = ledger.record(debt(conversation), now=clock.advance(5))
    assert first.pk == again.pk
    assert Part.objects.count() == 1


@pytest.mark.proves("D2")
@pytest.mark.django_db
@pytest.mark.parametrize(
    "change", [{"trigger": "turn:2"}, {"content": "Hullo"}, {"kind": Kind.NOTICE}]
)
def test_another_debt_is_another_row(clock, change) -> None:
    conversation = make_conversation()
    first = ledger.record(debt(conversation), now=clock())
    assert first.pk != ledger.record(debt(conversation, **change), now=clock()).pk


@pytest.mark.django_db
def test_parts_have_keys_that_never_change_and_fit_every_platform(clock) -> None:
    owed = ledger.record(debt(make_conversation(), content=LONG), now=clock())
    keys = [part.idempotency_key for part in parts_of(owed)]
    assert len(set(keys)) == len(keys) > 3
    assert all(len(key) <= 32 and key.isascii() for key in keys)


# --- order


@pytest.mark.proves("D8")
def test_a_lane_gives_its_oldest_message_and_waits(fence, clock) -> None:
    chat = make_conversation()
    for text in ("one", "two", "three"):
        make_obligation(chat, content=text, now=clock())
    (work,) = due(fence, clock)
    assert contents([work]) == ["one"]
    assert due(fence, clock) == []
    accept(work, clock)
    assert contents(due(fence, clock)) == ["two"]


def test_different_lanes_go_together(fence, clock) -> None:
    for chat in (make_conversation(), make_conversation(), make_conversation(thread_id="7")):
        make_obligation(chat, now=clock())
        make_obligation(chat, now=clock())
    assert len(due(fence, clock)) == 3


@pytest.mark.proves("D8")
def test_two_threads_of_a_chat_are_two_lanes(fence, clock) -> None:
    for thread in ("", "7", "8"):
        make_obligation(make_conversation(chat_id="1", thread_id=thread), now=clock())
    assert len(due(fence, clock)) == 3


def test_a_blocked_lane_holds_up_only_itself(fence, clock) -> None:
    blocked, free = make_conversation(), make_conversation()
    make_obligation(blocked, content="m1", now=clock())
    make_obligation(blocked, content="m2", now=clock())
    (work,) = due(fence, clock)
    postpone(work, clock, seconds=5)
    make_obligation(free, content="n1", now=clock())
    assert contents(due(fence, clock)) == ["n1"]
    clock.advance(6)
    assert contents(due(fence, clock)) == ["m1"]


def test_an_abandoned_message_lets_the_next_one_pass(fence, clock) -> None:
    chat = make_conversation()
    make_obligation(chat, content="one", now=clock())
    make_obligation(chat, content="two", now=clock())
    (work,) = due(fence, clock)
    ledger.abandon(work, work.parts[0], Refused(), reason="refused", operation="send", now=clock())
    assert contents(due(fence, clock)) == ["two"]


@pytest.mark.proves("D9")
@pytest.mark.parametrize("seconds", [0, 29, 31, 3599, 3601, 7200])
def test_what_is_due_goes_in_the_order_of_its_rank_and_then_of_its_age(
    fence, clock, seconds
) -> None:
    early, kinds = clock(), [Kind.NOTICE, Kind.FINAL, Kind.PROMPT]
    for kind in kinds:
        make_obligation(content=f"{kind} early", kind=kind, now=early)
    late = clock.advance(seconds)
    for kind in kinds:
        make_obligation(content=f"{kind} late", kind=kind, now=late)
    rows = Obligation.objects.order_by("pk")
    ranked = sorted(rows, key=lambda row: ageing.rank(row.priority, late - row.created_at))
    assert [work.obligation.content for work in due(fence, clock)] == [
        row.content for row in ranked
    ]


@pytest.mark.proves("D9")
def test_a_question_goes_before_an_answer_of_another_lane(fence, clock) -> None:
    make_obligation(content="answer", now=clock())
    make_obligation(content="notice", kind=Kind.NOTICE, priority=2, now=clock())
    make_obligation(content="question", kind=Kind.PROMPT, priority=0, now=clock())
    assert contents(due(fence, clock)) == ["question", "answer", "notice"]


@pytest.mark.proves("D9")
def test_a_question_does_not_overtake_an_answer_of_its_own_lane(fence, clock) -> None:
    chat = make_conversation()
    make_obligation(chat, content="answer", now=clock())
    make_obligation(chat, content="question", kind=Kind.PROMPT, priority=0, now=clock())
    assert contents(due(fence, clock)) == ["answer"]


def test_a_busy_lane_is_left_alone_and_the_limit_is_kept(fence, clock) -> None:
    owed = [make_obligation(now=clock()) for _ in range(5)]
    assert len(due(fence, clock, busy=[owed[0].lane], limit=2)) == 2
    assert not Obligation.objects.filter(pk=owed[0].pk, state="attempting").exists()


def test_another_account_is_none_of_our_business(fence, clock) -> None:
    make_obligation(make_conversation(account="other"), now=clock())
    assert due(fence, clock) == []


# --- owners


def test_a_claim_is_written_down_before_anything_is_sent(fence, clock) -> None:
    owed = make_obligation(content=LONG, now=clock())
    (work,) = due(fence, clock)
    owed.refresh_from_db()
    assert (owed.state, owed.owner, owed.epoch, owed.attempts) == (
        "attempting",
        OWNER,
        fence.epoch,
        1,
    )
    assert [part.state for part in parts_of(owed)][:2] == ["attempting", "pending"]
    assert work.obligation_parts == len(parts_of(owed))


@pytest.mark.proves("D1")
def test_a_newer_owner_finds_the_part_under_way_lost(fence, clock) -> None:
    owed = make_obligation(content=LONG, now=clock())
    due(fence, clock)
    newer = take_lease("host/200/2", clock=clock)
    (work,) = due(newer, clock)
    assert [part.was_lost for part in work.parts][:2] == [True, False]
    assert outcomes(owed) == [("send", "unknown")]
    attempt = Attempt.objects.get()
    assert (attempt.owner, attempt.epoch) == (OWNER, fence.epoch)


def test_the_owner_itself_does_not_take_its_own_work_twice(fence, clock) -> None:
    make_obligation(now=clock())
    assert len(due(fence, clock)) == 1
    assert due(fence, clock) == []


@pytest.mark.proves("D5")
def test_what_a_living_owner_is_sending_is_not_taken(fence, clock) -> None:
    owed = make_obligation(now=clock())
    due(fence, clock)
    clock.advance(10_000)
    assert due(fence, clock) == []
    owed.refresh_from_db()
    assert owed.epoch == fence.epoch


def test_a_stale_owner_may_claim_nothing(fence, clock) -> None:
    make_obligation(now=clock())
    take_lease("host/200/2", clock=clock)
    with pytest.raises(LeaseLost):
        due(fence, clock)
    assert Obligation.objects.get().state == "pending"


@pytest.mark.parametrize("verb", ["accept", "postpone", "abandon", "try_again"])
def test_a_stale_owner_changes_nothing(fence, clock, verb) -> None:
    owed = make_obligation(content=LONG, now=clock())
    (work,) = due(fence, clock)
    newer = take_lease("host/200/2", clock=clock)
    due(newer, clock)
    before = everything(owed)
    part = work.parts[0]
    verbs = {
        "accept": lambda: accept(work, clock),
        "postpone": lambda: postpone(work, clock),
        "abandon": lambda: ledger.abandon(
            work, part, Refused(), reason="no", operation="send", now=clock()
        ),
        "try_again": lambda: ledger.try_again(work, part, Refused(), operation="send", now=clock()),
    }
    with pytest.raises(LeaseLost):
        verbs[verb]()
    assert everything(owed) == before


def everything(owed):
    return (
        Obligation.objects.filter(pk=owed.pk).values().get(),
        list(Part.objects.filter(obligation=owed).order_by("position").values()),
        list(Attempt.objects.filter(part__obligation=owed).order_by("id").values()),
    )


def test_what_was_delivered_is_not_claimed_again(fence, clock) -> None:
    owed = make_obligation(content=LONG, now=clock())
    (work,) = due(fence, clock)
    accept(work, clock, "m0")
    newer = take_lease("host/200/2", clock=clock)
    (again,) = due(newer, clock)
    assert [part.position for part in again.parts] == list(range(1, len(parts_of(owed))))
    assert again.obligation_parts == work.obligation_parts


def test_the_whole_is_delivered_with_its_last_part(fence, clock) -> None:
    owed = make_obligation(content=LONG, now=clock())
    (work,) = due(fence, clock)
    count = len(work.parts)
    for number in range(count):
        owed.refresh_from_db()
        assert owed.state == "attempting"
        accept(work, clock, f"m{number}")
    owed.refresh_from_db()
    assert owed.state == "delivered"
    assert ledger.message_ids(owed.pk) == [f"m{number}" for number in range(count)]


def test_a_lost_send_counts_as_a_recovery_and_a_failed_one_does_not(fence, clock) -> None:
    owed = make_obligation(now=clock())
    (work,) = due(fence, clock)
    postpone(work, clock, NetworkDown(), seconds=0)
    (work,) = due(fence, clock)
    postpone(work, clock, lost=True, seconds=0)
    owed.refresh_from_db()
    assert (owed.recoveries, parts_of(owed)[0].was_lost) == (1, True)


# --- staff and upkeep


def test_a_waiting_debt_can_be_withdrawn(fence, clock) -> None:
    owed = make_obligation(now=clock())
    assert ledger.withdraw(owed, reason="not needed any more", now=clock())
    owed.refresh_from_db()
    assert (owed.state, owed.reason) == ("abandoned", "not needed any more")
    assert due(fence, clock) == []


def test_a_debt_that_is_being_sent_cannot_be_withdrawn(fence, clock) -> None:
    owed = make_obligation(now=clock())
    due(fence, clock)
    assert not ledger.withdraw(owed, reason="too late", now=clock())
    assert not ledger.withdraw_unseen(owed, reason="too late", now=clock())


def test_what_somebody_may_have_seen_is_not_withdrawn_as_unseen(fence, clock) -> None:
    owed = make_obligation(now=clock())
    (work,) = due(fence, clock)
    postpone(work, clock, lost=True)
    assert not ledger.withdraw_unseen(owed, reason="closed", now=clock())
    other = make_obligation(now=clock())
    assert ledger.withdraw_unseen(other, reason="closed", now=clock())


def test_staff_may_owe_it_again(fence, clock) -> None:
    owed = make_obligation(now=clock())
    ledger.withdraw(owed, reason="mistake", now=clock())
    assert ledger.retry(owed, now=clock())
    assert len(due(fence, clock)) == 1


def test_staff_may_have_what_waits_sent_at_once(fence, clock) -> None:
    owed = make_obligation(now=clock())
    (work,) = due(fence, clock)
    postpone(work, clock, seconds=600)
    assert due(fence, clock) == []
    assert ledger.retry(owed, now=clock())
    assert len(due(fence, clock)) == 1


@pytest.mark.django_db
def test_what_is_delivered_cannot_be_owed_again(clock) -> None:
    owed = settle(make_obligation(now=clock()), at=clock())
    assert not ledger.retry(owed, now=clock())
    assert not ledger.withdraw(owed, reason="x", now=clock())


@pytest.mark.proves("D6")
def test_a_debt_owed_for_too_long_is_given_up(fence, clock) -> None:
    old = make_obligation(now=clock())
    clock.advance(24 * 3600 - 5)
    young = make_obligation(now=clock())
    clock.advance(10)
    assert ledger.expire(now=clock()) == 1
    old.refresh_from_db()
    young.refresh_from_db()
    assert (old.state, old.reason, young.state) == ("abandoned", "owed for too long", "pending")


@pytest.mark.proves("D6", "O2")
@pytest.mark.django_db
def test_settled_rows_go_after_a_week_and_open_ones_stay(clock) -> None:
    settle(make_obligation(now=clock()), at=clock())
    still_open = make_obligation(now=clock())
    clock.advance(7 * 24 * 3600 - 5)
    assert ledger.prune(now=clock()) == 0
    clock.advance(10)
    assert ledger.prune(now=clock(), batch=5) == 1
    assert list(Obligation.objects.all()) == [still_open]


def test_a_connection_that_is_back_makes_what_waited_for_it_due(fence, clock) -> None:
    network, limited = make_obligation(now=clock()), make_obligation(now=clock())
    for work in due(fence, clock):
        error = NetworkDown() if work.obligation.pk == network.pk else Refused("429")
        postpone(work, clock, error, seconds=15)
    assert ledger.release_account(ACCOUNT, now=clock()) == 1
    assert contents(due(fence, clock)) == [network.content]
    limited.refresh_from_db()
    assert (limited.state, limited.next_attempt_at) == ("failed", clock() + timedelta(seconds=15))


def test_whether_it_waits_for_the_network_is_not_read_from_the_sentence(fence, clock) -> None:
    make_obligation(now=clock())
    (work,) = due(fence, clock)
    postpone(work, clock, Refused("NetworkDown"), seconds=15)
    Obligation.objects.update(last_error="NetworkDown: in other words")
    assert ledger.release_account(ACCOUNT, now=clock()) == 0
    Obligation.objects.update(last_error="no route to host", error_kind="NetworkDown")
    assert ledger.release_account(ACCOUNT, now=clock()) == 1


@pytest.mark.parametrize("verb", ["postpone", "try_again", "abandon"])
def test_the_kind_of_the_last_error_stands_beside_its_sentence(fence, clock, verb) -> None:
    owed = make_obligation(now=clock())
    assert (owed.last_error, owed.error_kind) == ("", "")
    (work,) = due(fence, clock)
    part, error, told = work.parts[0], OutcomeUnknown("no answer"), {"operation": "send"}
    if verb == "postpone":
        told |= {"until": clock()}
    if verb == "abandon":
        told |= {"reason": "enough"}
    getattr(ledger, verb)(work, part, error, now=clock(), **told)
    owed.refresh_from_db()
    assert (owed.last_error, owed.error_kind) == ("OutcomeUnknown: no answer", "OutcomeUnknown")


@pytest.mark.django_db
def test_a_closed_chat_is_open_again_when_it_speaks(clock) -> None:
    address = make_conversation(chat_id="77").address
    destinations.bury(address, reason="blocked", now=clock())
    destinations.bury(address, reason="blocked again", now=clock())
    assert destinations.is_dead(address)
    assert DeadDestination.objects.count() == 1
    destinations.revive(address)
    assert not destinations.is_dead(address)


@pytest.mark.django_db
def test_old_previews_are_forgotten(clock) -> None:
    Preview.objects.create(key="t1.0", account=ACCOUNT, address={}, created_at=clock())
    assert retention.run(now=clock.advance(48 * 3600 - 1)) == {}
    assert retention.run(now=clock.advance(2)) == {"live messages": 1}


# --- the tables' guard


@pytest.mark.django_db
@pytest.mark.parametrize("event", Event)
def test_a_debt_moves_only_from_where_the_table_lets_it(clock, event) -> None:
    owed = make_obligation(now=clock())
    row = Obligation.objects.filter(pk=owed.pk)
    for state in State:
        row.update(state=state)
        assert steps.move(row, event) == (state in OBLIGATIONS.sources(event))
        assert row.get().state == OBLIGATIONS.steps.get((state, event), state)


@pytest.mark.django_db
@pytest.mark.parametrize("event", [PartEvent.LOSE, PartEvent.REFUSE])
def test_a_part_moves_only_from_where_the_table_lets_it(clock, event) -> None:
    (part,) = parts_of(make_obligation(now=clock()))
    row = Part.objects.filter(pk=part.pk)
    for state in PartState:
        row.update(state=state, message_id="m1")
        assert steps.move_parts(row, event) == (state in PARTS.sources(event))
        assert row.get().state == PARTS.steps.get((state, event), state)


def test_a_receipt_that_was_written_though_nobody_was_told_can_be_written_again(
    fence, clock
) -> None:
    with transaction.atomic():
        owed = ledger.record(debt(make_conversation(), content=LONG), now=clock())
    (work,) = due(fence, clock)
    untold = copy.deepcopy(work)
    accept(work, clock)
    accept(untold, clock)
    first, second = parts_of(owed)[:2]
    assert (first.state, first.message_id, first.attempts) == ("delivered", "m1", 1)
    assert (second.state, second.attempts) == ("attempting", 1)
    assert untold.parts[0].attempts == 1


# --- the database's own guard


@pytest.mark.proves("D4")
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("model", "changes"),
    [
        (Obligation, {"state": "done"}),
        (Part, {"state": "sent"}),
        (Part, {"state": "delivered", "message_id": ""}),
    ],
)
def test_the_database_refuses_what_makes_no_sense(clock, model, changes) -> None:
    make_obligation(now=clock())
    with pytest.raises(IntegrityError), transaction.atomic():
        model.objects.update(**changes)


# --- races


@pytest.mark.django_db(transaction=True)
def test_of_two_claims_at_the_same_moment_exactly_one_has_it(clock) -> None:
    for _ in range(5):
        owed = make_obligation(now=clock())
        fence = take_lease(clock=clock)
        results = race(*[lambda fence=fence: due(fence, clock)] * 2)
        works = [work for result in results if isinstance(result, list) for work in result]
        assert [work.obligation.pk for work in works] == [owed.pk]
        owed.refresh_from_db()
        assert (owed.attempts, parts_of(owed)[0].attempts) == (1, 1)
        accept(works[0], clock)


@pytest.mark.django_db(transaction=True)
def test_two_processes_never_both_settle_the_same_message(clock) -> None:
    make_obligation(now=clock())
    fence = take_lease(clock=clock)
    (work,) = due(fence, clock)

    def settle_it():
        return accept(work, clock, "old")

    def take_over():
        return due(take_lease("host/200/2", clock=clock), clock)

    settled, taken = race(settle_it, take_over)
    if taken:
        assert isinstance(settled, LeaseLost) or taken[0].parts
    else:
        assert settled is None
    assert Part.objects.filter(state="delivered").count() + len(taken) == 1


@pytest.mark.django_db(transaction=True)
def test_a_message_withdrawn_while_it_is_claimed_costs_no_lease(clock) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time")
    gone, stays = make_obligation(now=clock()), make_obligation(now=clock())
    fence = take_lease(clock=clock)

    def withdraw_slowly():
        with transaction.atomic():
            assert ledger.withdraw(gone, reason="resolved", now=clock())
            wait_for_a_blocked_writer()

    def claim_meanwhile():
        wait_for_a_lock_on("delivery_obligation")
        return due(fence, clock)

    failed, works = race(withdraw_slowly, claim_meanwhile)
    assert failed is None
    assert [work.obligation.pk for work in works] == [stays.pk]


def wait_for_a_blocked_writer() -> None:
    wait_for("SELECT count(*) FROM pg_locks WHERE NOT granted")


def wait_for_a_lock_on(table: str) -> None:
    wait_for(
        "SELECT count(*) FROM pg_locks WHERE mode = 'RowExclusiveLock' AND granted"
        f" AND relation = '{table}'::regclass"
    )


def wait_for(query: str) -> None:
    for _ in range(1000):
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT pg_sleep(0.01), ({query})")
            if cursor.fetchone()[1]:
                return
    raise AssertionError(query)


def test_what_is_owed_to_a_closed_chat_is_given_up_at_once_until_it_speaks_again(
    fence, clock
) -> None:
    conversation = make_conversation()
    destinations.bury(conversation.address, reason="blocked", now=clock())
    with transaction.atomic():
        refused = ledger.record(debt(conversation), now=clock())
    refused.refresh_from_db()
    assert (refused.state, refused.reason) == ("abandoned", ledger.CLOSED)
    assert due(fence, clock) == []

    destinations.revive(conversation.address)
    with transaction.atomic():
        ledger.record(debt(conversation, trigger="turn:2"), now=clock())
    assert contents(due(fence, clock)) == ["Hello"]


def test_what_was_never_tried_is_due_though_another_clock_is_ahead(fence, clock) -> None:
    with transaction.atomic():
        ledger.record(debt(make_conversation()), now=clock() + timedelta(minutes=5))
    assert contents(due(fence, clock)) == ["Hello"]


# --- what people learn of what was given up


def give_up(fence, clock, owed, *, tells=True) -> None:
    (work,) = [work for work in due(fence, clock) if work.obligation.pk == owed.pk]
    ledger.abandon(
        *(work, work.parts[0], Refused()), reason="no", operation="send", now=clock(), tells=tells
    )


def notices() -> list[Obligation]:
    return list(Obligation.objects.filter(kind=Kind.NOTICE).order_by("pk"))


@pytest.mark.proves("D6")
def test_of_what_is_given_up_the_person_learns_in_one_line_that_is_owed_itself(
    fence, clock
) -> None:
    owed = make_obligation(now=clock())
    give_up(fence, clock, owed)
    (told,) = notices()
    assert (told.lane, told.conversation_key) == (owed.lane, owed.conversation_key)
    assert told.state == "pending"
    assert told.content.count("\n") == 0
    assert f"delivery {owed.pk}" in told.content


@pytest.mark.proves("D6")
def test_what_is_given_up_again_is_told_of_once(fence, clock) -> None:
    owed = make_obligation(now=clock())
    give_up(fence, clock, owed)
    assert ledger.retry(owed, now=clock())
    give_up(fence, clock, owed)
    assert len(notices()) == 1


@pytest.mark.proves("D6")
@pytest.mark.parametrize("kind", [Kind.NOTICE, Kind.CHANGE, Kind.RETIRE])
def test_nobody_is_told_of_a_notice_or_a_change_that_was_given_up(fence, clock, kind) -> None:
    give_up(fence, clock, make_obligation(kind=kind, now=clock()))
    assert [row for row in notices() if "given up" in row.content] == []


@pytest.mark.proves("D6")
def test_a_closed_chat_is_not_told(fence, clock) -> None:
    give_up(fence, clock, make_obligation(now=clock()), tells=False)
    other = make_obligation(make_conversation(chat_id="9"), now=clock())
    destinations.bury(other.destination, reason="blocked", now=clock())
    give_up(fence, clock, other)
    assert notices() == []


@pytest.mark.proves("D6")
def test_of_many_that_are_too_old_a_chat_learns_in_one_line(fence, clock) -> None:
    chat = make_conversation(chat_id="1")
    for number in range(5):
        make_obligation(chat, content=f"number {number}", now=clock())
    make_obligation(make_conversation(chat_id="2"), now=clock())
    clock.advance(25 * 3600)
    assert ledger.expire(now=clock()) == 6
    assert [row.content.startswith("⚠️ 5 messages") for row in notices()] == [True, False]


# What an account that is disabled owes waits: nobody sends it, and no try is spent on it. It is
# sent when the account is enabled again within a day, and given up after that like anything else.
@pytest.mark.proves("D6", "D11")
def test_what_a_disabled_account_owes_waits_and_grows_old_like_anything_else(fence, clock) -> None:
    account = make_account("telegram", is_enabled=False)
    owed = make_obligation(now=clock())
    clock.advance(23 * 3600)
    ledger.expire(now=clock())
    owed.refresh_from_db()
    assert (owed.state, owed.attempts) == ("pending", 0)
    assert account not in accounts.enabled()
    clock.advance(2 * 3600)
    ledger.expire(now=clock())
    owed.refresh_from_db()
    assert (owed.state, owed.reason) == ("abandoned", "owed for too long")


@pytest.mark.proves("D6")
def test_settled_rows_are_never_more_than_a_number_and_what_is_owed_is_not_touched(
    clock, db, settings
) -> None:
    settings.DELIVERY = {**settings.DELIVERY, "MOST_SETTLED": 3}
    old = [settle(make_obligation(content=str(n), now=clock())) for n in range(5)]
    owed = [make_obligation(content=f"owed {n}", now=clock()) for n in range(5)]
    assert ledger.prune(now=clock()) == 2
    assert ledger.prune(now=clock()) == 0
    left = set(Obligation.objects.values_list("pk", flat=True))
    assert left == {row.pk for row in [*old[2:], *owed]}


def test_a_change_of_a_message_does_not_follow_its_chat_to_the_new_id(db, clock) -> None:
    group = make_conversation(chat_type="group", chat_id="-5", now=clock())
    shown = make_obligation(group, now=clock())
    change = make_obligation(group, kind=Kind.RETIRE, edits=shown, now=clock())

    ledger.move_chat("telegram", "-5", "-1005", now=clock())

    for row in (shown, change):
        row.refresh_from_db()
    assert (shown.chat_id, shown.state) == ("-1005", "pending")
    assert (change.chat_id, change.state) == ("-5", "abandoned")
