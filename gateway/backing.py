"""Whether the database and the broker serve, and if not, where and why; never a password."""

from typing import Any

import redis
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from redis.backoff import NoBackoff
from redis.retry import Retry

PATIENCE_SECONDS = 3


def database_refusal() -> str:
    """Why the database cannot be reached; empty if it can."""
    return refusal_of(connection)


def refusal_of(database: Any) -> str:
    """Why the database behind `database` cannot be reached; empty if it can.

    PostgreSQL is asked without the pool, which would go on trying for as long as a thread may
    wait for a connection. SQLite is a file and always there.

    Args:
        database: A connection of Django's; it is not used itself.
    """
    if database.vendor != "postgresql":
        return ""
    params = {**database.get_connection_params(), "connect_timeout": PATIENCE_SECONDS}
    params.pop("pool", None)
    try:
        database.Database.connect(**params).close()
    except database.Database.Error as error:
        place = f"{params.get('host') or 'localhost'}:{params.get('port') or 5432}"
        return f"PostgreSQL at {place} does not let us in: {_reason(error)}"
    return ""


def missing_migrations() -> int:
    """How many migrations the database lacks."""
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def broker_refusal(url: str) -> str:
    """Why the broker at `url` does not serve; empty if it does."""
    client = redis.Redis.from_url(
        url,
        socket_timeout=PATIENCE_SECONDS,
        socket_connect_timeout=PATIENCE_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
    try:
        client.ping()
    except (redis.RedisError, OSError) as error:
        facts = client.connection_pool.connection_kwargs
        place = facts.get("path") or f"{facts.get('host')}:{facts.get('port') or 6379}"
        return f"the broker at {place} does not answer: {_reason(error)}"
    finally:
        client.close()
    return ""


def _reason(error: Exception) -> str:
    """The last words of an error, in one line; a driver's first ones repeat where it was."""
    lines = [line for line in str(error).splitlines() if line and not line[0].isspace()]
    text = lines[0] if lines else type(error).__name__
    return text.rpartition("failed: ")[2].strip(" .")
