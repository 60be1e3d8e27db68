"""Questions: asked once, shown one after another, closed by exactly one answer."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import transaction

from clarify import buttons, questions
from clarify.errors import NotYours, UnknownPrompt
from clarify.models import Prompt, Reply
from clarify.questions import Answerer, Effect
from clarify.schema import normalise_clarify
from clarify.states import Event
from clarify.wording import ENGLISH
from delivery import ledger
from delivery.errors import OutcomeUnknown, Refused
from delivery.models import Kind, Obligation
from gateway.models import ToolCall, Turn
from tests.factories import (
    choice_question,
    make_answerer,
    make_conversation,
    make_obligation,
    make_prompt,
    make_turn,
    settle,
    several_questions,
)
from tests.integration.desk import ACCOUNT, take_lease
from tests.integration.racing import race

ADA = Answerer(id="7", name="Ada", surface="telegram")
EVE = Answerer(id="666", name="Eve", surface="telegram")
BOSS = Answerer(id="boss", name="Boss", surface="console", is_staff=True)
pytestmark = pytest.mark.django_db


@pytest.fixture
def turn(db, clock):
    conversation = make_conversation(chat_id="7", now=clock())
    return make_turn(conversation, state="waiting", sender_id="7", now=clock())


@pytest.fixture
def ask(turn, clock):
    def ask(**changes) -> Prompt:
        return make_prompt(changes.pop("turn", turn), now=clock(), **changes)

    return ask


def answer(prompt: Prompt, text: str, clock, who: Answerer = ADA):
    with transaction.atomic():
        return questions.answer_text(prompt, text, who, now=clock())


def press(prompt: Prompt, choice: str, clock, who: Answerer = ADA, **changes):
    facts = {"data": buttons.button_data(prompt.token, choice), "lane": prompt.lane} | changes
    with transaction.atomic():
        return questions.press(facts["data"], lane=facts["lane"], answerer=who, now=clock())


def fresh(row):
    row.refresh_from_db()
    return row


# --- asking


@pytest.mark.proves("Q6")
def test_the_same_call_asks_once(turn, clock) -> None:
    request = questions.Ask(
        kind="clarify",
        correlation=turn.correlation,
        call_id="c1",
        conversation_key=turn.conversation.key,
        address=turn.conversation.address,
        asker_id="7",
        questions=choice_question(),
    )
    first = questions.ask(request, now=clock())
    again = questions.ask(replace(request, asker_id="8"), now=clock.advance(5))
    assert first.pk == again.pk
    assert Obligation.objects.filter(kind=Kind.PROMPT).count() == 1


@pytest.mark.proves("Q6", "Q14")
def test_a_question_is_owed_like_any_message_and_goes_first(ask) -> None:
    owed = ask(delivered=False).obligation
    assert (owed.kind, owed.priority, owed.state) == ("prompt", 0, "pending")
    assert "Where should it go?" in owed.content
    shown = [b for row in owed.native_controls.rows for b in row]
    assert [button.label for button in shown] == ["Staging", "Production", "Other…", "Skip"]
    assert all(len(button.data.encode()) <= 64 for button in shown)


def test_a_button_carries_no_words_and_two_questions_share_no_token(ask) -> None:
    one, two = ask(), ask()
    assert one.token != two.token
    assert "Staging" not in buttons.button_data(one.token, "p0.0")


@pytest.mark.proves("Q23")
def test_several_questions_come_one_after_another(ask, clock) -> None:
    one, two, three = ask(), ask(), ask()
    assert [prompt.obligation is None for prompt in (one, two, three)] == [False, True, True]
    answer(one, "1", clock)
    assert fresh(two).obligation is not None
    assert fresh(three).obligation is None


def test_a_question_that_closes_before_its_turn_comes_is_never_shown(ask, clock) -> None:
    one, two, three = ask(), ask(), ask()
    with transaction.atomic():
        questions.resolve(two, Event.EXPIRE, now=clock())
    answer(one, "1", clock)
    assert fresh(two).obligation is None
    assert fresh(three).obligation is not None


def test_questions_of_different_conversations_do_not_wait_for_each_other(ask, clock) -> None:
    ask()
    other = ask(turn=make_turn(state="waiting", now=clock()))
    assert other.obligation is not None


# --- when a text may be an answer


def test_a_question_not_sent_yet_takes_no_answer(ask, turn) -> None:
    ask(delivered=False)
    assert questions.pending_for(turn.conversation.key) == []


def test_a_question_behind_another_takes_no_answer(ask, turn) -> None:
    first, _ = ask(), ask()
    assert questions.pending_for(turn.conversation.key) == [first]


def being_sent(prompt, clock):
    (work,) = ledger.claim_due(take_lease(clock=clock), ACCOUNT, now=clock())
    assert work.obligation.pk == prompt.obligation.pk
    return work


@pytest.mark.proves("Q8", "Q22")
def test_a_question_that_may_have_arrived_takes_an_answer(ask, turn, clock) -> None:
    prompt = ask(delivered=False)
    work = being_sent(prompt, clock)
    assert questions.pending_for(turn.conversation.key) == [prompt]
    ledger.postpone(
        work, work.parts[0], OutcomeUnknown(), until=clock(), operation="send", now=clock()
    )
    assert questions.pending_for(turn.conversation.key) == [prompt]


@pytest.mark.proves("Q22")
def test_a_question_that_certainly_did_not_arrive_takes_no_answer(ask, turn, clock) -> None:
    work = being_sent(ask(delivered=False), clock)
    ledger.postpone(work, work.parts[0], Refused(), until=clock(), operation="send", now=clock())
    assert questions.pending_for(turn.conversation.key) == []


def give_up(prompt, clock, error) -> None:
    work = being_sent(prompt, clock)
    ledger.abandon(work, work.parts[0], error, reason="no", operation="send", now=clock())


@pytest.mark.proves("Q22")
def test_a_question_that_reached_nobody_is_closed_as_undelivered(ask, turn, clock) -> None:
    prompt = ask(delivered=False)
    give_up(prompt, clock, Refused("Forbidden"))
    assert questions.close_undeliverable(now=clock()) == 1
    assert fresh(prompt).state == "undeliverable"
    assert prompt.reason == "delivery_failed"
    assert fresh(turn).state == "ready"
    assert ToolCall.objects.get().result["value"]["user_response"]


@pytest.mark.proves("Q22")
def test_a_question_whose_fate_stayed_unknown_can_still_be_answered(ask, turn, clock) -> None:
    prompt = ask(delivered=False)
    give_up(prompt, clock, OutcomeUnknown())
    assert questions.close_undeliverable(now=clock()) == 0
    assert questions.pending_for(turn.conversation.key) == [prompt]
    assert answer(prompt, "2", clock).effect is Effect.RESOLVED


# --- answers


@pytest.mark.proves("Q8", "Q12")
@pytest.mark.parametrize("text", ["2", "2.", "#2", "２", "production", "Production!"])
def test_a_text_that_names_an_option_is_that_option(ask, turn, clock, text) -> None:
    prompt = ask()
    outcome = answer(prompt, text, clock)
    assert outcome.effect is Effect.RESOLVED
    assert fresh(prompt).answers == {"answer": ["Production"]}
    assert (prompt.state, prompt.resolved_by, prompt.resolved_on) == (
        "answered",
        "Ada",
        "telegram",
    )
    assert fresh(turn).state == "ready"
    assert ToolCall.objects.get().result["value"]["user_response"] == "Production"


def test_ones_own_words_are_an_answer(ask, clock) -> None:
    prompt = ask()
    answer(prompt, "on 2 servers, please", clock)
    assert fresh(prompt).answers == {"answer": ["on 2 servers, please"]}


def test_a_number_that_is_none_gets_one_hint_and_changes_nothing(ask, turn, clock) -> None:
    prompt = ask()
    outcome = answer(prompt, "9", clock)
    assert outcome.effect is Effect.HINTED
    assert outcome.say
    assert fresh(prompt).state == "pending"
    assert fresh(turn).state == "waiting"
    assert Reply.objects.get().outcome == "hinted"


@pytest.mark.proves("Q26")
@pytest.mark.parametrize("text", ["", "  ", "\u200b"])
def test_nothing_said_is_no_answer(ask, clock, text) -> None:
    prompt = ask()
    assert answer(prompt, text, clock).effect is Effect.NOTHING
    assert fresh(prompt).state == "pending"


@pytest.mark.proves("Q26")
@pytest.mark.parametrize("text", ["skip", "none of these"])
def test_a_question_can_be_declined_in_words(ask, turn, clock, text) -> None:
    prompt = ask()
    assert answer(prompt, text, clock).effect is Effect.RESOLVED
    assert fresh(prompt).state == "skipped"
    assert fresh(turn).state == "ready"


def test_half_of_a_set_is_kept_until_the_rest_comes(ask, turn, clock) -> None:
    prompt = ask(question_set=several_questions())
    assert answer(prompt, "1: staging", clock).effect is Effect.KEPT
    assert fresh(prompt).state == "pending"
    assert prompt.answers == {"place": ["Staging"]}
    assert fresh(turn).state == "waiting"
    assert answer(prompt, "1, 2", clock).effect is Effect.RESOLVED
    assert fresh(prompt).answers == {"place": ["Staging"], "extras": ["Logs", "Metrics"]}


def test_what_was_kept_survives_the_deadline(ask, clock) -> None:
    prompt = ask(question_set=several_questions())
    stale = Prompt.objects.get(pk=prompt.pk)
    answer(prompt, "1: staging", clock)
    with transaction.atomic():
        questions.resolve(stale, Event.EXPIRE, now=clock())
    assert fresh(prompt).answers == {"place": ["Staging"]}


@pytest.mark.proves("Q1")
def test_a_late_answer_is_told_what_was_answered_before(ask, clock) -> None:
    prompt = ask()
    answer(prompt, "1", clock)
    late = answer(prompt, "2", clock, who=BOSS)
    assert late.effect is Effect.TOO_LATE
    assert "Staging" in late.say
    assert "Ada" in late.say
    assert fresh(prompt).answers == {"answer": ["Staging"]}


def test_a_set_can_be_answered_at_once_from_the_control_ui(ask, clock) -> None:
    prompt = ask(question_set=several_questions())
    words = {"place": ("Staging",), "extras": ("Logs",)}
    assert questions.answer_all(prompt, {"place": ()}, BOSS, now=clock()).effect is Effect.HINTED
    assert questions.answer_all(prompt, words, BOSS, now=clock()).effect is Effect.RESOLVED


# --- presses


def test_a_press_is_an_answer(ask, turn, clock) -> None:
    prompt = ask()
    assert press(prompt, "p0.1", clock).effect is Effect.RESOLVED
    assert fresh(prompt).answers == {"answer": ["Production"]}
    assert fresh(turn).state == "ready"


@pytest.mark.proves("Q14")
def test_other_asks_for_words_and_closes_nothing(ask, clock) -> None:
    prompt = ask()
    assert press(prompt, "o0.0", clock).effect is Effect.KEPT
    assert fresh(prompt).state == "pending"
    invitation = Obligation.objects.get(kind=Kind.CONTROL)
    assert invitation.native_controls.force_reply
    answer(prompt, "Somewhere else", clock)
    assert fresh(prompt).answers == {"answer": ["Somewhere else"]}


def test_skip_declines(ask, clock) -> None:
    prompt = ask()
    press(prompt, "s0.0", clock)
    assert fresh(prompt).state == "skipped"


@pytest.mark.proves("Q15")
def test_another_person_pressing_is_refused_and_changes_nothing(ask, turn, clock) -> None:
    prompt = ask()
    with pytest.raises(NotYours):
        questions.press(
            buttons.button_data(prompt.token, "p0.1"),
            lane=prompt.lane,
            answerer=EVE,
            now=clock(),
        )
    assert fresh(prompt).state == "pending"
    assert fresh(turn).state == "waiting"


@pytest.mark.proves("Q15")
@pytest.mark.parametrize("who", [BOSS, replace(EVE, is_staff=True)])
def test_staff_may_answer_anything(ask, clock, who) -> None:
    assert press(ask(), "p0.0", clock, who=who).effect is Effect.RESOLVED


def test_anyone_may_answer_where_that_is_allowed(ask, clock) -> None:
    prompt = ask(anyone_may_answer=True)
    assert press(prompt, "p0.0", clock, who=EVE).effect is Effect.RESOLVED


@pytest.mark.proves("Q14")
@pytest.mark.parametrize(
    "data",
    [
        *("", "q", "q:", "q::0", "q:token", "q:token:0", "x:{token}:0", "q:{token}:0:0"),
        *("q:{token}:2", "q:{token}:9", "q:{token}:-1", "q:{token}:²", "q:{token}:１"),
        *("q:{token}:", "q:{token}:x", "q:{token}:00", "q:{TOKEN}:0", "\x00", "q:{token} :0"),
    ],
)
def test_a_forged_button_is_no_answer(ask, clock, data) -> None:
    prompt = ask()
    forged = data.replace("{token}", prompt.token).replace("{TOKEN}", prompt.token.swapcase())
    with pytest.raises(UnknownPrompt):
        press(prompt, "", clock, data=forged)
    assert fresh(prompt).state == "pending"


@pytest.mark.proves("Q14")
def test_a_button_works_only_where_it_was_shown(ask, clock) -> None:
    prompt = ask()
    elsewhere = make_conversation(chat_id="8").address.lane
    with pytest.raises(UnknownPrompt):
        press(prompt, "p0.0", clock, lane=elsewhere)
    assert fresh(prompt).state == "pending"


def test_a_press_on_a_closed_question_leaves_the_newer_one_open(ask, clock) -> None:
    old, new = ask(), ask()
    answer(old, "1", clock)
    settle(fresh(new).obligation)
    outcome = press(old, "p0.1", clock)
    assert outcome.effect is Effect.TOO_LATE
    assert fresh(new).state == "pending"
    assert fresh(old).answers == {"answer": ["Staging"]}


@pytest.mark.parametrize("question_set", [normalise_clarify("What is it called?", None)])
def test_a_press_on_what_was_shown_without_buttons_is_forged(ask, clock, question_set) -> None:
    prompt = ask(question_set=question_set)
    assert not prompt.has_buttons
    with pytest.raises(UnknownPrompt):
        press(prompt, "p0.0", clock)
    assert fresh(prompt).state == "pending"


@pytest.mark.proves("Q27")
def test_in_a_group_that_we_may_not_hear_the_question_asks_for_a_reply(clock) -> None:
    group = make_conversation(chat_type="group", chat_id="-5", now=clock())
    asked = [
        make_prompt(make_turn(chat, state="waiting", sender_id="7", now=clock()), now=clock())
        for chat in (group, make_conversation(chat_id="8", now=clock()))
    ]

    assert [ENGLISH.by_reply in prompt.obligation.content for prompt in asked] == [True, False]


# --- several steps on one message


def views(prompt: Prompt) -> list[Obligation]:
    return list(Obligation.objects.filter(kind=Kind.CHANGE, edits=prompt.obligation).order_by("pk"))


@pytest.mark.proves("Q14")
def test_several_questions_are_stepped_through_on_one_message(ask, turn, clock) -> None:
    prompt = ask(question_set=several_questions())
    assert "Question 1 of 2" in prompt.obligation.content

    press(prompt, "p0.1", clock)
    (view,) = views(prompt)
    assert "Question 2 of 2" in view.content
    assert "✓ Place: **Production**" in view.content
    settle(view)
    press(prompt, "p1.0", clock)
    press(prompt, "p1.1", clock)
    assert press(prompt, "k1.0", clock).effect is Effect.RESOLVED

    assert fresh(prompt).answers == {"place": ["Production"], "extras": ["Logs", "Metrics"]}
    assert fresh(turn).state == "ready"


def test_of_many_quick_toggles_only_the_last_view_is_owed(ask, clock) -> None:
    prompt = ask(question_set=several_questions())
    press(prompt, "p0.1", clock)
    for _ in range(5):
        press(prompt, "p1.0", clock)

    owed = [view for view in views(prompt) if view.state == "pending"]

    assert len(owed) == 1
    assert [button.label for (button, *_) in owed[0].native_controls.rows[:2]] == [
        "☑ Logs",
        "☐ Metrics",
    ]


def test_submitting_nothing_is_told_and_keeps_the_question_open(ask, clock) -> None:
    prompt = ask(question_set=several_questions())
    press(prompt, "p0.1", clock)

    outcome = press(prompt, "k1.0", clock)

    assert (outcome.effect, outcome.say) == (Effect.HINTED, ENGLISH.choose_first)
    assert fresh(prompt).state == "pending"


def test_a_button_of_an_earlier_view_shows_the_present_one_again(ask, clock) -> None:
    prompt = ask(question_set=several_questions())
    press(prompt, "p0.1", clock)

    outcome = press(prompt, "p0.0", clock)

    assert (outcome.effect, outcome.say) == (Effect.HINTED, ENGLISH.not_shown_now)
    assert fresh(prompt).answers == {"place": ["Production"]}


def test_words_answer_the_step_on_the_screen_and_the_rest_is_shown_below(ask, clock) -> None:
    prompt = ask(question_set=several_questions())
    first = prompt.obligation

    assert answer(prompt, "2", clock).effect is Effect.KEPT

    prompt = fresh(prompt)
    assert prompt.answers == {"place": ["Production"]}
    assert prompt.obligation != first
    assert "Question 2 of 2" in prompt.obligation.content
    closing = Obligation.objects.get(kind=Kind.RETIRE, edits=first)
    assert closing.native_controls.clear
    assert questions.pending_for(prompt.conversation_key) == [prompt]  # seen, though sent anew


def test_going_back_opens_the_question_for_words_again(ask, clock) -> None:
    prompt = ask(question_set=several_questions())
    press(prompt, "p0.1", clock)
    press(prompt, "b1.0", clock)

    answer(prompt, "staging", clock)

    assert fresh(prompt).answers == {"place": ["Staging"]}


def test_words_may_answer_all_steps_at_once(ask, clock) -> None:
    prompt = ask(question_set=several_questions())

    assert answer(prompt, "1b 2a", clock).effect is Effect.RESOLVED

    assert fresh(prompt).answers == {"place": ["Production"], "extras": ["Logs"]}


def test_own_words_after_other_join_the_toggles(ask, clock) -> None:
    prompt = ask(question_set=several_questions())
    press(prompt, "p0.1", clock)
    press(prompt, "p1.0", clock)
    press(prompt, "o1.0", clock)

    assert answer(prompt, "our own traces", clock).effect is Effect.RESOLVED

    assert fresh(prompt).answers["extras"] == ["Logs", "our own traces"]


def test_a_view_not_yet_sent_is_not_owed_when_the_question_closes(ask, clock) -> None:
    prompt = ask(question_set=several_questions())
    press(prompt, "p0.1", clock)
    press(prompt, "s1.0", clock)

    assert {view.state for view in views(prompt)} == {"abandoned"}
    assert Obligation.objects.get(kind=Kind.RETIRE).edits == prompt.obligation


# --- closing


@pytest.mark.proves("Q5")
def test_a_closed_question_is_closed_where_it_was_shown(ask, clock) -> None:
    prompt = ask()
    answer(prompt, "1", clock)
    closing = Obligation.objects.get(kind=Kind.RETIRE)
    assert closing.edits == prompt.obligation
    assert closing.native_controls.clear
    assert "Staging" in closing.content


def test_a_question_closed_before_it_was_seen_is_withdrawn(ask, clock) -> None:
    prompt = ask(delivered=False)
    questions.cancel_for(prompt.correlation, reason="stopped", now=clock())
    assert fresh(prompt).state == "cancelled"
    assert fresh(prompt.obligation).state == "abandoned"
    assert not Obligation.objects.filter(kind=Kind.RETIRE).exists()


def test_the_deadline_closes_it_and_the_agent_hears_of_it(ask, turn, clock) -> None:
    prompt = ask()
    clock.advance(599)
    assert questions.expire_overdue(now=clock()) == 0
    clock.advance(1)
    assert questions.expire_overdue(now=clock()) == 1
    assert fresh(prompt).state == "expired"
    assert fresh(turn).state == "ready"
    result = ToolCall.objects.get().result["value"]
    assert result["user_response"] == "[user did not respond within 10m]"


@pytest.mark.proves("Q4")
def test_cancelling_a_turn_closes_all_its_questions_and_shows_none(ask, turn, clock) -> None:
    prompts = [ask(), ask(), ask()]
    assert questions.cancel_for(turn.correlation, reason="stopped", now=clock()) == 3
    assert {fresh(prompt).state for prompt in prompts} == {"cancelled"}
    assert Obligation.objects.filter(kind=Kind.PROMPT).count() == 1


@pytest.mark.proves("Q23")
def test_the_turn_goes_on_only_when_all_its_questions_are_closed(ask, turn, clock) -> None:
    one, two = ask(), ask()
    answer(one, "1", clock)
    assert fresh(turn).state == "waiting"
    settle(fresh(two).obligation)
    answer(two, "2", clock)
    assert fresh(turn).state == "ready"


def test_a_question_is_remembered_for_minutes_after_it_was_closed(ask, turn, clock) -> None:
    key = turn.conversation.key
    prompt = ask()
    assert not questions.nothing_lately(key, now=clock())
    answer(prompt, "1", clock)
    clock.advance(599)
    assert questions.closed_lately(key, now=clock()) == [prompt]
    clock.advance(2)
    assert questions.closed_lately(key, now=clock()) == []
    assert questions.nothing_lately(key, now=clock())


def test_a_quoted_question_is_found_by_its_message(ask, turn) -> None:
    prompt = ask()
    (message_id,) = ledger.message_ids(prompt.obligation.pk)
    lane = turn.conversation.address.lane
    assert questions.quoted(lane, message_id) == prompt
    assert questions.quoted(lane, "nothing") is None
    assert questions.quoted("another", message_id) is None


# --- whose words are for which question


def put(prompt: Prompt) -> Prompt:
    """A question behind another, as it is once the platform took it."""
    prompt.obligation = make_obligation(kind=Kind.PROMPT)
    prompt.save(update_fields=["obligation"])
    settle(prompt.obligation)
    return prompt


def open_to(prompt: Prompt, who: Answerer = ADA, **changes) -> list[Prompt]:
    facts = {"lane": prompt.lane} | changes
    return questions.open_to(prompt.conversation_key, who, **facts)


def message_of(prompt: Prompt) -> str:
    return ledger.message_ids(prompt.obligation.pk)[0]


def test_plain_words_are_tried_on_the_oldest_question_first(ask) -> None:
    one, two = ask(), put(ask())
    assert open_to(one) == [one, two]
    assert open_to(one, quoted_message_id="no question") == [one, two]


def test_words_that_quote_a_question_are_for_that_one_alone(ask) -> None:
    one, two = ask(), put(ask())
    assert open_to(one, quoted_message_id=message_of(two)) == [two]


def test_words_that_quote_a_closed_question_are_for_none(ask, clock) -> None:
    one, two = ask(), put(ask())
    answer(one, "1", clock)
    assert open_to(two) == [two]
    assert open_to(two, quoted_message_id=message_of(one)) == []


def test_words_of_another_person_or_from_elsewhere_are_for_none(ask) -> None:
    prompt = ask()
    assert open_to(prompt, EVE) == []
    assert open_to(prompt, lane=make_conversation(chat_id="8").address.lane) == []
    assert open_to(prompt, BOSS) == [prompt]


def test_plain_words_are_never_for_an_approval(ask) -> None:
    assert open_to(ask(kind="approval"), BOSS) == []


# --- races


def by_text(prompt, text, clock):
    return lambda: answer(prompt, text, clock)


@pytest.mark.proves("Q1")
@pytest.mark.django_db(transaction=True)
def test_of_eight_answers_at_once_exactly_one_wins(ask, turn, clock) -> None:
    for _ in range(3):
        Turn.objects.filter(pk=turn.pk).update(state="waiting")
        prompt = ask()
        racers = [by_text(prompt, "1", clock), by_text(prompt, "2", clock)] * 2
        racers += [lambda p=prompt: press(p, "p0.0", clock)] * 2
        racers += [lambda p=prompt: questions.answer_all(p, {"answer": ("x",)}, BOSS, now=clock())]
        racers += [lambda p=prompt: questions.skip(p, BOSS, now=clock())]
        effects = [outcome.effect for outcome in race(*racers)]
        assert sorted(effects) == [Effect.RESOLVED, *[Effect.TOO_LATE] * 7]
        assert fresh(turn).state == "ready"
        assert Obligation.objects.filter(kind=Kind.RETIRE, edits=prompt.obligation).count() == 1
        assert Reply.objects.filter(prompt=prompt, outcome="resolved").count() == 1


@pytest.mark.proves("Q1")
@pytest.mark.django_db(transaction=True)
def test_the_deadline_and_an_answer_never_both_win(ask, turn, clock) -> None:
    for _ in range(5):
        Turn.objects.filter(pk=turn.pk).update(state="waiting")
        prompt = ask()
        later = clock() + timedelta(seconds=601)
        outcome, expired = race(
            by_text(prompt, "1", clock), lambda later=later: questions.expire_overdue(now=later)
        )
        result = ToolCall.objects.get(call_id=prompt.call_id).result["value"]["user_response"]
        if expired:
            assert outcome.effect is Effect.TOO_LATE
            assert result.startswith("[user did not respond")
        else:
            assert outcome.effect is Effect.RESOLVED
            assert result == "Staging"


@pytest.mark.django_db(transaction=True)
def test_two_questions_of_a_turn_closed_at_once_let_it_go_on(ask, turn, clock) -> None:
    """Neither may see only the other one's question still open."""
    for _ in range(8):
        Turn.objects.filter(pk=turn.pk).update(state="waiting")
        one, two = ask(), ask()

        def close(prompt) -> bool:
            return questions.resolve(prompt, Event.EXPIRE, now=clock())

        assert race(lambda a=one: close(a), lambda b=two: close(b)) == [True, True]
        assert fresh(turn).state == "ready"


@pytest.mark.django_db(transaction=True)
def test_a_stop_and_an_answer_at_once_do_not_wait_for_each_other(ask, turn, clock) -> None:
    from gateway import turns

    def stop():
        with transaction.atomic():
            return turns.stop(turn.conversation, by=make_answerer(), now=clock())

    for _ in range(5):
        Turn.objects.filter(pk=turn.pk).update(state="waiting")
        prompt = ask()
        outcome, stopped = race(by_text(prompt, "1", clock), stop)
        assert [one.pk for one in stopped] == [turn.pk]
        assert outcome.effect in {Effect.RESOLVED, Effect.TOO_LATE}
        assert fresh(turn).state == "stopped"
