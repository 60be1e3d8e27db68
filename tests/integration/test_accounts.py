"""Accounts and people that the environment names, and why an account is served no longer."""

import logging
import re
from pathlib import Path

import pytest
from django.utils import timezone

from gateway import access, accounts, platforms, vault
from gateway.models import Account, AccountState, AllowEntry
from gateway.runner.process import why_given_up
from hermes_site.settings import base
from tests import factories
from tests.integration.commanding import TOKEN

pytestmark = pytest.mark.django_db


@pytest.fixture
def environment(settings):
    """What the environment says about Telegram."""

    def say(**facts):
        named = {"telegram": {"secret": TOKEN, "options": {}, "allowed_users": []} | facts}
        settings.GATEWAY = settings.GATEWAY | {"ENVIRONMENT_ACCOUNTS": named}

    return say


def test_whom_the_environment_no_longer_names_is_allowed_no_longer(environment):
    environment(allowed_users=["11111111", "22222222"])
    access.sync_environment(now=timezone.now())
    environment(allowed_users=["22222222"])

    access.sync_environment(now=timezone.now())

    assert [entry.user_id for entry in AllowEntry.objects.all()] == ["22222222"]


def test_an_account_of_the_environment_whose_credential_is_served_already_stays_off(
    environment, caplog
):
    factories.make_account("sales", secret=vault.lock(TOKEN))
    environment()

    accounts.sync_environment()

    account = Account.objects.get(slug="telegram")
    assert (account.is_enabled, account.state) == (False, AccountState.DISABLED)
    assert "the account sales has the same credential" in account.last_error
    assert account.last_error in caplog.text


def test_it_is_served_once_the_other_is_disabled(environment):
    other = factories.make_account("sales", secret=vault.lock(TOKEN))
    environment()
    accounts.sync_environment()
    accounts.switch(other, is_enabled=False, now=timezone.now())

    accounts.sync_environment()

    account = Account.objects.get(slug="telegram")
    assert (account.is_enabled, account.state) == (True, AccountState.DISCONNECTED)
    assert account.last_error == ""


def test_every_option_that_the_settings_hand_over_is_one_that_the_platform_knows():
    text = Path(base.__file__).read_text()
    handed = re.findall(r'"(\w+)": env\.\w+\("TELEGRAM_', text)
    account = Account(slug="telegram", platform="telegram", secret=vault.lock(TOKEN))
    account.options = dict.fromkeys(set(handed) - {"secret", "allowed_users", "allow_all"}, "")

    assert "home_channel" in account.options
    assert platforms.get("telegram").problems(accounts.config_of(account)) == []


def why(wanted, *, is_held=True, is_over=False):
    served = Account(slug="mybot", secret="one", options={})
    return why_given_up(served, wanted, is_held=is_held, is_over=is_over)


def test_what_staff_did_is_no_warning():
    disabled = why(None)
    changed = why(Account(slug="mybot", secret="two", options={}))

    assert disabled == (logging.INFO, "The account was disabled, so it is disconnected")
    assert changed == (logging.INFO, "The account was changed, so it is connected anew")


def test_what_nobody_did_is_a_warning():
    same = Account(slug="mybot", secret="one", options={})

    assert why(same) == (logging.INFO, "")
    for level, says in (why(same, is_held=False), why(same, is_over=True)):
        assert level == logging.WARNING
        assert says
