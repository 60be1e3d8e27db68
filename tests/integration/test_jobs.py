"""[C1]: scheduled jobs, from the order to the result."""

from datetime import UTC, datetime, timedelta

import pytest

from delivery.models import Kind, Obligation
from gateway import sessions
from gateway.errors import BadSchedule, NotPossible
from gateway.models import AllowEntry, AuditEvent, Conversation, TranscriptEntry, Turn
from gateway.schedules import chat, jobs, moving, sweeping
from gateway.schedules.chat import Wish
from gateway.schedules.models import Decided, Goal, Job, Missed, Overlap, Run
from tests.factories import make_account, make_answerer, make_conversation
from tests.integration.scheduling import (
    LANE,
    STAFF,
    end,
    let_in,
    make_asker,
    make_job,
    make_place,
)

pytestmark = [pytest.mark.django_db, pytest.mark.proves("C1")]
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _ada():
    let_in("7")


def later(**span: float) -> datetime:
    return NOON + timedelta(**span)


def test_a_job_runs_when_it_is_due_and_its_result_goes_where_it_was_asked_for():
    job = make_job("every 2h look at the mail", now=NOON)
    assert sweeping.sweep(now=later(hours=1)) == 0

    assert sweeping.sweep(now=later(hours=2)) == 1
    end(Turn.objects.get(), "Nothing new.", now=later(hours=2))

    run, owed = Run.objects.get(), Obligation.objects.get()
    assert (run.job, run.instant, run.decided) == (job, later(hours=2), Decided.STARTED)
    assert (owed.kind, owed.destination.lane) == (Kind.CRON, LANE.lane)
    assert owed.content == "⏰ **look at the mail**\n\nNothing new."


def test_an_instant_is_run_once_however_often_one_looks():
    make_job("every 2h look", now=NOON)

    for seconds in range(0, 20, 2):
        sweeping.sweep(now=later(hours=2, seconds=seconds))

    assert Run.objects.count() == Turn.objects.count() == 1


def test_of_two_clocks_that_saw_the_same_job_due_one_runs_it():
    job = make_job("every 2h look", now=NOON)
    seen_by_the_other = Job.objects.get(pk=job.pk)

    taken = [sweeping.take(seen, now=later(hours=2)) for seen in (job, seen_by_the_other)]

    assert taken == [True, False]
    assert Turn.objects.count() == 1


def test_an_instant_comes_once_although_the_clock_of_the_host_is_put_back():
    job = make_job("every 2h look", now=NOON)
    sweeping.sweep(now=later(hours=2))
    end(Turn.objects.get(), now=later(hours=2))
    Job.objects.filter(pk=job.pk).update(next_at=later(hours=2))

    sweeping.sweep(now=later(hours=2, seconds=1))

    assert Run.objects.count() == 1
    job.refresh_from_db()
    assert job.next_at == later(hours=4)


def test_a_run_is_in_no_chats_history_and_begins_with_an_empty_one():
    chat_of_ada = make_conversation(chat_id="7", now=NOON)
    make_job("every 2h look", now=NOON)
    for hours in (2, 4):
        sweeping.sweep(now=later(hours=hours))
        end(Turn.objects.last(), now=later(hours=hours))

    first, second = Turn.objects.order_by("pk")
    assert first.conversation == second.conversation != chat_of_ada
    assert first.session != second.session
    assert not TranscriptEntry.objects.filter(session__conversation=chat_of_ada).exists()


def test_a_job_that_remembers_goes_on_in_the_same_session():
    make_job("every 2h look", now=NOON, keeps_history=True)
    for hours in (2, 4):
        sweeping.sweep(now=later(hours=hours))
        end(Turn.objects.last(), now=later(hours=hours))

    assert len(set(Turn.objects.values_list("session", flat=True))) == 1


def test_the_model_that_a_job_names_does_it():
    make_job("--model big every 2h look", now=NOON)

    sweeping.sweep(now=later(hours=2))

    assert Turn.objects.get().session.model == "big"


def test_what_was_missed_is_made_up_for_once():
    make_job("every 2h look", now=NOON)

    sweeping.sweep(now=later(hours=9))
    sweeping.sweep(now=later(hours=9, seconds=2))

    run, job = Run.objects.get(), Job.objects.get()
    assert (run.decided, run.instant) == (Decided.STARTED, later(hours=2))
    assert "7 h 0 min late" in run.note
    assert job.next_at == later(hours=10)


def test_what_was_missed_is_left_out_if_that_is_set():
    make_job("every 2h look", now=NOON, missed=Missed.SKIP)

    sweeping.sweep(now=later(hours=9))

    assert Run.objects.get().decided == Decided.MISSED
    assert not Turn.objects.exists()
    assert Job.objects.get().next_at == later(hours=10)


def test_a_run_that_overlaps_the_last_one_is_left_out():
    make_job("every 2h look", now=NOON)
    sweeping.sweep(now=later(hours=2))

    sweeping.sweep(now=later(hours=4))

    assert list(Run.objects.values_list("decided", flat=True)) == ["overlapped", "started"]
    assert Turn.objects.count() == 1


