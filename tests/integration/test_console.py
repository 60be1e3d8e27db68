"""The Control UI's server side: what is shown, to whom, and what people can do."""

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from clarify import questions
from clarify.states import Event
from clarify.states import State as PromptState
from delivery.models import Kind, Obligation
from gateway import accounts, staff, turns
from gateway.console import actions, queries
from gateway.console.errors import NotFound, Refused
from gateway.console.viewers import viewer_of
from gateway.errors import NotPossible
from gateway.models import Account, AuditEvent, Conversation, InboundEvent, Turn
from gateway.states import TurnState
from tests import factories
from tests.integration.viewing import CLIENT_ID, ask, chat_of, make_user, say, shown, snapshot

pytestmark = pytest.mark.django_db(transaction=True)


# --- saying ------------------------------------------------------------


def test_what_is_said_begins_a_turn_and_names_the_chat(ada):
    conversation = chat_of(ada)
    entry = say(ada, conversation, "Deploy the blue service, please.")
    conversation.refresh_from_db()
    assert conversation.title == "Deploy the blue service, please."
    assert entry["mine"]
    assert entry["client_id"] == CLIENT_ID
    turn = Turn.objects.get(conversation=conversation)
    assert turn.prompt == "Deploy the blue service, please."
    assert turn.sender_id == ada.person_id


def test_a_chat_is_named_by_whole_characters_however_many_code_points_they_take(ada):
    chat = chat_of(ada)
    family = "👩‍👩‍👧‍👦"
    say(ada, chat, family * 100)
    chat.refresh_from_db()
    assert len(chat.title) <= 200
    assert chat.title.startswith(family * 20)


def test_the_same_message_sent_twice_is_taken_once(ada):
    conversation = chat_of(ada)
    first, second = say(ada, conversation), say(ada, conversation)
    assert first["id"] == second["id"]
    assert Turn.objects.count() == 1


@pytest.mark.parametrize(
    ("text", "client_id", "words"),
    [
        ("  \n ", CLIENT_ID, "nothing"),
        ("x" * 1_000_001, CLIENT_ID, "too long"),
        ("Hello", "short", "id"),
        ("Hello", "../../etc/passwd", "id"),
    ],
)
def test_what_cannot_be_said_is_refused_with_a_sentence(ada, text, client_id, words):
    with pytest.raises(Refused, match=words):
        say(ada, chat_of(ada), text, client_id)
    assert not InboundEvent.objects.exists()


def test_a_million_characters_can_be_said(ada):
    entry = say(ada, chat_of(ada), "x" * 1_000_000)
    assert len(entry["text"]) == 1_000_000


def test_nobody_speaks_in_the_chat_of_another_or_of_another_platform(ada, bob, boss):
    with pytest.raises(NotFound):
        say(bob, chat_of(ada))
    with pytest.raises(Refused, match="only be read"):
        say(boss, chat_of(ada))
    with pytest.raises(Refused, match="only be read"):
        say(boss, factories.make_conversation())


def test_a_typed_command_is_answered_in_the_timeline(ada):
    conversation = chat_of(ada)
    say(ada, conversation, "/help")
    entries = snapshot(ada, conversation)["entries"]
    assert [entry["kind"] for entry in entries] == ["said", "control"]
    assert "<code>/stop</code>" in entries[1]["html"]


# --- chats ------------------------------------------------------------


def test_another_chat_is_a_conversation_of_its_own_and_empty_ones_are_used_first(ada):
    first = chat_of(ada)
    assert actions.new_chat(ada, now=timezone.now()).pk == first.pk
    say(ada, first)
    second = actions.new_chat(ada, now=timezone.now())
    assert second.pk != first.pk
    assert actions.new_chat(ada, now=timezone.now()).pk == second.pk
    assert ada.owns(second)


