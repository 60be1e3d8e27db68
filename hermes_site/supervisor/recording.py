"""What a running `bin/up` has written down, so that commands in another shell judge the same.

It holds no secret: an address with a user or a query in it is left out.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from delivery.processes import is_certainly_dead, this_process

# What a command must know of the processes that run, besides where database and broker are.
NAMES = (
    "HERMES_ALLOW_ALL_USERS",
    "HERMES_BASE_URL",
    "HERMES_FALLBACK_MODEL",
    "HERMES_MODEL",
    "HERMES_TIME_ZONE",
    "OPENAI_BASE_URL",
    "TELEGRAM_ALLOW_ALL_USERS",
)

# Of these, which may hold a password, only that they were given.
SECRETS = ("DATABASE_URL", "HERMES_SECRET_KEY", "OPENAI_API_KEY", "REDIS_URL")


def worth_recording(environment: Mapping[str, str]) -> dict[str, str]:
    """What of `environment` other shells must know, and may."""
    named = {name: environment.get(name, "").strip() for name in NAMES}
    return {name: value for name, value in named.items() if value and not holds_a_secret(value)}


def secrets_given(environment: Mapping[str, str]) -> list[str]:
    """The names of the secrets that stand in `environment`, or in a file that it names."""
    return [
        name
        for name in SECRETS
        if any(environment.get(each, "").strip() for each in (name, f"{name}_FILE"))
    ]


def holds_a_secret(value: str) -> bool:
    """Whether a password or a key could stand in `value`, if it is an address."""
    if "://" not in value:
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return True
    return "@" in parts.netloc or bool(parts.query)


def read(data_dir: Path) -> dict[str, Any]:
    """The state file of `bin/up`; empty if there is none."""
    try:
        state = json.loads((data_dir / "up.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def environment_of(state: Mapping[str, Any]) -> dict[str, str]:
    """What the `bin/up` that wrote `state` was given; empty if it does not run any more."""
    found = state.get("environment")
    if not isinstance(found, dict) or not is_running(state.get("process")):
        return {}
    return {name: str(found[name]) for name in NAMES if name in found}


def secrets_of(state: Mapping[str, Any]) -> frozenset[str]:
    """Which secrets, by name, the `bin/up` that wrote `state` was given; none if it has ended."""
    found = state.get("secrets")
    if not isinstance(found, list) or not is_running(state.get("process")):
        return frozenset()
    return frozenset(name for name in SECRETS if name in found)


def is_running(process: object) -> bool:
    """Whether a process that named itself so runs on this host, and not just one of its number."""
    if not isinstance(process, str):
        return False
    is_here = process.partition("/")[0] == this_process().partition("/")[0]
    return is_here and not is_certainly_dead(process)
