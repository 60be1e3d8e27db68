"""`manage.py doctor`: every finding says how to mend it."""

import contextlib
import io
import json
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from gateway import doctoring, launching, vault
from gateway.agents import reach
from gateway.agents.requests import ModelConfig
from tests import factories
from tests.integration.commanding import run
from tests.peers.model import ModelPeer

pytestmark = pytest.mark.django_db


def doctor(*more: str) -> list[dict]:
    out = io.StringIO()
    with contextlib.suppress(CommandError):
        call_command("doctor", "--json", *more, stdout=out)
    return json.loads(out.getvalue())


@pytest.mark.proves("I3")
def test_every_finding_that_is_not_well_says_how_to_mend_it():
    factories.make_account("mybot")

    findings = doctor("--offline")

    subjects = {finding["subject"] for finding in findings}
    assert subjects >= {
        "settings",
        "data directory",
        "disk",
        "database",
        "broker",
        "processes",
        "access",
        "model",
        "account mybot",
    }
    assert all(f["fix"] for f in findings if f["severity"] != "ok")


def test_the_command_that_starts_a_missing_process_is_the_one_that_bin_up_runs():
    fixes = [f["fix"] for f in doctor("--offline") if f["subject"] == "processes"]

    assert len(fixes) == len(launching.COMMANDS)
    for fix, command in zip(fixes, launching.COMMANDS.values(), strict=True):
        python = Path(sys.executable).name
        assert fix.endswith(f"/{python} {command.removeprefix('python ')}")
        assert f"HERMES_DATA_DIR={settings.DATA_DIR} " in fix


def test_an_account_of_the_environment_is_mended_there():
    factories.make_account("telegram", secret=vault.lock("rubbish"), from_environment=True)

    finding = next(f for f in doctor("--offline") if f["subject"] == "account telegram")

    assert "does not look like one" in finding["says"]
    assert finding["fix"].startswith("It stands in the environment: change it there (TELEGRAM_…)")


def test_an_account_of_staff_is_mended_by_a_command():
    factories.make_account("mybot", secret=vault.lock("rubbish"))

    finding = next(f for f in doctor("--offline") if f["subject"] == "account mybot")

    assert "manage.py account add mybot telegram; then: " in finding["fix"]


def test_the_doctor_tells_by_its_exit_code():
    with pytest.raises(CommandError, match="findings are errors"):
        run("doctor", "--offline")


def test_the_doctor_tries_each_credential():
    factories.make_account("mybot", secret=vault.lock("rubbish"))

    finding = next(f for f in doctor() if f["subject"] == "account mybot")

    assert finding["severity"] == "error"
    assert "does not look like one" in finding["says"]


def model(peer: ModelPeer | None, **changes) -> str:
    facts = {"name": "gpt-x", "base_url": peer.url if peer else "http://127.0.0.1:9/v1"}
    return reach.problem(ModelConfig(**(facts | changes)))


def test_the_model_is_asked_for_without_being_run():
    with ModelPeer(api_key="right") as peer:
        assert model(peer, api_key="right", name="peer") == ""
        assert "Set HERMES_MODEL to one of: peer." in model(peer, api_key="right")
        assert "refuses the key" in model(peer, api_key="wrong")
        assert not peer.requests

    assert "cannot be reached" in model(None)
    assert model(None, name="demo") == ""


@pytest.mark.parametrize(("skew", "severity"), [(0.4, "ok"), (-3, "warning"), (30, "error")])
def test_a_clock_that_is_off_is_found(skew, severity):
    assert doctoring.examine_clock("the broker", skew).severity == severity


@pytest.mark.parametrize(("free", "severity"), [(9, "error"), (500, "warning"), (9000, "ok")])
def test_a_disk_that_fills_is_found(free, severity, tmp_path):
    assert doctoring.examine_room(free * 2**20, tmp_path).severity == severity


def test_a_data_directory_open_to_others_is_found(tmp_path):
    tmp_path.chmod(0o755)
    assert [f.severity for f in doctoring.examine_directory(tmp_path)] == ["warning"]

    tmp_path.chmod(0o700)
    assert [f.severity for f in doctoring.examine_directory(tmp_path)] == ["ok"]
    assert [f.severity for f in doctoring.examine_directory(tmp_path / "none")] == ["error"]


def test_the_model_that_runs_is_judged_where_this_shell_names_none(settings):
    settings.RECORDED = {"HERMES_MODEL": "demo"}

    assert [f["severity"] for f in findings_about("model")] == ["ok"]


def test_a_model_that_this_shell_names_and_that_does_not_run_is_told_apart(settings):
    settings.RECORDED = {"HERMES_MODEL": "gpt-x"}

    assert (
        "the one that runs is gpt-x, and this shell names demo"
        in findings_about("model")[0]["says"]
    )


def test_a_model_whose_key_only_what_runs_has_is_not_called_broken(settings):
    settings.RECORDED_SECRETS = {"OPENAI_API_KEY"}
    settings.GATEWAY = {**settings.GATEWAY, "MODEL": {"name": "gpt-x", "base_url": "http://h"}}

    (found,) = findings_about("model")
    assert (found["severity"], found["fix"]) == ("warning", "Give OPENAI_API_KEY to doctor, too.")


def test_a_secret_key_that_only_what_runs_has_is_asked_for(settings):
    settings.RECORDED_SECRETS = {"HERMES_SECRET_KEY"}
    settings.SECRET_KEY = "insecure-x"

    assert findings_about("settings")[0]["fix"] == "Give HERMES_SECRET_KEY to doctor, too."


def test_a_broker_that_does_not_answer_is_named_without_its_password(settings):
    settings.REDIS_URL = "redis://:pa55@127.0.0.1:1/0"

    (found,) = findings_about("broker")
    assert "the broker at 127.0.0.1:1 does not answer" in found["says"]
    assert "pa55" not in str(found)


def findings_about(subject: str) -> list[dict]:
    return [finding for finding in doctor() if finding["subject"] == subject]


@pytest.mark.proves("D11")
def test_what_waits_for_a_disabled_account_is_named():
    chat = factories.make_conversation(account="mybot")
    factories.make_account("mybot", is_enabled=False)
    factories.make_obligation(chat)

    found = {finding["subject"]: finding for finding in doctor("--offline")}

    assert found["account mybot"]["severity"] == "warning"
    assert "1 messages wait" in found["account mybot"]["says"]
