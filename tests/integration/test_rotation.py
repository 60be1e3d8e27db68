"""[X1]: the key of what is encrypted at rest can be changed, and nothing is lost by it."""

import pytest
from django.apps import apps
from django.core.management.base import CommandError
from django.utils import timezone

from gateway import rotation, vault
from gateway.errors import BadSecret
from gateway.models import Account, AuditEvent
from tests import factories
from tests.integration.commanding import run

pytestmark = [pytest.mark.django_db, pytest.mark.proves("X1")]
OLD, NEW = "old " * 12, "new " * 12


@pytest.fixture
def account(settings):
    """An account whose credential was stored under the old key, while the new one counts."""
    settings.SECRET_KEY = OLD
    account = factories.make_account(secret=vault.lock("123:token"))
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    return account


def secret_of(account: Account) -> str:
    account.refresh_from_db()
    return vault.unlock(account.secret)


def test_every_column_that_holds_a_secret_is_rotated() -> None:
    named = {
        (model._meta.label, field.name)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if "secret" in field.name and field.get_internal_type() == "TextField"
    }

    assert named == set(rotation.LOCKED)


def test_after_a_rotation_the_former_key_is_needed_no_more(account, settings) -> None:
    assert "1 credentials are encrypted anew, 0 were already" in run("rotate_key")

    settings.SECRET_KEY_FALLBACKS = []
    assert secret_of(account) == "123:token"
    assert AuditEvent.objects.get(action="key.rotated").detail["changed"] == 1


def test_rotating_twice_changes_nothing_the_second_time(account) -> None:
    run("rotate_key")
    account.refresh_from_db()
    stored = account.secret

    assert "0 credentials are encrypted anew, 1 were already" in run("rotate_key")
    account.refresh_from_db()
    assert account.secret == stored


def test_what_no_key_opens_is_named_and_the_rest_is_rotated(account, settings) -> None:
    settings.SECRET_KEY = "third " * 10
    lost = factories.make_account("lost", secret=vault.lock("x"))
    settings.SECRET_KEY = NEW

    with pytest.raises(CommandError, match="account lost"):
        run("rotate_key")

    settings.SECRET_KEY_FALLBACKS = []
    assert secret_of(account) == "123:token"
    with pytest.raises(BadSecret, match="HERMES_FORMER_SECRET_KEYS"):
        secret_of(lost)


def test_a_credential_entered_meanwhile_is_not_overwritten(account) -> None:
    def slow(stored: str, keys) -> str:
        Account.objects.update(secret=vault.lock("456:fresh"))
        return vault.relock(stored, keys)

    rotation.rotate(actor="boss", now=timezone.now(), relock=slow)

    assert secret_of(account) == "456:fresh"


@pytest.fixture
def home(tmp_path, settings):
    """The data directory of a bin/up that is stopped."""
    settings.DATA_DIR, settings.RECORDED = tmp_path, {}
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "key-one", []
    (tmp_path / "secret_key").write_text("key-one")
    return tmp_path


def test_a_new_key_is_made_in_the_data_directory_and_used_at_once(home, settings) -> None:
    account = factories.make_account(secret=vault.lock("123:token"))

    assert "Start bin/up again" in run("rotate_key", "--new")

    fresh, former = (home / "secret_key").read_text().split()
    assert former == "key-one"
    assert (home / "secret_key").stat().st_mode & 0o777 == 0o600
    settings.SECRET_KEY = fresh
    assert secret_of(account) == "123:token"


def test_former_keys_are_forgotten_on_request(home) -> None:
    assert "1 former keys are forgotten" in run("rotate_key", "--new", "--forget")

    (only,) = (home / "secret_key").read_text().split()
    assert only != "key-one"


def test_no_new_key_is_made_while_something_runs_or_the_key_stands_elsewhere(
    home, settings
) -> None:
    settings.RECORDED = {"HERMES_MODEL": "demo"}
    with pytest.raises(CommandError, match="Stop it"):
        run("rotate_key", "--new")
    settings.RECORDED, settings.SECRET_KEY = {}, "of the environment"
    with pytest.raises(CommandError, match="HERMES_FORMER_SECRET_KEYS"):
        run("rotate_key", "--new")
    (home / "secret_key").unlink()
    with pytest.raises(CommandError, match="There is no key"):
        run("rotate_key", "--new")
