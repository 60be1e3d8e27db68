"""The life of a turn: one at a time in a conversation, in order, and never lost."""

import pytest
from django.db import IntegrityError, transaction

from clarify import questions
from clarify.models import Prompt
from clarify.states import Event
from delivery import hints
from delivery.models import Kind, Obligation
from delivery.processes import this_process
from gateway import queue, sessions, turns, upkeep
from gateway.agents import history
from gateway.errors import TurnLost
from gateway.models import ChatPolicy, ToolCall, TranscriptEntry, Turn
from gateway.states import FailureKind, TurnState
from gateway.workbench import workbench
from tests.factories import (
    choice_question,
    make_answerer,
    make_conversation,
    make_turn,
    settle,
)
from tests.integration.racing import race

pytestmark = pytest.mark.django_db
WORKER = "host/1/1"
OTHER = "host/2/2"
CALLS = {
    "kind": "response",
    "parts": [
        {"part_kind": "tool-call", "tool_name": "clarify", "tool_call_id": "c1", "args": {}},
    ],
}
ANSWER = history.assistant_message("Done.")


@pytest.fixture
def chat(db, clock):
    return make_conversation(chat_id="7", now=clock())


@pytest.fixture
def woken(monkeypatch):
    """The conversations that workers were woken for."""
    seen: list[int] = []
    monkeypatch.setattr(queue, "send_run_turns", seen.append)
    return seen


def claim(chat, clock, owner=WORKER, capacity=10):
    return turns.claim(chat.pk, owner, now=clock(), capacity=capacity)


@pytest.fixture
def told(monkeypatch):
    """The hints that were given."""
    seen: list[str] = []
    monkeypatch.setattr(hints, "publish", lambda _group, kind, **_facts: seen.append(kind))
    return seen


def enqueue(chat, clock, prompt="Hello"):
    new = turns.NewTurn(
        conversation=chat, prompt=prompt, sender_id="7", sender_name="Ada", reply_to="41"
    )
    with transaction.atomic():
        return turns.enqueue(new, now=clock())


def finish(turn, clock, text="Done."):
    turns.finish(turn, text, [history.user_message(turn.prompt), ANSWER], {}, now=clock())


def stop(chat, clock):
    with transaction.atomic():
        return turns.stop(chat, by=make_answerer(), now=clock())


def ask_for(turn, call_id="c1"):
    return questions.Ask(
        kind="clarify",
        correlation=turn.correlation,
        call_id=call_id,
        conversation_key=turn.conversation.key,
        address=turn.conversation.address,
        asker_id="7",
        questions=choice_question(),
    )


def wait(turn, clock, spoken="", calls=("c1",)):
    turns.checkpoint(turn, [history.user_message(turn.prompt), CALLS], spoken=spoken, now=clock())
    for call_id in calls:
        turns.begin_tool(turn, call_id, "clarify", {}, now=clock())
    turns.wait(turn, [ask_for(turn, call_id) for call_id in calls], spoken, now=clock())


def state(turn) -> str:
    turn.refresh_from_db()
    return turn.state


def is_valid(turn) -> bool:
    """Whether a model would take the session's history as it is continued."""
    from gateway import sessions

    stored, _ = sessions.history(turn)
    closed = history.close_off(stored, "")
    kinds = [message["kind"] for message in closed]
    return closed == history.close_off(closed, "") and kinds == ["request", "response"] * (
        len(kinds) // 2
    )


# --- order


@pytest.mark.proves("T1")
def test_turns_of_a_conversation_run_in_order_and_one_at_a_time(chat, clock) -> None:
    queued = [enqueue(chat, clock, text) for text in "BCDE"]
    ran = []
    while turn := claim(chat, clock):
        assert claim(chat, clock, OTHER) is None
        ran.append(turn.prompt)
        finish(turn, clock)
    assert ran == ["B", "C", "D", "E"]
    assert {state(turn) for turn in queued} == {"finished"}


def test_a_turn_that_waits_keeps_the_next_one_waiting(chat, clock) -> None:
    first = enqueue(chat, clock)
    enqueue(chat, clock)
    wait(claim(chat, clock), clock)
    assert claim(chat, clock) is None
    assert state(first) == "waiting"