@pytest.mark.proves("U1")
def test_a_person_sees_their_own_chats_and_staff_see_everything(ada, bob, boss):
    mine, theirs, telegram = chat_of(ada), chat_of(bob), factories.make_conversation()
    say(ada, mine), say(bob, theirs)
    chat_of(make_user("silent"))

    def seen(viewer):
        return {row["id"] for row in queries.conversations(viewer, queries.Filters())}

    assert seen(ada) == {mine.pk}
    assert seen(bob) == {theirs.pk}
    assert seen(boss) == {mine.pk, theirs.pk, telegram.pk}


def test_a_user_whose_number_begins_like_anothers_sees_nothing_of_theirs(ada):
    other = factories.make_conversation(
        platform="console", account="console", chat_type="console", chat_id=f"{ada.person_id}1"
    )
    with pytest.raises(NotFound):
        queries.find(ada, other.pk)


def test_the_list_is_filtered_and_tells_what_waits(boss):
    waiting = factories.make_prompt().conversation_key
    factories.make_conversation(title="Grace")
    rows = queries.conversations(boss, queries.Filters(search="ada"))
    assert [row["title"] for row in rows] == ["Ada"]
    assert rows[0]["asked"] == 1
    assert rows[0]["busy"]
    assert Conversation.objects.get(key=waiting).pk == rows[0]["id"]
    assert queries.conversations(boss, queries.Filters(platform="console")) == []


def test_the_list_says_when_something_was_last_said_by_either(ada):
    early, late = factories.ago(hours=2), factories.ago(hours=1)
    conversation, other = chat_of(ada), factories.make_conversation(now=late)
    Conversation.objects.filter(pk=conversation.pk).update(active_at=early, title="Hello")
    boss = viewer_of(factories.make_staff())

    def listed():
        rows = queries.conversations(boss, queries.Filters())
        return [(row["id"], row["active_at"]) for row in rows]

    assert listed() == [(other.pk, late.isoformat()), (conversation.pk, early.isoformat())]
    now = factories.make_obligation(conversation).created_at
    assert listed() == [(conversation.pk, now.isoformat()), (other.pk, late.isoformat())]


# --- messages by hand ------------------------------------------------------------


def send(account, chat, text="By hand"):
    letter = staff.Letter(chat_id=chat, text=text)
    return staff.send(letter, account, trigger=text, actor="root", now=timezone.now())


def test_a_message_by_hand_stands_in_the_chat_it_is_sent_to(ada, boss):
    conversation, telegram = chat_of(ada), factories.make_conversation()
    accounts.sync_environment()
    mine = send(Account.objects.get(slug="console"), ada.person_id)
    assert f"ob:{mine.pk}" in shown(ada, conversation)
    account = factories.make_account(slug=telegram.account)
    theirs = send(account, telegram.chat_id)
    assert f"ob:{theirs.pk}" in shown(boss, telegram)


def test_a_message_by_hand_to_a_chat_with_several_people_stands_where_all_of_them_talk():
    alone = factories.make_conversation(chat_id="-7", participant_id="1001")
    shared = factories.make_conversation(chat_id="-7")
    owed = send(factories.make_account(slug=alone.account), "-7")
    assert owed.conversation_key == shared.key


@pytest.mark.parametrize("chat", ["1", "nobody", "u1-99"])
def test_a_message_by_hand_that_nobody_would_see_is_refused(ada, chat):
    chat_of(ada)
    accounts.sync_environment()
    with pytest.raises(NotPossible, match="no chat"):
        send(Account.objects.get(slug="console"), chat)
    assert not Obligation.objects.exists()


# --- the timeline ------------------------------------------------------------