def test_a_run_that_overlaps_the_last_one_waits_if_that_is_set_but_no_third_does():
    make_job("every 2h look", now=NOON, overlap=Overlap.QUEUE)

    for hours in (2, 4, 6):
        sweeping.sweep(now=later(hours=hours))

    decided = list(Run.objects.order_by("pk").values_list("decided", flat=True))
    assert decided == ["started", "started", "overlapped"]


def test_a_failure_is_told_where_the_job_was_asked_for_although_results_go_elsewhere():
    make_place("ops")
    make_job("--to ops every 2h look", now=NOON)
    sweeping.sweep(now=later(hours=2))

    end(Turn.objects.get(), now=later(hours=2), as_failed=True)

    owed = Obligation.objects.get()
    assert (owed.kind, owed.destination.lane) == (Kind.ERROR, LANE.lane)
    assert owed.content.startswith("⏰ **look**\n\n⚠️ It took too long.")


def test_results_go_to_a_permitted_target():
    make_place("ops", chat_id="-100", thread_id="5")
    make_job("--to ops every 2h look", now=NOON)
    sweeping.sweep(now=later(hours=2))

    end(Turn.objects.get(), now=later(hours=2))

    assert Obligation.objects.get().destination.chat_id == "-100"
    assert Obligation.objects.get().destination.thread_id == "5"


def test_results_go_to_the_home_channel():
    make_account("second", options={"home_channel": "-200"})
    asker = make_asker(origin=LANE.__class__(platform="telegram", account="second", chat_id="7"))
    make_job("--to home every 2h look", now=NOON, asker=asker)
    sweeping.sweep(now=later(hours=2))

    end(Turn.objects.get(), now=later(hours=2))

    assert Obligation.objects.get().destination.chat_id == "-200"


def test_a_result_for_nobody_is_kept_where_staff_can_read_it():
    make_job("--to none every 2h look", now=NOON)
    sweeping.sweep(now=later(hours=2))

    turn = end(Turn.objects.get(), now=later(hours=2))

    owed = Obligation.objects.get()
    assert owed.destination == turn.conversation.place
    assert owed.platform == "console"


@pytest.mark.parametrize("name", ["nowhere", "home", "ops", "secret"])
def test_a_target_that_is_not_permitted_is_refused_when_the_job_is_made(name):
    make_place("ops", is_enabled=False)
    make_place("secret", only_for="telegram:8")

    with pytest.raises(NotPossible):
        make_job(f"--to {name} every 2h look", now=NOON)

    assert not Job.objects.exists()


def test_a_job_whose_target_is_gone_is_paused_and_its_owner_told():
    place = make_place("ops")
    make_job("--to ops every 2h look", now=NOON)
    place.is_enabled = False
    place.save()

    sweeping.sweep(now=later(hours=2))

    job, run = Job.objects.get(), Run.objects.get()
    assert not job.is_enabled
    assert "not permitted any more" in job.problem
    assert run.decided == Decided.REFUSED
    assert "paused" in Obligation.objects.get().content
    assert not Turn.objects.exists()


@pytest.mark.proves("A8")
def test_the_job_of_somebody_who_was_shut_out_is_paused_and_says_nothing():
    make_job("every 2h look", now=NOON)
    AllowEntry.objects.all().delete()

    sweeping.sweep(now=later(hours=2))

    assert not Job.objects.get().is_enabled
    assert "may not speak" in Run.objects.get().note
    assert not Turn.objects.exists()
    assert not Obligation.objects.exists()


def test_a_job_that_fails_again_and_again_is_paused_and_its_owner_told():
    make_job("every 2h look", now=NOON)
    for hours in range(2, 12, 2):
        sweeping.sweep(now=later(hours=hours))
        end(Turn.objects.last(), now=later(hours=hours), as_failed=True)

    sweeping.sweep(now=later(hours=12))

    job = Job.objects.get()
    assert not job.is_enabled
    assert Turn.objects.count() == 5
    assert "is paused" in Obligation.objects.last().content
    jobs.resume(job, STAFF, now=later(hours=13))
    sweeping.sweep(now=later(hours=14))
    assert Turn.objects.count() == 6


def test_a_job_that_goes_wrong_holds_up_no_other():
    broken = make_job("0 * * * * one", now=NOON)
    make_job("0 * * * * two", now=NOON)
    Job.objects.filter(pk=broken.pk).update(time_zone="Mars/Olympus")

    sweeping.sweep(now=later(hours=1))

    assert Run.objects.get().job.name == "two"
    broken.refresh_from_db()
    assert "Mars/Olympus" in broken.problem
    assert not broken.is_enabled


def test_what_is_due_once_runs_once():
    make_job("in 20 minutes tea", now=NOON)

    for minutes in (19, 20, 21, 60):
        sweeping.sweep(now=later(minutes=minutes))

    assert Run.objects.count() == 1
    assert Job.objects.get().next_at is None


