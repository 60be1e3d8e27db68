"""What the supervisor would run, for one environment or another."""

import stat

import pytest

from gateway import launching
from hermes_site.supervisor.checks import claim_port
from hermes_site.supervisor.errors import PortUnavailable
from hermes_site.supervisor.home import Home
from hermes_site.supervisor.options import Options
from hermes_site.supervisor.plan import make_plan, uses_embedded_postgres
from hermes_site.supervisor.probes import missing_parts

OUTSIDE = {
    "DATABASE_URL": "postgres://hermes:pa55@db.example.com/hermes",
    "REDIS_URL": "redis://:pa55@cache.example.com/0",
}


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path / "data")
    home.make()
    return home


def plan_for(home, environment=None, **options):
    return make_plan(Options(**options), home, environment or {}, port=8123)


def test_a_fresh_machine_gets_an_embedded_database_and_broker(home):
    plan = plan_for(home)

    assert [service.name for service in plan.data_plane] == ["valkey"]
    assert plan.environment["DATABASE_URL"] == f"sqlite:///{home.root}/hermes.sqlite3"
    assert plan.environment["REDIS_URL"].startswith("unix://")


def test_outside_servers_are_used_as_named_and_their_passwords_stay_out_of_the_state_file(home):
    plan = plan_for(home, OUTSIDE)

    assert plan.data_plane == ()
    assert OUTSIDE.items() <= plan.environment.items()
    assert "pa55" not in str(plan.facts)
    assert plan.facts["secrets"] == ["DATABASE_URL", "REDIS_URL"]


def test_the_state_file_tells_other_shells_which_model_runs_and_not_its_key(home):
    model = {"HERMES_MODEL": "gpt-x", "OPENAI_BASE_URL": "http://h/v1"}

    facts = plan_for(home, {**model, "OPENAI_API_KEY": "pa55"}).facts

    assert facts["environment"] == {**model, "HERMES_BASE_URL": "http://127.0.0.1:8123"}
    assert facts["secrets"] == ["OPENAI_API_KEY"]
    assert "pa55" not in str(facts)


def test_a_secret_in_a_file_counts_as_named(home):
    plan = plan_for(home, {f"{name}_FILE": "/run/secrets/x" for name in OUTSIDE})

    assert plan.data_plane == ()
    assert not OUTSIDE.keys() & plan.environment.keys()


def test_a_secret_key_is_made_only_where_none_is_named(home):
    made = plan_for(home).environment["HERMES_SECRET_KEY"]

    assert made == home.secret_key()
    assert plan_for(home, {"HERMES_SECRET_KEY": "own"}).environment["HERMES_SECRET_KEY"] == "own"


def test_the_apps_are_web_gateway_workers_and_one_beat(home):
    plan = plan_for(home, workers=3)

    names = [service.name for service in plan.apps]
    assert names == ["web", "gateway", "worker", "worker-2", "worker-3", "beat"]


def test_the_processes_are_started_as_staff_are_told_to(home):
    apps = {service.name: service.command for service in plan_for(home).apps}

    for kind, command in launching.COMMANDS.items():
        words = launching.arguments(command)
        assert apps[kind][1 : len(words) + 1] == words


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8123"),
        ("0.0.0.0", "http://127.0.0.1:8123"),
        ("::", "http://[::1]:8123"),
        ("gateway.lan", "http://gateway.lan:8123"),
    ],
)
def test_the_url_is_one_that_can_be_opened(home, host, url):
    assert plan_for(home, host=host).url == url


def test_a_directory_that_holds_an_embedded_cluster_goes_on_with_it(tmp_path):
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("18")

    assert uses_embedded_postgres(Options(), tmp_path, {})
    assert not uses_embedded_postgres(Options(database="sqlite"), tmp_path, {})
    assert not uses_embedded_postgres(Options(), tmp_path, OUTSIDE)


def test_an_address_of_another_machine_is_named():
    with pytest.raises(PortUnavailable, match=r"this machine has no such address"):
        claim_port("203.0.113.1", 0)


def test_the_port_zero_becomes_a_free_one():
    assert claim_port("127.0.0.1", 0) > 0


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"not json", b'{"parts": [1]}', b"null"])
def test_an_answer_of_another_shape_names_nothing(body):
    assert missing_parts(body) == {}


def test_an_answer_names_what_is_not_up():
    body = b'{"ready": false, "parts": {"beat": "never seen", "database": "ok"}}'

    assert missing_parts(body) == {"beat": "never seen"}


def test_the_state_file_is_for_us_alone(home):
    from hermes_site.supervisor.state import StateFile

    StateFile(home.state_file, {}).update(ready=True)

    assert stat.S_IMODE(home.state_file.stat().st_mode) == 0o600
