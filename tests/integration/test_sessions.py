"""[S3], [S4]: who shares a history, when it ends, and how a person gets back to it."""

import pytest

from gateway import chats, costs, staff, turns
from gateway.agents.events import Usage
from gateway.errors import NotPossible
from gateway.messages import ChatMoved, ChatType
from gateway.models import AuditEvent, ChatPolicy, Conversation, Session, TranscriptEntry, Turn
from tests import factories
from tests.factories import make_allow_entry
from tests.integration.door import Door, fresh, said
from tests.integration.paces import claim, end
from tests.integration.paging import confirm, messages_of, page

pytestmark = pytest.mark.django_db
GROUP = {"chat_type": ChatType.GROUP, "chat_id": "-5", "mentions_bot": True}
THREAD = GROUP | {"thread_id": "3"}


@pytest.fixture
def door(db, clock):
    make_allow_entry(user_id="8")
    return Door(clock)


@pytest.fixture
def staff_client(client):
    client.force_login(factories.make_staff())
    return client


def exchange(door, text="Hello", answer="Done.", **place):
    """Something is said and answered; the turn."""
    turn = claim(door.say(text, **place).turn, door.clock)
    end(turn, door.clock, answer)
    return fresh(turn)


def remembered(conversation) -> list[str]:
    conversation.refresh_from_db()
    kept = TranscriptEntry.objects.filter(session=conversation.session, undone_at=None)
    return [message["parts"][0]["content"] for message in kept.values_list("message", flat=True)]


# --- who shares a history


@pytest.mark.proves("S3")
@pytest.mark.parametrize("by_account", [True, False])
@pytest.mark.parametrize("place", [GROUP, THREAD])
@pytest.mark.parametrize("setting", ["", "person", "shared"])
def test_who_shares_a_history_is_set_for_an_account_or_a_chat(door, place, setting, by_account):
    chat = {} if by_account else {"chat_id": "-5"}
    ChatPolicy.objects.create(account="telegram", groups=setting, threads=setting, **chat)
    ours = door.say("A", **place).turn.conversation_id
    theirs = door.say("B", **place, user_id="8").turn.conversation_id
    shares = setting == "shared" or (setting == "" and place is THREAD)
    assert (ours == theirs) is shares


@pytest.mark.proves("S3")
def test_a_change_of_who_shares_mixes_no_histories_and_loses_none(door) -> None:
    own = exchange(door, "my secret", **GROUP).conversation
    policy = ChatPolicy.objects.create(account="telegram", chat_id="-5", groups="shared")
    shared = exchange(door, "for all", **GROUP).conversation
    assert "my secret" not in remembered(shared)
    policy.delete()
    assert door.say("and again", **GROUP).turn.conversation_id == own.pk
    assert remembered(own)[0] == "my secret"


@pytest.mark.proves("S3")
def test_a_thread_inherits_what_is_set_for_its_chat_and_may_differ(door) -> None:
    ChatPolicy.objects.create(account="telegram", model="small", system_prompt="Be brief.")
    ChatPolicy.objects.create(account="telegram", chat_id="-5", model="large", busy="steer")
    ChatPolicy.objects.create(account="telegram", chat_id="-5", thread_id="3", busy="collect")
    rules = chats.rules_of(door.say("A", **THREAD).turn.conversation)
    assert (rules.model, rules.busy, rules.system_prompt) == ("large", "collect", "Be brief.")


@pytest.mark.proves("S3")
def test_a_chat_inherits_from_its_parent_where_threads_are_chats(door) -> None:
    ChatPolicy.objects.create(account="telegram", chat_id="C1", model="large")
    turn = door.say("A", **(GROUP | {"chat_id": "T9"}), parent_chat_id="C1").turn
    assert chats.rules_of(turn.conversation).model == "large"


@pytest.mark.proves("S3")
def test_a_thread_inherits_no_history_and_no_stop(door) -> None:
    exchange(door, "in the chat", **GROUP)
    above = door.say("in the chat again", **GROUP).turn
    below = door.say("in the thread", **THREAD).turn
    door.say("/stop", **THREAD)
    assert fresh(below).state == "stopped"
    assert fresh(above).state == "queued"
    assert remembered(below.conversation)[:1] == ["in the thread"]


@pytest.mark.proves("S3")
def test_settings_and_home_move_with_a_chat_that_gets_another_id(door) -> None:
    ChatPolicy.objects.create(account="telegram", chat_id="-5", groups="shared", busy="collect")
    before = exchange(door, "A", **GROUP)
    make_allow_entry(user_id="7", role="admin", chat_id="-5")
    door.say("/sethome", **GROUP)
    for event_id in ("m1", "m2"):  # both chats tell of it
        door.receive(
            ChatMoved(
                platform="telegram",
                account="telegram",
                event_id=event_id,
                old_chat_id="-5",
                new_chat_id="-1005",
            )
        )
    after = door.say("B", **(GROUP | {"chat_id": "-1005"})).turn
    assert (after.conversation_id, after.session_id) == (before.conversation_id, before.session_id)
    assert ChatPolicy.objects.get().chat_id == "-1005"
    assert chats.home_of("telegram").chat_id == "-1005"