def test_conversations_run_side_by_side(chat, clock) -> None:
    other = make_conversation(now=clock())
    enqueue(chat, clock)
    enqueue(other, clock)
    assert claim(chat, clock)
    assert claim(other, clock)


@pytest.mark.proves("T1")
def test_no_more_run_than_the_installation_can_bear(chat, clock) -> None:
    other = make_conversation(now=clock())
    enqueue(chat, clock)
    enqueue(other, clock)
    turn = claim(chat, clock, capacity=1)
    assert claim(other, clock, capacity=1) is None
    finish(turn, clock)
    assert claim(other, clock, capacity=1)


@pytest.mark.proves("T1")
@pytest.mark.parametrize("pair", [("running", "waiting"), ("ready", "running")])
def test_the_database_refuses_a_second_active_turn(chat, pair) -> None:
    make_turn(chat, state=pair[0])
    with pytest.raises(IntegrityError), transaction.atomic():
        make_turn(chat, state=pair[1])


def test_the_database_refuses_an_unknown_state(chat) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        make_turn(chat, state="sleeping")


@pytest.mark.proves("T1")
@pytest.mark.django_db(transaction=True)
def test_of_many_workers_that_reach_for_a_conversation_one_has_it(clock) -> None:
    for _ in range(4):
        chat = make_conversation(now=clock())
        first, _second = enqueue(chat, clock), enqueue(chat, clock)
        claimed = race(*[lambda n=n, c=chat: claim(c, clock, f"host/{n}/1") for n in range(4)])
        assert [turn.pk for turn in claimed if turn is not None] == [first.pk]


def test_a_claim_decided_on_an_old_look_takes_nothing(chat, clock, monkeypatch) -> None:
    enqueue(chat, clock)
    seen = turns.life._next(chat.pk)
    turns.give_back(claim(chat, clock, OTHER), now=clock())
    monkeypatch.setattr(turns.life, "_next", lambda _conversation: seen)
    assert claim(chat, clock) is None


# --- one owner


def verbs(turn, clock):
    return {
        "checkpoint": lambda: turns.checkpoint(turn, [CALLS], spoken="x", now=clock()),
        "begin_tool": lambda: turns.begin_tool(turn, "c9", "note", {}, now=clock()),
        "finish_tool": lambda: turns.finish_tool(turn, "c9", "x", now=clock()),
        "wait": lambda: turns.wait(turn, [ask_for(turn)], "Hm.", now=clock()),
        "finish": lambda: finish(turn, clock),
        "fail": lambda: turns.fail(turn, FailureKind.INTERNAL, "no", "no", now=clock()),
    }


VERBS = ["checkpoint", "begin_tool", "finish_tool", "wait", "finish", "fail"]


@pytest.mark.parametrize("verb", VERBS)
def test_a_worker_that_was_replaced_writes_nothing(chat, clock, verb) -> None:
    enqueue(chat, clock)
    old = claim(chat, clock)
    turns.reclaim(Turn.objects.select_related("conversation").get(), now=clock())
    claim(chat, clock, OTHER)
    assert_writes_nothing(old, clock, verb)


@pytest.mark.parametrize("verb", VERBS)
def test_a_stopped_turn_writes_nothing_more(chat, clock, verb) -> None:
    enqueue(chat, clock)
    turn = claim(chat, clock)
    stop(chat, clock)
    assert_writes_nothing(turn, clock, verb)


def assert_writes_nothing(turn, clock, verb) -> None:
    before = everything()
    with pytest.raises(TurnLost):
        verbs(turn, clock)[verb]()
    assert everything() == before


def everything():
    models = (Turn, ToolCall, TranscriptEntry, Prompt, Obligation)
    return [list(model.objects.order_by("pk").values()) for model in models]


def test_a_worker_holds_on_to_what_it_has_in_hand(chat, clock) -> None:
    enqueue(chat, clock)
    turn = claim(chat, clock)
    clock.advance(15)
    assert turns.renew(WORKER, {turn.pk}, now=clock()) == {turn.pk}
    assert turns.renew(OTHER, {turn.pk}, now=clock()) == set()
    clock.advance(15)
    assert upkeep.reclaim_turns(now=clock()) == 0