def test_a_timeline_has_everything_in_order_with_ids_that_stay(ada):
    prompt = ask(ada)
    conversation = chat_of(ada)
    say(ada, conversation, "And hurry")
    turn = Turn.objects.get(prompt="Deploy it, please.")
    owed = factories.make_obligation(conversation, content="**Done** <b>x</b>", turn=turn)
    found = shown(ada, conversation)
    assert list(found) == [
        f"prompt:{prompt.pk}",
        f"in:{InboundEvent.objects.get().pk}",
        f"ob:{owed.pk}",
    ]
    assert found[f"ob:{owed.pk}"]["html"] == "<p><strong>Done</strong> &lt;b&gt;x&lt;/b&gt;</p>"
    assert found[f"ob:{owed.pk}"]["tick"] == "recorded"


def test_what_is_owed_to_another_platform_is_shown_as_the_page_shows_it(boss):
    owed = factories.make_obligation(content="**Done** [go](javascript:alert(1))")
    conversation = Conversation.objects.get(key=owed.conversation_key)
    html = shown(boss, conversation)[f"ob:{owed.pk}"]["html"]
    assert "<strong>Done</strong>" in html
    assert "href" not in html


@pytest.mark.proves("U1")
def test_ticks_follow_the_delivery(ada):
    conversation = chat_of(ada)
    owed = factories.make_obligation(conversation)

    def tick():
        return shown(ada, conversation)[f"ob:{owed.pk}"]["tick"]

    assert tick() == "recorded"
    owed.parts.update(state="attempting")
    assert tick() == "sent"
    factories.settle(owed)
    assert tick() == "delivered"
    type(owed).objects.filter(pk=owed.pk).update(recoveries=1)
    assert tick() == "recovered"
    type(owed).objects.filter(pk=owed.pk).update(state="abandoned", reason="gone")
    assert tick() == "abandoned"
    assert shown(ada, conversation)[f"ob:{owed.pk}"]["note"] == "gone"


def test_only_what_changed_is_told_again(ada):
    conversation = chat_of(ada)
    old = factories.make_obligation(conversation, now=factories.ago(hours=1))
    type(old).objects.filter(pk=old.pk).update(updated_at=factories.ago(hours=1))
    since = factories.ago(minutes=1)
    assert shown(ada, conversation, since) == {}
    fresh = factories.make_obligation(conversation)
    assert list(shown(ada, conversation, since)) == [f"ob:{fresh.pk}"]
    assert "reset" not in snapshot(ada, conversation, since)


def test_a_page_that_was_away_for_days_begins_anew(ada):
    facts = snapshot(ada, chat_of(ada), factories.ago(days=3))
    assert facts["reset"]


def test_earlier_pages_join_without_a_gap(ada):
    conversation = chat_of(ada)
    start = timezone.now() - timedelta(hours=1)
    made = [
        factories.make_obligation(conversation, now=start + timedelta(seconds=index)).pk
        for index in range(queries.PAGE + 15)
    ]
    latest, has_more = queries.page(conversation, ada)
    assert has_more
    before = start + timedelta(seconds=made.index(int(latest[0]["id"].partition(":")[2])))
    earlier, has_more = queries.page(conversation, ada, before=before)
    assert not has_more
    ids = {entry["id"] for entry in [*earlier, *latest]}
    assert ids == {f"ob:{pk}" for pk in made}


def test_an_answer_that_the_ledger_forgot_is_read_from_the_transcript(ada):
    conversation = chat_of(ada)
    say(ada, conversation)
    turn = Turn.objects.get()
    Turn.objects.filter(pk=turn.pk).update(state=TurnState.RUNNING, owner="w", epoch=1)
    turn.refresh_from_db()
    answer = {"kind": "response", "parts": [{"part_kind": "text", "content": "**Forty-two.**"}]}
    turns.finish(turn, "**Forty-two.**", [answer], {}, now=timezone.now())
    conversation.refresh_from_db()
    with_ledger = [entry["kind"] for entry in snapshot(ada, conversation)["entries"]]
    assert with_ledger == ["said", "final"]
    Obligation.objects.all().delete()
    entries = snapshot(ada, conversation)["entries"]
    assert [entry["id"] for entry in entries][1] == f"told:{turn.pk}"
    assert entries[1]["html"] == "<p><strong>Forty-two.</strong></p>"