# --- when it ends


@pytest.mark.proves("S4")
def test_a_session_ends_after_a_time_without_a_word_and_the_person_is_told(door) -> None:
    ChatPolicy.objects.create(account="telegram", reset="idle", idle_minutes=60)
    first = exchange(door)
    door.clock.advance(59 * 60)
    assert door.say("soon").turn.session_id == first.session_id
    door.say("/stop")
    door.clock.advance(60 * 60)
    later = door.say("later").turn
    assert later.session_id != first.session_id
    assert Session.objects.get(pk=first.session_id).end_reason == "idle"
    assert "60 minutes" in said()[-1]


@pytest.mark.proves("S4")
def test_a_session_ends_every_day_at_an_hour_of_a_time_zone(door) -> None:
    ChatPolicy.objects.create(
        account="telegram", reset="daily", hour=20, time_zone="Asia/Tehran"
    )  # 16:30 in UTC
    first = exchange(door)
    door.clock.advance(4 * 3600)  # from noon
    assert exchange(door, "before").session_id == first.session_id
    door.clock.advance(3600)
    assert door.say("after").turn.session_id != first.session_id
    assert "20:00" in said()[-1]


@pytest.mark.proves("S4")
def test_no_session_ends_by_itself_where_nothing_is_set(door) -> None:
    first = exchange(door)
    door.clock.advance(90 * 86_400)
    assert door.say("still me").turn.session_id == first.session_id
    assert said() == []


def test_a_session_with_open_work_does_not_end_by_time(door) -> None:
    ChatPolicy.objects.create(account="telegram", reset="idle", idle_minutes=1)
    running = claim(door.say("A long task").turn, door.clock)
    door.clock.advance(3600)
    assert door.say("more").turn.session_id == running.session_id


@pytest.mark.proves("S4")
def test_staff_suspend_a_session_and_the_next_message_begins_another(door, staff_client) -> None:
    running = claim(door.say("A").turn, door.clock)
    session = running.session
    done = confirm(staff_client, Session, "suspend", session)
    assert "suspended" in messages_of(done)
    assert fresh(running).state == "stopped"
    after = door.say("B").turn
    assert after.session_id != session.pk
    assert "suspended" in said()[-1]
    assert AuditEvent.objects.filter(action="session.suspended").count() == 1
    with pytest.raises(NotPossible):
        staff.suspend_session(fresh(session), actor="ada", now=door.clock())


@pytest.mark.proves("S4")
@pytest.mark.parametrize("suspends", [True, False, None])
def test_stop_ends_the_session_where_that_is_set(door, suspends) -> None:
    ChatPolicy.objects.create(account="telegram", stop_suspends=suspends)
    first = door.say("A").turn
    door.say("/stop")
    assert (door.say("B").turn.session_id != first.session_id) is bool(suspends)


def test_a_turn_that_killed_two_workers_leaves_a_session_that_is_not_gone_on_with(door) -> None:
    for _ in range(2):
        turn = door.say("poison").turn if not Turn.objects.exists() else Turn.objects.get()
        claim(turn, door.clock)
        turns.reclaim(fresh(turn), now=door.clock())
    assert fresh(turn).failure_kind == "worker_died"
    after = door.say("hello").turn
    assert after.session_id != turn.session_id
    assert TranscriptEntry.objects.filter(session=turn.session_id).exists()


# --- getting back to it


@pytest.mark.proves("T5")
def test_new_with_words_names_the_session_and_reset_does_the_same(door) -> None:
    door.say("/new A trip to Yazd")
    door.say("/RESET")
    titles = list(Session.objects.order_by("number").values_list("title", flat=True))
    assert titles == ["", "A trip to Yazd", ""]


@pytest.mark.proves("T5")
@pytest.mark.parametrize("wanted", ["1", "#1", "yazd", "Yaz"])
def test_an_earlier_session_is_gone_on_with_by_number_or_title(door, wanted) -> None:
    first = exchange(door, "Where is it?").session
    door.say("/title Yazd")
    door.say("/new")
    exchange(door, "Something else")
    door.say(f"/resume {wanted}")
    assert door.say("Go on").turn.session_id == first.pk
    assert fresh(first).ended_at is None
    assert Session.objects.exclude(pk=first.pk).get().end_reason == "resumed"


def test_resume_lists_what_there_is_and_refuses_what_there_is_not(door) -> None:
    door.say("/resume")
    assert "no earlier session" in said()[-1]
    exchange(door, "Where is it?")
    door.say("/new")
    door.say("/resume")
    assert "`/resume 1`" in said()[-1]
    assert "Where is it?" in said()[-1]
    door.say("/resume 17")
    assert "no such session" in said()[-1]


def test_nothing_is_resumed_while_something_is_open(door) -> None:
    exchange(door)
    door.say("/new")
    open_turn = door.say("A").turn
    door.say("/resume 1")
    assert "still open" in said()[-1]
    assert fresh(open_turn).state == "queued"


