"""[C1]: staff make, see and steer jobs in the admin, and say where may be sent to."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from delivery import forgetting
from gateway.models import AuditEvent, Turn
from gateway.schedules import background, jobs, keeping, sweeping
from gateway.schedules.models import BackgroundTask, Job, Place, Run
from tests.factories import ago, make_staff
from tests.integration.scheduling import STAFF, end, let_in, make_asker, make_job, make_place

pytestmark = pytest.mark.django_db
NASTY = "<script>alert('x')</script>"


@pytest.fixture
def staff(client):
    let_in("7")
    client.force_login(make_staff())
    return client


def page(model, kind: str, *key) -> str:
    return reverse(f"admin:schedules_{model.__name__.lower()}_{kind}", args=key)


def form(**changes) -> dict[str, object]:
    facts = {
        "name": "News",
        "prompt": "Sum up the news.",
        "recurrence": "cron",
        "expression": "0 9 * * 1-5",
        "time_zone": "Europe/Berlin",
        "goal": "none",
        "missed": "run",
        "overlap": "skip",
        "is_enabled": "on",
        "runs-TOTAL_FORMS": "0",
        "runs-INITIAL_FORMS": "0",
    }
    return facts | changes


def everything(number: int = 1) -> None:
    now = ago(hours=5)
    for _ in range(number):
        make_job(f'--name "{NASTY}" every 2h {NASTY}', now=now, asker=make_asker(name=NASTY))
    sweeping.sweep(now=ago(hours=3))
    background.start(NASTY, make_asker(name=NASTY), now=now)
    make_place("ops", note=NASTY)


@pytest.mark.proves("C1", "U2")
@pytest.mark.parametrize("model", [Job, BackgroundTask, Place])
def test_each_has_a_list_and_a_page_that_escape_what_people_wrote(staff, model):
    everything()

    listed = staff.get(page(model, "changelist"))
    shown = staff.get(page(model, "change", model.objects.get().pk))
    sought = staff.get(page(model, "changelist") + "?q=41")

    assert (listed.status_code, shown.status_code, sought.status_code) == (200, 200, 200)
    assert "<script>alert" not in listed.content.decode() + shown.content.decode()


@pytest.mark.proves("U2")
def test_many_jobs_cost_no_more_queries_than_one(staff):
    everything(1)
    few = queries_of(staff)
    for _ in range(20):
        make_job("every 2h look", now=ago(hours=9), asker=make_asker(id="9"))

    assert queries_of(staff) <= few


def queries_of(staff) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert staff.get(page(Job, "changelist")).status_code == 200
    return len(captured)


@pytest.mark.proves("C1")
def test_staff_make_a_job_that_comes_due_by_itself(staff):
    answer = staff.post(page(Job, "add"), form())

    job = Job.objects.get()
    assert answer.status_code == 302
    assert (job.expression, job.created_by) == ("0 9 * * 1-5", "boss")
    assert job.next_at > timezone.now()
    assert AuditEvent.objects.get(action="job.added").actor == "boss"


@pytest.mark.proves("C1")
def test_the_list_shows_when_a_job_comes_due_by_its_own_clocks_and_in_utc(staff):
    staff.post(page(Job, "add"), form())

    shown = staff.get(page(Job, "changelist")).content.decode()

    assert "09:00 (Europe/Berlin)" in shown
    assert "(UTC)" in shown


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"expression": "61 * * * *"}, "The minute of"),
        ({"expression": ""}, "This says when"),
        ({"time_zone": "Mars/Olympus"}, "no time zone called"),
        ({"recurrence": "every", "every_seconds": "5"}, "every minute at most"),
        ({"recurrence": "once"}, "This says when"),
        ({"goal": "place"}, "Choose the target"),
        ({"goal": "home", "account": "telegram"}, "No home channel"),
        ({"prompt": ""}, "required"),
    ],
)
def test_a_job_that_cannot_be_is_asked_for_again_with_the_reason(staff, changes, why):
    answer = staff.post(page(Job, "add"), form(**changes))

    assert why in answer.content.decode()
    assert not Job.objects.exists()


@pytest.mark.proves("C1")
def test_staff_change_the_job_of_a_person_and_it_stays_theirs(staff):
    job = make_job("every 2h look", now=timezone.now())

    staff.post(page(Job, "change", job.pk), form(goal="origin", prompt="look again"))

    job.refresh_from_db()
    assert (job.prompt, job.recurrence, job.person) == ("look again", "cron", "telegram:7")


@pytest.mark.proves("C1")
@pytest.mark.parametrize(
    ("action", "said"), [("run", "runs now"), ("pause", "paused"), ("resume", "is not paused")]
)
def test_staff_run_pause_and_resume_jobs(staff, action, said):
    job = make_job("every 2h look", now=timezone.now())
    chosen = {"action": action, "_selected_action": job.pk}

    asked = staff.post(page(Job, "changelist"), chosen)
    done = staff.post(page(Job, "changelist"), chosen | {"confirmed": "yes"}, follow=True)

    assert asked.status_code == 200
    assert said in done.content.decode()
    assert Run.objects.exists() is (action == "run")


@pytest.mark.proves("C1")
def test_the_page_of_a_job_shows_what_became_of_each_instant(staff):
    make_job("every 2h look", now=ago(hours=3))
    sweeping.sweep(now=timezone.now())
    end(Turn.objects.get(), now=timezone.now(), as_failed=True)

    shown = staff.get(page(Job, "change", Job.objects.get().pk)).content.decode()

    assert "failed; 1 h 0 min late" in shown


def test_staff_remove_a_job_with_a_row_in_the_audit_log(staff):
    job = make_job("every 2h look", now=timezone.now())

    staff.post(page(Job, "delete", job.pk), {"post": "yes"})

    assert not Job.objects.exists()
    assert AuditEvent.objects.get(action="job.removed").subject == f"job:{job.pk}"


@pytest.mark.proves("T8")
def test_staff_permit_a_target_and_permit_it_no_more(staff):
    facts = {"name": "Ops", "account": "telegram", "chat_id": "-100", "chat_type": "group"}

    staff.post(page(Place, "add"), facts | {"is_enabled": "on"})

    place = Place.objects.get()
    assert (place.name, place.platform) == ("ops", "telegram")
    assert AuditEvent.objects.filter(action="target.added", subject="target:ops").exists()
    staff.post(page(Place, "delete", place.pk), {"post": "yes"})
    assert not Place.objects.exists()


@pytest.mark.parametrize("name", ["here", "home", "none", "me"])
def test_a_target_with_a_name_that_means_something_else_is_refused(staff, name):
    facts = {"name": name, "account": "telegram", "chat_id": "-100", "chat_type": "group"}

    assert "means something else" in staff.post(page(Place, "add"), facts).content.decode()


@pytest.mark.proves("O2")
def test_runs_tasks_and_what_was_due_once_go_when_turns_do():
    let_in("7")
    long_ago = timezone.now() - timedelta(days=100)
    make_job("every 2h look", now=long_ago)
    once = make_job("in 20 minutes tea", now=long_ago)
    sweeping.sweep(now=long_ago + timedelta(hours=2))
    task = background.start("find out", make_asker(), now=long_ago)
    Turn.objects.exclude(pk=task.turn.pk).update(state="finished")

    for rule in keeping.RULES:
        forgetting.forget(rule, now=timezone.now())

    assert not Run.objects.exists()
    assert not Job.objects.filter(pk=once.pk).exists()
    assert Job.objects.exists()
    assert BackgroundTask.objects.exists()  # it is not over


def test_what_was_due_once_and_is_over_counts_for_nothing(monkeypatch):
    let_in("7")
    monkeypatch.setattr(jobs, "MOST_EACH", 1)
    make_job("in 20 minutes tea", now=ago(hours=1))
    sweeping.sweep(now=timezone.now())

    assert make_job("every 2h look", now=timezone.now()).pk
    assert STAFF.asker is None
