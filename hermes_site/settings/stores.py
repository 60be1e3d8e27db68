"""DATABASE_URL and REDIS_URL, turned into what Django, Channels and Celery want."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

# Measured: without IMMEDIATE a read-then-write transaction fails at once with "database is
# locked", whatever the timeout; WAL lets readers go on while one process writes. Each of a worker's
# many threads has a connection, and each connection a cache of its own: 1 MB; the system keeps the
# rest of the file.
SQLITE_OPTIONS: dict[str, Any] = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA busy_timeout=20000;"
        " PRAGMA cache_size=-1000; PRAGMA temp_store=MEMORY;"
    ),
}
SQLITE_MAX_AGE = None
DATABASE_SHAPES = "must be postgres://user:password@host:5432/name or sqlite:////absolute/path"
REDIS_SHAPES = "must be redis://host:6379/0, rediss://host:6379/0 or unix:///absolute/path"
ESCAPING = "In a user or password write %3A for :, %2F for /, %40 for @ and %23 for #"


def database(url: str, *, pool_size: int) -> dict[str, Any]:
    """The entry of DATABASES for `url`.

    Args:
        url: `sqlite:////absolute/path` or `postgres://user:password@host:port/name`.
        pool_size: The most connections one process may hold on PostgreSQL.

    Raises:
        ImproperlyConfigured: It is neither; the sentence never quotes it.
    """
    scheme = url.partition(":")[0]
    if scheme == "sqlite":
        return sqlite(url)
    if scheme not in {"postgres", "postgresql"}:
        raise refusal("DATABASE_URL", DATABASE_SHAPES)
    try:
        config: dict[str, Any] = dict(dj_database_url.parse(url))
    except (ValueError, KeyError):  # its words may quote a piece of the password
        raise refusal("DATABASE_URL", f"{DATABASE_SHAPES}. {ESCAPING}") from None
    if not config["NAME"]:
        raise refusal("DATABASE_URL", f"{DATABASE_SHAPES}; no database is named")
    config["CONN_MAX_AGE"] = 0  # the pool wants it so
    config.setdefault("OPTIONS", {})["pool"] = {
        "min_size": 1,
        "max_size": pool_size,
        "timeout": 20,
    }
    return config


def sqlite(url: str) -> dict[str, Any]:
    """The entry of DATABASES for a file that all processes share."""
    config: dict[str, Any] = dict(dj_database_url.parse(url))
    if not Path(config["NAME"]).is_absolute():  # memory, or a file that depends on who asks
        raise refusal("DATABASE_URL", "must name SQLite's file in full: sqlite:////absolute/path")
    config["ENGINE"] = "hermes_site.sqlite"
    config["OPTIONS"] = dict(SQLITE_OPTIONS)
    # Opening a file is dear and a connection is private to its thread: keep it.
    config["CONN_MAX_AGE"] = SQLITE_MAX_AGE
    return config


def broker_url(redis_url: str) -> str:
    """The URL Celery understands for the same server.

    Raises:
        ImproperlyConfigured: It names no server; the sentence never quotes it.
    """
    try:
        parts = urlsplit(redis_url)
        has_server = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise refusal("REDIS_URL", f"{REDIS_SHAPES}. {ESCAPING}") from None
    if parts.scheme == "unix" and parts.path:
        return f"redis+socket://{parts.path}" + (f"?{parts.query}" if parts.query else "")
    if parts.scheme not in {"redis", "rediss"} or not has_server:
        raise refusal("REDIS_URL", REDIS_SHAPES)
    if not re.fullmatch(r"/?\d*", parts.path, re.ASCII):
        raise refusal("REDIS_URL", f"{REDIS_SHAPES}; what follows the host must be a number")
    return redis_url


def refusal(name: str, wanted: str) -> ImproperlyConfigured:
    """What to raise for an address of a server, which may hold a password."""
    return ImproperlyConfigured(f"{name} {wanted}. Change it, or unset it for the built-in one.")


def channel_layer(redis_url: str) -> dict[str, Any]:
    """The channel layer on the same server: hints only, nothing is lost with it."""
    return {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [redis_url], "prefix": "hermes"},
    }


def default_redis_url(data_dir: Path, state: Mapping[str, Any]) -> str:
    """Where the embedded broker listens when REDIS_URL names no other."""
    return str(state.get("redis_url") or f"unix://{data_dir / 'run' / 'valkey.sock'}")


def default_database_url(data_dir: Path, state: Mapping[str, Any]) -> str:
    """Where the embedded database is when DATABASE_URL names no other."""
    return str(state.get("database_url") or f"sqlite:///{data_dir / 'hermes.sqlite3'}")