def test_a_session_that_was_gone_back_to_is_not_ended_at_once_by_its_age(door) -> None:
    ChatPolicy.objects.create(account="telegram", reset="idle", idle_minutes=60)
    first = exchange(door)
    door.say("/new")
    door.clock.advance(86_400)
    door.say("/resume 1")
    assert door.say("Go on").turn.session_id == first.session_id


@pytest.mark.proves("T5")
def test_what_is_taken_back_is_forgotten_and_kept_for_staff(door) -> None:
    exchange(door, "one")
    turn = exchange(door, "two")
    door.say("/undo")
    assert remembered(turn.conversation) == ["one", "Done."]
    assert TranscriptEntry.objects.count() == 4
    assert "“two”" in said()[-1]
    door.say("/undo")
    door.say("/undo")
    assert "nothing to take back" in said()[-1]


@pytest.mark.proves("T5")
def test_what_is_tried_again_is_asked_as_if_it_had_not_been_answered(door) -> None:
    turn = exchange(door, "two")
    row = door.say("/retry")
    assert row.turn.prompt == "two"
    assert remembered(turn.conversation) == []


def test_nobody_takes_back_what_somebody_else_said(door) -> None:
    exchange(door, "Ada's", **THREAD)
    door.say("/undo", **THREAD, user_id="8")
    assert "theirs" in said()[-1]
    assert TranscriptEntry.objects.filter(undone_at=None).exists()


def test_nothing_is_taken_back_while_a_turn_runs(door) -> None:
    exchange(door, "one")
    claim(door.say("two").turn, door.clock)
    for command in ("/undo", "/retry"):
        door.say(command)
        assert "still open" in said()[-1]


# --- choosing


@pytest.fixture
def models(settings):
    settings.GATEWAY = settings.GATEWAY | {
        "MODEL": {"name": "usual"},
        "MODELS": ["small", "large"],
        "PRICES": "usual=2/10",
    }


@pytest.mark.proves("T5")
def test_a_model_is_chosen_among_those_that_are_set_up_for_one_session(door, models) -> None:
    door.say("/model")
    assert all(name in said()[-1] for name in ("usual", "small", "large"))
    door.say("/model LARGE")
    assert Session.objects.get().model == "large"
    door.say("/model gpt-nonsense")
    assert "no model" in said()[-1]
    assert Session.objects.get().model == "large"
    door.say("/model default")
    assert Session.objects.get().model == ""
    door.say("/model small")
    door.say("/new")
    assert Conversation.objects.get().session.model == ""


@pytest.mark.proves("S4")
@pytest.mark.proves("T5")
def test_usage_tells_tokens_and_cost_of_the_turn_and_the_session(door, models) -> None:
    for tokens in (1_000_000, 500_000):
        turn = exchange(door)
        row = costs.as_row(Usage(input_tokens=tokens, output_tokens=100_000, requests=2), "usual")
        Turn.objects.filter(pk=turn.pk).update(usage=row)
    door.say("/usage")
    assert "500,000 tokens read" in said()[-1]
    assert "2.0000 USD" in said()[-1]
    assert "1,500,000 tokens read" in said()[-1]
    assert "5.0000 USD" in said()[-1]


@pytest.mark.proves("T5")
def test_only_an_admin_makes_a_chat_the_home_of_an_account(door) -> None:
    door.say("/sethome")
    assert chats.home_of("telegram") is None
    make_allow_entry(user_id="7", role="admin", chat_id="-5")
    door.say("/sethome", **THREAD)
    home = chats.home_of("telegram")
    assert (home.chat_id, home.thread_id) == ("-5", "3")


# --- what staff set


@pytest.mark.proves("S3")
def test_staff_set_what_holds_in_a_chat_with_its_row_in_the_audit_log(staff_client) -> None:
    factories.make_account("telegram")
    given = {"account": "telegram", "chat_id": "-5", "busy": "steer", "hour": "", "reset": ""}
    response = staff_client.post(page(ChatPolicy, "add"), given, follow=True)
    assert response.status_code == 200
    assert ChatPolicy.objects.get().busy == "steer"
    assert AuditEvent.objects.get(action="chat.set").detail["busy"] == "steer"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"chat_id": "-5"}, "Name the account"),
        ({"account": "telegram", "thread_id": "3"}, "Name the chat"),
        ({"time_zone": "Mars/Olympus"}, "no such time zone"),
        ({"hour": "24"}, "less than or equal to 23"),
    ],
)
def test_what_could_never_hold_is_refused_with_what_to_do(staff_client, given, problem) -> None:
    factories.make_account("telegram")
    response = staff_client.post(page(ChatPolicy, "add"), given)
    assert problem in response.content.decode()
    assert not ChatPolicy.objects.exists()


@pytest.mark.proves("Q4")
def test_suspending_closes_what_was_asked_and_whoever_answers_is_told(door) -> None:
    prompt = door.asked()
    staff.suspend_session(prompt_session(prompt), actor="ada", now=door.clock())
    assert fresh(prompt).state == "cancelled"
    late = door.say("2")
    assert late.decision == "closed"


def prompt_session(prompt) -> Session:
    return Turn.objects.get(pk=int(prompt.correlation)).session
