"""What the environment says, and the sentence for a value that cannot be used."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from delivery.processes import this_process
from hermes_site.settings import stores
from hermes_site.settings.env import Environment
from hermes_site.supervisor import recording

PROJECT = Path(__file__).resolve().parents[2]
SECRET = "s3cret"
LEVELS = ("DEBUG", "INFO")


def env(**values):
    return Environment(values)


def refused(read, *arguments, **options) -> str:
    with pytest.raises(ImproperlyConfigured) as caught:
        read(*arguments, **options)
    return str(caught.value)


@pytest.mark.parametrize("raw", ["1", "true", "YES", "on"])
def test_a_flag_is_on(raw):
    assert env(X=raw).flag("X")


@pytest.mark.parametrize("raw", ["", " ", "0", "False", "no", "off"])
def test_a_flag_is_off(raw):
    assert not env(X=raw).flag("X")


@pytest.mark.proves("I4")
@pytest.mark.parametrize(
    ("read", "raw", "wanted"),
    [
        (lambda e: e.flag("X"), "maybe", "one of 1, true, yes, on, 0, false, no or off"),
        (lambda e: e.integer("X", 5, minimum=2, maximum=9), "1", "a whole number from 2 to 9"),
        (lambda e: e.integer("X", 5, minimum=2, maximum=9), "10", "a whole number from 2 to 9"),
        (lambda e: e.integer("X", 5), "many", "a whole number"),
        (lambda e: e.choice("X", "INFO", LEVELS), "LOUD", "one of DEBUG or INFO"),
        (lambda e: e.time_zone("X", "UTC"), "Mars/Base", "the name of a time zone"),
        (lambda e: e.time_zone("X", "UTC"), "../etc", "the name of a time zone"),
        (lambda e: e.hosts("X", "localhost"), "http://a.example", "without http:// and without"),
        (lambda e: e.hosts("X", "localhost"), "a.example:8000", "without http:// and without"),
        (lambda e: e.user_ids("X"), "@alice", "the people's numbers"),
        (lambda e: e.user_ids("X"), "abc", "X must hold the people's numbers"),
        (lambda e: e.user_ids("X"), "-100123", "the people's numbers"),
        (lambda e: e.user_ids("X"), "1" * 17, "the people's numbers"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_name_with_what_would_be(read, raw, wanted):
    said = refused(read, env(X=raw))

    assert said.startswith("X must ")
    assert wanted in said
    assert repr(raw) in said
    assert "unset it" in said


@pytest.mark.parametrize(
    "raw", ["nonsense", "ftp://a.example", "http:///path", "http://a:port", "//a"]
)
def test_an_address_that_cannot_be_used_is_refused_and_not_quoted(raw):
    said = refused(env(X=raw).address, "X")

    assert said.startswith("X must be an address that begins with http:// or https://")
    assert raw not in said


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    missing = tmp_path / "none"

    assert f"X names {missing}" in refused(env(X=str(missing)).file, "X")
    assert f"KEY_FILE names {missing}" in refused(env(KEY_FILE=str(missing)).secret, "KEY")


def test_a_secret_can_stand_in_a_file(tmp_path):
    (tmp_path / "key").write_text(f"{SECRET}\n")

    assert env(KEY_FILE=str(tmp_path / "key")).secret("KEY") == SECRET


def test_good_values_are_read():
    found = env(LEVEL="debug", HOSTS="*, .a.example,[::1]", IDS="1, 22 ,", ZONE="Europe/Berlin")

    assert found.choice("LEVEL", "INFO", LEVELS) == "DEBUG"
    assert found.hosts("HOSTS", "") == ["*", ".a.example", "[::1]"]
    assert found.user_ids("IDS") == ["1", "22"]
    assert found.time_zone("ZONE", "UTC") == "Europe/Berlin"
    assert found.integer("UNSET", 7) == 7
    assert env(X="http://[::1]:1/v1").address("X") == "http://[::1]:1/v1"


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        f"mysql://u:{SECRET}@h/x",
        f"postgres://u:{SECRET}/@h/x",
        f"postgres://u:{SECRET}@h:port/x",
        f"postgres://u:{SECRET}@h",
        "sqlite://",
        "sqlite:///x",
    ],
)
def test_a_database_that_cannot_be_used_is_refused_without_its_password(url):
    said = refused(stores.database, url, pool_size=2)

    assert re.match(r"DATABASE_URL must .*(postgres|sqlite)://", said)
    assert SECRET not in said
    assert "mysql" not in said


@pytest.mark.parametrize(
    "url",
    [
        "localhost:6379",
        f"redis://:{SECRET}/@h",
        "redis://",
        "unix://",
        "redis://h/zero",
        "http://h",
    ],
)
def test_a_broker_that_cannot_be_used_is_refused_without_its_password(url):
    said = refused(stores.broker_url, url)

    assert said.startswith("REDIS_URL must be redis://host:6379/0")
    assert SECRET not in said


@pytest.mark.parametrize(
    ("url", "celery"),
    [
        ("redis://h:1/2", "redis://h:1/2"),
        ("rediss://:p@h", "rediss://:p@h"),
        ("unix:///run/a.sock", "redis+socket:///run/a.sock"),
    ],
)
def test_a_broker_is_named_as_celery_names_it(url, celery):
    assert stores.broker_url(url) == celery


# --- as a process sees it ------------------------------------------------------------------------


def python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=PROJECT,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("url", "port", "origins"),
    [
        ("http://127.0.0.1:8200", "8200", []),
        ("https://a.example/", "443", ["https://a.example"]),
    ],
)
def test_two_installations_on_one_host_have_cookies_of_their_own(url, port, origins):
    program = (
        "from hermes_site.settings import base as b;"
        "print(b.SESSION_COOKIE_NAME, b.CSRF_COOKIE_NAME, b.CSRF_TRUSTED_ORIGINS)"
    )

    said = python("-c", program, HERMES_BASE_URL=url).stdout

    assert said == f"hermes_session_{port} hermes_csrf_{port} {origins}\n"


def test_a_command_says_in_one_sentence_what_is_wrong_with_the_environment():
    result = python("manage.py", "doctor", HERMES_LOG_LEVEL="LOUD")

    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("HERMES_LOG_LEVEL must be one of DEBUG")
    assert result.stderr.count("\n") == 1


# --- what is written down for other shells ------------------------------------------------------


def test_what_a_running_up_was_given_holds_where_this_shell_says_nothing():
    mixed = Environment({"HERMES_MODEL": "mine"}, {"HERMES_MODEL": "its", "OPENAI_BASE_URL": "u"})

    assert (mixed.text("HERMES_MODEL"), mixed.text("OPENAI_BASE_URL")) == ("mine", "u")


def test_no_secret_is_written_down():
    given = {
        "HERMES_MODEL": "gpt-x",
        "OPENAI_API_KEY": SECRET,
        "TELEGRAM_BOT_TOKEN": SECRET,
        "OPENAI_BASE_URL": f"http://u:{SECRET}@h/v1",
        "HERMES_BASE_URL": f"http://h/?key={SECRET}",
    }

    assert recording.worth_recording(given) == {"HERMES_MODEL": "gpt-x"}


def test_what_was_written_down_holds_only_while_its_writer_lives():
    given = {
        "environment": {"HERMES_MODEL": "gpt-x", "HERMES_SECRET_KEY": SECRET},
        "secrets": ["DATABASE_URL", "PATH"],
    }
    me = this_process()

    alive = {**given, "process": me}
    assert recording.environment_of(alive) == {"HERMES_MODEL": "gpt-x"}
    assert recording.secrets_of(alive) == {"DATABASE_URL"}
    for gone in ("", None, f"{me}0", f"elsewhere{me}"):
        state = {**given, "process": gone}
        assert (recording.environment_of(state), recording.secrets_of(state)) == ({}, set())


def test_of_a_secret_only_that_it_was_given_is_written_down():
    given = {"OPENAI_API_KEY": SECRET, "REDIS_URL_FILE": "/run/x", "DATABASE_URL": " "}

    assert recording.secrets_given(given) == ["OPENAI_API_KEY", "REDIS_URL"]


def test_a_command_goes_nowhere_else_than_what_runs(tmp_path):
    said = refused(env().must_be_the_same, {"DATABASE_URL"}, tmp_path)

    assert f"DATABASE_URL was given to the bin/up that runs on {tmp_path}" in said
    env(DATABASE_URL="postgres://h/x").must_be_the_same({"DATABASE_URL"}, tmp_path)


def test_a_state_file_that_is_not_one_says_nothing(tmp_path):
    assert recording.read(tmp_path) == {}
    (tmp_path / "up.json").write_text("[]")
    assert recording.read(tmp_path) == {}
