"""DATABASE_URL and REDIS_URL, turned into what Django, Channels and Celery want."""

import json
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


def database(url: str, *, pool_size: int) -> dict[str, Any]:
    """The entry of DATABASES for `url`.

    Args:
        url: `sqlite:///absolute/path` or `postgres://user:password@host:port/name`.
        pool_size: The most connections one process may hold on PostgreSQL.
    """
    try:
        config: dict[str, Any] = dict(dj_database_url.parse(url))
    except (ValueError, KeyError) as error:
        message = f"DATABASE_URL is not understood ({error}). Use sqlite:///path or postgres://…"
        raise ImproperlyConfigured(message) from error
    if "sqlite" in config["ENGINE"]:
        config["ENGINE"] = "hermes_site.sqlite"
        config["OPTIONS"] = dict(SQLITE_OPTIONS)
        # Opening a file is dear and a connection is private to its thread: keep it.
        config["CONN_MAX_AGE"] = SQLITE_MAX_AGE
        return config
    if "postgresql" not in config["ENGINE"]:
        message = "DATABASE_URL must name SQLite or PostgreSQL."
        raise ImproperlyConfigured(message)
    config["CONN_MAX_AGE"] = 0  # the pool wants it so
    config.setdefault("OPTIONS", {})["pool"] = {
        "min_size": 1,
        "max_size": pool_size,
        "timeout": 20,
    }
    return config


def broker_url(redis_url: str) -> str:
    """The URL Celery understands for the same server."""
    parts = urlsplit(redis_url)
    if parts.scheme == "unix":
        return f"redis+socket://{parts.path}" + (f"?{parts.query}" if parts.query else "")
    if parts.scheme in {"redis", "rediss"}:
        return redis_url
    message = "REDIS_URL must begin with redis://, rediss:// or unix://"
    raise ImproperlyConfigured(message)


def channel_layer(redis_url: str) -> dict[str, Any]:
    """The channel layer on the same server: hints only, nothing is lost with it."""
    return {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [redis_url], "prefix": "hermes"},
    }


def recorded(data_dir: Path, name: str, default: str) -> str:
    """What a running `bin/up` has written down of its own servers, so that commands find them.

    Args:
        data_dir: The data directory.
        name: `redis_url` or `database_url`.
        default: The value if nothing runs or it runs no such server.
    """
    try:
        state = json.loads((data_dir / "up.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return default
    return str(state.get(name) or default)


def default_redis_url(data_dir: Path) -> str:
    """Where the embedded broker listens when REDIS_URL names no other."""
    return recorded(data_dir, "redis_url", f"unix://{data_dir / 'run' / 'valkey.sock'}")


def default_database_url(data_dir: Path) -> str:
    """Where the embedded database is when DATABASE_URL names no other."""
    return recorded(data_dir, "database_url", f"sqlite:///{data_dir / 'hermes.sqlite3'}")