def test_a_stop_is_noticed_at_the_next_renewal(chat, clock) -> None:
    enqueue(chat, clock)
    turn = claim(chat, clock)
    stop(chat, clock)
    assert turns.renew(WORKER, {turn.pk}, now=clock()) == set()


# --- its end


def test_the_answer_is_owed_in_the_transaction_of_its_transcript(chat, clock) -> None:
    enqueue(chat, clock)
    turn = claim(chat, clock)
    finish(turn, clock, "All done.")
    owed = Obligation.objects.get()
    assert (owed.kind, owed.content, owed.preview_key) == ("final", "All done.", turn.preview_key)
    assert TranscriptEntry.objects.filter(turn=turn).count() == 2
    assert is_valid(turn)


def test_an_answer_without_a_word_says_so(chat, clock) -> None:
    enqueue(chat, clock)
    finish(claim(chat, clock), clock, " \n")
    assert "without a word" in Obligation.objects.get().content


@pytest.mark.proves("D3")
def test_a_ledger_that_cannot_be_written_ends_nothing(chat, clock, monkeypatch) -> None:
    enqueue(chat, clock)
    turn = claim(chat, clock)
    monkeypatch.setattr(turns.owing.ledger, "record", lambda *_a, **_k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        finish(turn, clock)
    assert state(turn) == "running"
    assert not TranscriptEntry.objects.exists()


def test_a_failure_is_one_line_and_keeps_what_was_said(chat, clock) -> None:
    enqueue(chat, clock)
    turn = claim(chat, clock)
    turns.fail(turn, FailureKind.MODEL_UNREACHABLE, "The model is away.", "HTTP 500", now=clock())
    owed = Obligation.objects.get()
    assert owed.kind == "error"
    assert "The model is away." in owed.content
    assert str(turn.pk) in owed.content
    assert "HTTP" not in owed.content
    assert is_valid(turn)
    assert claim(chat, clock) is None


# --- waiting


@pytest.mark.proves("Q0", "Q3")
def test_a_turn_that_asks_holds_nothing(chat, clock) -> None:
    enqueue(chat, clock)
    turn = claim(chat, clock)
    key = turn.preview_key
    wait(turn, clock, spoken="I need to know something.")
    assert state(turn) == "waiting"
    assert (turn.owner, turn.segment, turn.spoken) == ("", 1, "")
    said, asked = Obligation.objects.order_by("pk")
    assert (said.kind, said.content, said.preview_key) == (
        "final",
        "I need to know something.",
        key,
    )
    assert (asked.kind, asked.lane) == ("prompt", said.lane)
    assert turn.preview_key != key


def test_an_answer_lets_it_go_on_before_what_was_said_later(chat, clock, woken) -> None:
    enqueue(chat, clock, "first")
    turn = claim(chat, clock)
    wait(turn, clock)
    enqueue(chat, clock, "second")
    prompt = Prompt.objects.get()
    settle(prompt.obligation)
    ada = questions.Answerer(id="7", name="Ada", surface="telegram")
    with transaction.atomic():
        questions.answer_text(prompt, "1", ada, now=clock())
    assert state(turn) == "ready"
    again = claim(chat, clock, OTHER)
    assert (again.pk, again.prompt, again.epoch) == (turn.pk, "first", 2)
    assert ToolCall.objects.get().state == "done"


def test_it_waits_for_all_it_asked(chat, clock) -> None:
    enqueue(chat, clock)
    turn = claim(chat, clock)
    wait(turn, clock, calls=("c1", "c2"))
    one, two = Prompt.objects.order_by("pk")
    for prompt, expected in ((one, "waiting"), (two, "ready")):
        with transaction.atomic():
            questions.skip(
                prompt, questions.Answerer(id="7", name="", surface="telegram"), now=clock()
            )
        assert state(turn) == expected


# --- stopping


@pytest.mark.proves("S5", "T4")
@pytest.mark.parametrize("before", ["queued", "running", "waiting", "ready"])
def test_whatever_is_open_can_be_stopped(chat, clock, before) -> None:
    enqueue(chat, clock, "remember me")
    turn = Turn.objects.get()
    if before != "queued":
        turn = claim(chat, clock)
    if before in {"waiting", "ready"}:
        wait(turn, clock)
    if before == "ready":
        questions.expire_overdue(now=clock.advance(700))
    assert state(turn) == before
    assert [one.pk for one in stop(chat, clock)] == [turn.pk]
    assert state(turn) == "stopped"
    assert not Prompt.objects.filter(state="pending").exists()
    assert is_valid(turn)
    assert any("remember me" in str(entry.message) for entry in TranscriptEntry.objects.all())
    assert claim(chat, clock) is None
    assert stop(chat, clock) == []


def test_a_stop_ends_what_is_queued_too_and_the_next_message_runs(chat, clock) -> None:
    for text in "ABC":
        enqueue(chat, clock, text)
    claim(chat, clock)
    assert len(stop(chat, clock)) == 3
    enqueue(chat, clock, "D")
    turn = claim(chat, clock)
    assert turn.prompt == "D"
    finish(turn, clock)
    assert is_valid(turn)


def test_a_stop_elsewhere_changes_nothing_here(chat, clock) -> None:
    enqueue(chat, clock)
    turn = claim(chat, clock)
    stop(make_conversation(now=clock()), clock)
    assert state(turn) == "running"


@pytest.mark.django_db(transaction=True)
def test_a_stop_and_an_end_at_the_same_moment_give_one_end(clock) -> None:
    for _ in range(4):
        chat = make_conversation(now=clock())
        enqueue(chat, clock)
        turn = claim(chat, clock)
        finished, stopped = race(lambda t=turn: finish(t, clock), lambda c=chat: stop(c, clock))
        if stopped:
            assert isinstance(finished, TurnLost)
            assert state(turn) == "stopped"
            assert not Obligation.objects.filter(correlation=turn.correlation).exists()
        else:
            assert finished is None
            assert state(turn) == "finished"


# --- death


def die(turn, clock):
    clock.advance(30)
    return upkeep.reclaim_turns(now=clock())


def test_a_turn_whose_worker_is_gone_is_taken_up_again(chat, clock, woken) -> None:
    enqueue(chat, clock)
    old = claim(chat, clock)
    assert die(old, clock) == 1
    assert state(old) == "ready"
    assert Obligation.objects.get().kind == Kind.NOTICE
    claim(chat, clock, OTHER)
    again = Turn.objects.get()
    assert (again.owner, again.epoch, again.deaths) == (OTHER, 2, 1)


@pytest.mark.proves("T3")
def test_a_turn_that_kills_its_worker_twice_is_given_up_with_a_word(chat, clock) -> None:
    enqueue(chat, clock)
    for _ in range(2):
        die(claim(chat, clock), clock)
    turn = Turn.objects.get()
    assert (turn.state, turn.failure_kind, turn.deaths) == ("failed", "worker_died", 2)
    assert [owed.kind for owed in Obligation.objects.order_by("pk")] == ["notice", "error"]
    assert claim(chat, clock) is None
    assert is_valid(turn)


def test_giving_up_is_one_step(chat, clock, monkeypatch) -> None:
    """Nobody may find it taken back but not yet ended, and run it a third time."""
    enqueue(chat, clock)
    die(claim(chat, clock), clock)
    claim(chat, clock)
    monkeypatch.setattr(turns.owing, "remember", lambda *_a, **_k: 1 / 0)
    die(None, clock)  # the upkeep logs it and goes on with the rest
    assert Turn.objects.get().state == "running"


@pytest.mark.proves("T9")
def test_one_turn_that_cannot_be_taken_back_keeps_no_other_from_it(
    chat, clock, monkeypatch
) -> None:
    poison, healthy = chat, make_conversation()
    for conversation in (poison, healthy):
        enqueue(conversation, clock)
        claim(conversation, clock)
    real = turns.reclaim
    monkeypatch.setattr(
        turns,
        "reclaim",
        lambda turn, *, now: 1 / 0 if turn.conversation_id == poison.pk else real(turn, now=now),
    )
    die(None, clock)
    states = dict(Turn.objects.values_list("conversation_id", "state"))
    assert states == {poison.pk: "running", healthy.pk: "ready"}


def test_only_one_takes_back(chat, clock) -> None:
    enqueue(chat, clock)
    claim(chat, clock)
    seen = Turn.objects.select_related("conversation").get()
    assert turns.reclaim(seen, now=clock())
    assert not turns.reclaim(seen, now=clock())
    assert Turn.objects.get().deaths == 1


def test_a_turn_laid_down_unharmed_counts_no_death(chat, clock, woken) -> None:
    enqueue(chat, clock)
    turn = claim(chat, clock)
    assert turns.give_back(turn, now=clock())
    assert not turns.give_back(turn, now=clock())
    assert (state(turn), turn.deaths) == ("ready", 0)
    assert not Obligation.objects.exists()


def test_a_tool_call_is_begun_once(chat, clock) -> None:
    enqueue(chat, clock)
    turn = claim(chat, clock)
    first, is_new = turns.begin_tool(turn, "c1", "note", {"text": "x"}, now=clock())
    again, is_new_again = turns.begin_tool(turn, "c1", "note", {"text": "y"}, now=clock())
    assert (is_new, is_new_again) == (True, False)
    assert (first.pk, again.arguments) == (again.pk, {"text": "x"})
    turns.finish_tool(turn, "c1", {"ok": True}, now=clock())
    turns.forget_tool(turn, "c1")
    assert ToolCall.objects.get().result == {"value": {"ok": True}}


# --- wake-ups


def test_a_turn_nobody_was_woken_for_is_found(chat, clock, woken) -> None:
    enqueue(chat, clock)
    woken.clear()
    assert turns.wake_overlooked(now=clock(), capacity=10) == 0
    clock.advance(4)
    assert turns.wake_overlooked(now=clock(), capacity=10) == 1
    assert woken == [chat.pk]
    assert turns.wake_overlooked(now=clock(), capacity=10) == 0


def test_nobody_is_woken_for_what_cannot_run(chat, clock, woken) -> None:
    enqueue(chat, clock)
    wait(claim(chat, clock), clock)
    enqueue(chat, clock)
    other = make_conversation(now=clock())
    enqueue(other, clock)
    claim(other, clock)
    woken.clear()
    clock.advance(4)
    assert turns.wake_overlooked(now=clock(), capacity=10) == 0
    assert turns.wake_overlooked(now=clock(), capacity=1) == 0
    assert woken == []


def test_a_ready_turn_is_found_as_well(chat, clock, woken) -> None:
    make_turn(chat, state="ready", now=clock())
    clock.advance(4)
    assert turns.wake_overlooked(now=clock(), capacity=10) == 1


@pytest.mark.django_db(transaction=True)
def test_a_worker_is_woken_when_the_message_is_stored_and_not_before(clock, woken) -> None:
    chat = make_conversation(now=clock())
    with transaction.atomic():
        new = turns.NewTurn(
            conversation=chat, prompt="x", sender_id="7", sender_name="", reply_to=""
        )
        turns.enqueue(new, now=clock())
        assert woken == []
    assert woken == [chat.pk]


def test_a_message_changed_before_its_turn_began_is_what_the_turn_answers(chat, clock) -> None:
    turn = enqueue(chat, clock, "delete A")
    assert turns.reword(turn.pk, "delete B", now=clock())
    assert claim(chat, clock).prompt == "delete B"


def test_a_message_changed_after_its_turn_began_changes_nothing(chat, clock) -> None:
    turn = enqueue(chat, clock, "delete A")
    claim(chat, clock)
    assert not turns.reword(turn.pk, "delete B", now=clock())
    turn.refresh_from_db()
    assert (turn.prompt, turn.state) == ("delete A", TurnState.RUNNING)


def test_the_turn_that_has_begun_goes_on_before_an_older_number(chat, clock) -> None:
    older, newer = enqueue(chat, clock, "A"), enqueue(chat, clock, "B")
    Turn.objects.filter(pk=older.pk).update(state=TurnState.STOPPED)  # as if not committed yet
    wait(claim(chat, clock), clock)
    Turn.objects.filter(pk=older.pk).update(state=TurnState.QUEUED)
    assert claim(chat, clock) is None
    questions.resolve(Prompt.objects.get(), Event.SKIP, now=clock())
    again = claim(chat, clock)
    assert again.pk == newer.pk
    finish(again, clock)
    assert claim(chat, clock).pk == older.pk


def test_the_longest_call_id_finds_its_answer(chat, clock) -> None:
    turn = enqueue(chat, clock)
    call_ids = ("signed-" + "x" * 5000 + "1", "signed-" + "x" * 5000 + "2")
    wait(claim(chat, clock), clock, calls=call_ids)
    for prompt in Prompt.objects.order_by("pk"):
        questions.resolve(prompt, Event.SKIP, now=clock())
    assert state(turn) == "ready"
    assert list(ToolCall.objects.values_list("state", flat=True)) == ["done", "done"]
    again = claim(chat, clock)
    assert turns.begin_tool(again, call_ids[0], "clarify", {}, now=clock())[0].state == "done"


def test_a_question_asked_while_the_chat_moved_is_asked_in_the_new_one(db, clock) -> None:
    group = make_conversation(chat_type="group", chat_id="-7", participant_id="7", now=clock())
    enqueue(group, clock)
    turn = claim(group, clock)
    sessions.move_chat("telegram", "telegram", "-7", "-1007", now=clock())
    wait(turn, clock, spoken="First this.")
    group.refresh_from_db()
    prompt = Prompt.objects.get()
    assert (prompt.conversation_key, prompt.lane) == (group.key, group.address.lane)
    owed = Obligation.objects.values_list("conversation_key", "chat_id")
    assert set(owed) == {(group.key, "-1007")}


def test_what_this_very_process_carries_out_is_not_taken_back(chat, clock) -> None:
    turn = enqueue(chat, clock)
    claim(chat, clock, this_process())
    workbench.put(turn.pk, run := _Run())
    try:
        clock.advance(3600)  # the lid was closed
        assert upkeep.reclaim_turns(now=clock()) == 0
        workbench.take_away(turn.pk, _Run())
        assert workbench.holds(turn.pk)
    finally:
        workbench.take_away(turn.pk, run)
    assert upkeep.reclaim_turns(now=clock()) == 1
    assert not run.is_cancelled


def test_a_run_that_lost_its_turn_is_stopped_by_the_one_that_has_it(chat, clock) -> None:
    former, present = _Run(), _Run()
    workbench.put(7, former)
    workbench.put(7, present)
    assert (former.is_cancelled, present.is_cancelled) == (True, False)
    workbench.take_away(7, present)


class _Run:
    is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


# --- what is said of it to whoever shows it


@pytest.mark.proves("D12")
@pytest.mark.parametrize(("seconds", "hints_given"), [(0, []), (1800, ["turn.begun"])])
def test_a_turn_that_had_to_wait_is_told_of_when_it_is_taken_up(
    chat, clock, told, seconds, hints_given
) -> None:
    enqueue(chat, clock)
    clock.advance(seconds)
    claim(chat, clock)
    assert told == hints_given


@pytest.mark.proves("D13")
@pytest.mark.parametrize("seconds", [None, 0, 90])
def test_a_chats_settings_say_when_an_answer_is_a_new_message(chat, clock, seconds) -> None:
    ChatPolicy.objects.create(account="telegram", chat_id="7", fresh_final_seconds=seconds)
    ChatPolicy.objects.create(account="telegram", chat_id="8", fresh_final_seconds=5)
    enqueue(chat, clock)
    turns.finish(claim(chat, clock), "Done.", [ANSWER], {}, now=clock())
    (owed,) = Obligation.objects.filter(kind=Kind.FINAL)
    assert owed.fresh_after == seconds


# B073: what waited in the queue answers its own message, and an error does as well.
def test_in_a_group_each_answer_replies_to_the_message_that_it_answers(clock) -> None:
    group = make_conversation(chat_id="-5", chat_type="group", now=clock())
    for message_id in ("10", "11", "12"):
        new = turns.NewTurn(
            conversation=group,
            prompt=message_id,
            sender_id="7",
            sender_name="Ada",
            reply_to=message_id,
        )
        with transaction.atomic():
            turns.enqueue(new, now=clock())
    turns.finish(claim(group, clock), "Ten.", [ANSWER], {}, now=clock())
    turns.fail(claim(group, clock), FailureKind.INTERNAL, "No.", "", now=clock())
    turns.finish(claim(group, clock, owner=OTHER), "Twelve.", [ANSWER], {}, now=clock())
    assert list(Obligation.objects.order_by("pk").values_list("reply_to", flat=True)) == [
        "10",
        "11",
        "12",
    ]