def test_a_job_runs_by_hand_while_it_is_paused_and_stays_so():
    job = make_job("in 20 minutes tea", now=NOON)
    jobs.pause(job, STAFF, now=NOON)

    jobs.run_now(job, STAFF, now=later(minutes=1))

    job.refresh_from_db()
    assert not job.is_enabled
    assert Run.objects.get().by_hand == "boss"
    with pytest.raises(NotPossible, match="runs already"):
        jobs.run_now(job, STAFF, now=later(minutes=2))


def test_a_job_that_is_resumed_makes_up_for_nothing():
    job = make_job("every 2h look", now=NOON)
    jobs.pause(job, STAFF, now=NOON)
    sweeping.sweep(now=later(hours=5))
    assert not Run.objects.exists()

    jobs.resume(job, STAFF, now=later(hours=5))

    assert Job.objects.get().next_at == later(hours=6)


def test_another_schedule_counts_from_now_on():
    job = make_job("every 2h look", now=NOON)
    job.every_seconds = 600

    jobs.store(job, STAFF, now=later(minutes=5))

    assert Job.objects.get().next_at == later(minutes=10)
    assert AuditEvent.objects.filter(action="job.changed").exists()


def test_a_job_whose_chat_gets_another_id_answers_there():
    make_job("every 2h look", now=NOON)
    sweeping.sweep(now=later(hours=2))

    sessions.move_chat("telegram", "telegram", "7", "-1007", now=later(hours=2))
    moving.move_chat("telegram", "7", "-1007")
    end(Turn.objects.get(), now=later(hours=2))

    assert Obligation.objects.get().destination.chat_id == "-1007"
    assert Job.objects.get().asked_at.chat_id == "-1007"


def test_nobody_has_more_jobs_than_anybody_could_want(monkeypatch):
    monkeypatch.setattr(jobs, "MOST_EACH", 1)
    make_job(now=NOON)

    with pytest.raises(NotPossible, match="that is the most"):
        make_job(now=NOON)


def test_a_job_that_says_nothing_is_refused():
    with pytest.raises(NotPossible, match="what is to be done"):
        make_job("every 2h", now=NOON)


def test_a_schedule_that_never_comes_is_refused():
    with pytest.raises(BadSchedule, match="never comes due"):
        make_job("2020-01-01 09:00 look", now=NOON)


# --- in a chat ------------------------------------------------------------------------------------


def cron(words: str, *, now: datetime = NOON, **changes) -> str:
    return chat.cron(Wish(words, make_asker(**changes), make_answerer(), now))


def test_a_job_is_made_listed_shown_paused_resumed_run_and_removed_in_a_chat():
    made = cron("add daily at 9:00 Europe/Berlin sum up *the* news")
    job = Job.objects.get()

    assert f"Job {job.pk}" in made
    assert "`0 9 * * *` (Europe/Berlin)" in made
    assert "next on 2026-06-02 09:00 (Europe/Berlin)" in made
    assert r"sum up \*the\* news" in cron("list")
    assert "goes on" not in cron(f"pause {job.pk}")
    assert "paused" in cron("")
    assert "goes on" in cron(f"resume #{job.pk}")
    assert "runs now" in cron(f"run {job.pk}")
    assert "waits for its turn" in cron(f"show {job.pk}")
    assert "Removed" in cron(f"remove {job.pk}")
    assert not Job.objects.exists()
    assert "no jobs yet" in cron("list")


def test_nobody_touches_the_jobs_of_others():
    job = make_job(now=NOON)

    for verb in ("show", "pause", "run", "remove"):
        said = cron(f"{verb} {job.pk}", id="8")
        assert f"You have no job {job.pk}" in said

    job.refresh_from_db()
    assert job.is_enabled
    assert str(job.pk) not in cron("list", id="8")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("ad every 2h look", "Did you mean `/cron add`?"),
        ("frobnicate", "There is no `/cron frobnicate`"),
        ("add", "for example"),
        ("add look at it", "cannot find a time"),
        ("add every 10 seconds look", "every minute at most"),
        ("add at 25:00 look", "no such time"),
        ("add --to mars every 2h look", "no target"),
        ("add --when x every 2h look", "no option"),
        ("add 61 * * * * look", "minute"),
        ("pause", "by its number"),
        ("pause x", "by its number"),
        ("pause 999", "no job 999"),
        ("resume 99999999999999999999", "by its number"),
    ],
)
def test_what_cannot_be_done_is_told_with_what_can(words, told):
    assert told in cron(words)
    assert not Job.objects.exists()


def test_the_place_of_a_job_is_no_place_that_staff_write_to_by_mistake():
    make_job("--to none every 2h look", now=NOON)
    sweeping.sweep(now=later(hours=2))

    place = Conversation.objects.get(chat_type="cron")

    assert (place.platform, place.chat_id) == ("console", f"cron-{Job.objects.get().pk}")
    assert place.title == "look"


def test_staff_make_a_job_that_belongs_to_nobody():
    job = Job(name="", prompt="look", expression="0 9 * * *", time_zone="UTC", goal=Goal.NOWHERE)

    jobs.store(job, STAFF, now=NOON)
    sweeping.sweep(now=datetime(2026, 6, 2, 9, tzinfo=UTC))

    assert Job.objects.get().created_by == "boss"
    assert Turn.objects.get().sender_id == ""
