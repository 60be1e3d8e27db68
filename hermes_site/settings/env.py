"""Typed readers of the environment: strict, and loud about what is wrong."""

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off", ""}


def envtext(name: str, default: str = "") -> str:
    """The value of `name`, without surrounding space; `default` if unset or empty."""
    return os.environ.get(name, "").strip() or default


def envbool(name: str, *, default: bool = False) -> bool:
    """The value of `name` as yes or no."""
    raw = os.environ.get(name)
    if raw is None:
        return default
    value = raw.strip().lower()
    if value in TRUE:
        return True
    if value in FALSE:
        return False
    message = f"{name} must be one of true/false/1/0/yes/no, not {raw!r}."
    raise ImproperlyConfigured(message)


def envint(name: str, default: int, *, minimum: int = 0) -> int:
    """The value of `name` as a whole number, at least `minimum`."""
    raw = envtext(name)
    if not raw:
        return default
    try:
        value = int(raw)
    except ValueError:
        message = f"{name} must be a whole number, not {raw!r}."
        raise ImproperlyConfigured(message) from None
    if value < minimum:
        message = f"{name} must be at least {minimum}, not {value}."
        raise ImproperlyConfigured(message)
    return value


def envlist(name: str, default: str = "") -> list[str]:
    """The comma-separated values of `name`, trimmed, blanks dropped."""
    return [item.strip() for item in envtext(name, default).split(",") if item.strip()]


def envsecret(name: str, default: str = "") -> str:
    """A secret, from `name` or from the file that `name`_FILE names."""
    file_name = envtext(f"{name}_FILE")
    if not file_name:
        return envtext(name, default)
    try:
        return Path(file_name).read_text(encoding="utf-8").strip()
    except OSError as error:
        message = f"{name}_FILE names {file_name}, which cannot be read: {error.strerror}."
        raise ImproperlyConfigured(message) from error