def test_a_page_takes_the_same_number_of_queries_however_long_it_is(
    ada, django_assert_max_num_queries
):
    conversation = chat_of(ada)
    for _ in range(30):
        factories.make_obligation(conversation)
    with django_assert_max_num_queries(12):
        queries.snapshot(conversation, ada, since=None, now=timezone.now())


# --- questions ------------------------------------------------------------


def test_an_answer_from_the_page_resolves_the_prompt_and_stays_in_the_timeline(ada):
    prompt = ask(ada, question_set=factories.several_questions())
    facts = snapshot(ada, chat_of(ada))
    assert facts["pending"] == [f"prompt:{prompt.pk}"]
    answers = {"place": ["Staging"], "extras": ["Logs", "and coffee"]}
    entry = actions.answer(ada, prompt.pk, answers, now=timezone.now())
    assert entry["state"] == PromptState.ANSWERED
    assert entry["answers"] == answers
    assert (entry["by"], entry["on"]) == ("ada", "console")
    assert snapshot(ada, chat_of(ada))["pending"] == []


def test_of_two_answers_the_second_learns_of_the_first(ada):
    prompt = ask(ada)
    actions.answer(ada, prompt.pk, {"answer": ["Staging"]}, now=timezone.now())
    with pytest.raises(Refused, match="Staging"):
        actions.answer(ada, prompt.pk, {"answer": ["Production"]}, now=timezone.now())


@pytest.mark.parametrize(
    "answers",
    [
        {},
        {"answer": []},
        {"answer": ["  "]},
        {"answer": "Staging"},
        {"answer": ["a", "b"]},
        {"answer": [5]},
    ],
)
def test_an_answer_that_does_not_fit_changes_nothing(ada, answers):
    prompt = ask(ada)
    with pytest.raises(Refused):
        actions.answer(ada, prompt.pk, answers, now=timezone.now())
    prompt.refresh_from_db()
    assert prompt.state == PromptState.PENDING


def test_a_prompt_is_declined_as_a_whole(ada):
    prompt = ask(ada, question_set=factories.several_questions())
    assert actions.skip(ada, prompt.pk, now=timezone.now())["state"] == PromptState.SKIPPED


def test_a_stranger_cannot_tell_a_prompt_of_another_from_none(ada, bob):
    prompt = ask(ada)
    for pk in (prompt.pk, 999_999):
        with pytest.raises(NotFound, match="no such question"):
            actions.answer(bob, pk, {"answer": ["Staging"]}, now=timezone.now())


def test_staff_answer_for_others_and_the_audit_log_says_so(boss):
    prompt = factories.make_prompt()
    actions.answer(boss, prompt.pk, {"answer": ["Staging"]}, now=timezone.now())
    event = AuditEvent.objects.get()
    assert (event.action, event.subject) == ("prompt.answered_on_behalf", f"prompt:{prompt.pk}")


def test_a_closed_prompt_that_is_pending_elsewhere_on_the_page_is_told_at_once(ada):
    prompt = ask(ada)
    since = timezone.now()
    questions.resolve(prompt, Event.EXPIRE, now=timezone.now())
    facts = snapshot(ada, chat_of(ada), since)
    assert facts["pending"] == []
    assert facts["entries"][0]["state"] == PromptState.EXPIRED


# --- stopping ------------------------------------------------------------


def test_a_stopped_turn_stands_in_the_timeline(ada):
    conversation = chat_of(ada)
    say(ada, conversation)
    turn = Turn.objects.get()
    assert [each["turn"] for each in snapshot(ada, conversation)["turns"]] == [turn.pk]
    assert actions.stop(ada, turn.pk, now=timezone.now()) == 1
    assert f"turn:{turn.pk}" in shown(ada, conversation)
    assert snapshot(ada, conversation)["turns"] == []


