"""Credentials at rest."""

import pytest

from gateway import vault
from gateway.errors import BadSecret


@pytest.mark.proves("X1")
def test_a_secret_comes_back_and_is_not_stored_in_clear() -> None:
    stored = vault.lock("123:token-§")
    assert "token" not in stored
    assert vault.unlock(stored) == "123:token-§"


def test_no_secret_stays_none() -> None:
    assert vault.lock("") == ""
    assert vault.unlock("") == ""


def test_the_same_secret_is_stored_differently_each_time() -> None:
    assert vault.lock("x") != vault.lock("x")


def test_a_former_key_still_opens_it(settings) -> None:
    stored = vault.lock("x")
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another " * 8
    assert vault.unlock(stored) == "x"
    assert vault.unlock(vault.lock("y")) == "y"


@pytest.mark.parametrize("stored", ["nonsense", "gAAAAA", "\u00fc"])
def test_what_another_key_wrote_is_refused_with_advice(stored, settings) -> None:
    with pytest.raises(BadSecret, match="HERMES_SECRET_KEY"):
        vault.unlock(stored)
    other = vault.lock("x")
    settings.SECRET_KEY = "another " * 8
    with pytest.raises(BadSecret):
        vault.unlock(other)