def test_a_stop_is_told_once(ada):
    conversation = chat_of(ada)
    say(ada, conversation)
    say(ada, conversation, "And this", "client-0002")
    first, _ = Turn.objects.order_by("pk")
    actions.stop(ada, first.pk, now=timezone.now())
    told = [entry["turn"] for entry in shown(ada, conversation).values() if is_stop(entry)]
    assert told == [first.pk]
    say(ada, conversation, "More", "client-0003")
    say(ada, conversation, "/stop", "client-0004")
    entries = list(shown(ada, conversation).values())
    assert len([entry for entry in entries if is_stop(entry)]) == 1
    assert [entry["source"] for entry in entries if entry["kind"] == "control"] == ["⏹ Stopped."]


def is_stop(entry):
    return entry["kind"] == "stopped"


def test_a_stop_that_a_new_session_brings_is_told_beside_it(ada):
    conversation = chat_of(ada)
    say(ada, conversation)
    say(ada, conversation, "/new", "client-0002")
    assert [is_stop(entry) for entry in shown(ada, conversation).values()].count(True) == 1


def test_what_a_stopped_turn_had_said_stays(ada):
    conversation = chat_of(ada)
    turn = factories.make_turn(conversation, state="running", started_at=timezone.now())
    Turn.objects.filter(pk=turn.pk).update(spoken="**Half** of it")
    since = timezone.now() - timedelta(seconds=1)
    actions.stop(ada, turn.pk, now=timezone.now())
    for entries in (shown(ada, conversation), shown(ada, conversation, since)):
        assert entries[f"cut:{turn.pk}"]["html"] == "<p><strong>Half</strong> of it</p>"
        assert entries[f"cut:{turn.pk}"]["preview"] == turn.preview_key


def test_a_turn_that_has_ended_is_not_stopped_in_place_of_the_one_that_runs_now(ada):
    conversation = chat_of(ada)
    ended = factories.make_turn(conversation, state="finished")
    running = factories.make_turn(conversation, state="running")
    with pytest.raises(Refused, match="ended already"):
        actions.stop(ada, ended.pk, now=timezone.now())
    running.refresh_from_db()
    assert running.state == TurnState.RUNNING


def test_a_stranger_cannot_stop_a_turn(ada, bob):
    turn = factories.make_turn(chat_of(ada))
    with pytest.raises(NotFound):
        actions.stop(bob, turn.pk, now=timezone.now())


# --- pages ------------------------------------------------------------


@pytest.mark.proves("X1")
def test_pages_want_a_login_and_carry_no_inline_script(ada):
    client = Client()
    assert client.get("/").headers["Location"].startswith("/login/")
    client.force_login(get_user_model().objects.get(pk=ada.pk))
    response = client.get("/")
    html = response.content.decode()
    assert response.status_code == 200
    assert "style=" not in html
    for script in html.split("<script")[1:]:
        assert 'src="' in script.split(">")[0] or "application/json" in script.split(">")[0]


def test_a_page_of_anothers_conversation_does_not_exist(ada, bob):
    client = Client()
    client.force_login(get_user_model().objects.get(pk=bob.pk))
    assert client.get(f"/c/{chat_of(ada).pk}/").status_code == 404
    assert client.get("/c/999999/").status_code == 404
    assert client.get(f"/c/{chat_of(bob).pk}/").status_code == 200


def test_a_page_stands_in_the_language_of_its_reader(ada):
    client = Client(headers={"accept-language": "fa"})
    client.force_login(get_user_model().objects.get(pk=ada.pk))
    assert '<html lang="fa" dir="rtl">' in client.get("/").content.decode()


def test_the_words_of_a_notice_are_kept_apart_from_the_answer(ada):
    conversation = chat_of(ada)
    factories.make_obligation(conversation, kind=Kind.NOTICE)
    assert [entry["kind"] for entry in snapshot(ada, conversation)["entries"]] == ["notice"]
