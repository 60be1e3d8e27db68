"""What is wrong with this installation, and how to mend it: a finding for each thing."""

import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import cast

import redis
from django.conf import settings
from django.db import connection

from delivery.database import DATABASE_TROUBLE
from delivery.models import OPEN_STATES, Lease, Obligation
from delivery.processes import is_certainly_dead
from gateway import accounts, backing, launching, platforms, probing, processes
from gateway.agents import reach
from gateway.agents.configured import model_config
from gateway.conf import gateway_settings
from gateway.errors import GatewayError
from gateway.models import Account, AccountState, AllowEntry

SKEW_WARNING, SKEW_ERROR = 2.0, 8.0  # seconds; a lease is held for 12
LOW_DISK, FULL_DISK = 1024 * 2**20, 200 * 2**20  # bytes


class Severity(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARNING = "warning"  # it works, but not as it should
    ERROR = "error"  # something does not work


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        subject: What was looked at.
        severity: How it stands.
        says: What was found.
        fix: What to do about it; empty when all is well.
    """

    subject: str
    severity: Severity
    says: str
    fix: str = ""


Check = Callable[[datetime], Iterator[Finding]]
MEND_IT_FIRST = "Mend what the finding about the database names, first."
KEPT_IN_THE_DATABASE = {"clock", "processes", "access", "accounts"}


def examine(*, live: bool, clock: Callable[[], datetime]) -> Iterator[Finding]:
    """Look at everything, one thing after the other.

    Args:
        live: Also connect to the platforms and to the model's server.
        clock: Tells the present.
    """
    checks: list[tuple[str, Check]] = [
        ("settings", _secret_key),
        ("data directory", _data_directory),
        ("disk", _disk),
        ("database", _database),
        ("broker", _broker),
        ("clock", _clock),
        ("processes", _processes),
        ("access", _access),
        ("model", partial(_model, live=live)),
        ("accounts", partial(_accounts, live=live)),
    ]
    is_mute = bool(backing.database_refusal())
    for subject, check in checks:
        if is_mute and subject in KEPT_IN_THE_DATABASE:  # each look would wait for a connection
            yield _error(subject, "cannot be looked at without the database", MEND_IT_FIRST)
            continue
        try:
            yield from check(clock())
        except DATABASE_TROUBLE as error:
            says = f"cannot be looked at: the database refuses ({type(error).__name__})"
            yield _error(subject, says, MEND_IT_FIRST)


def _ok(subject: str, says: str) -> Finding:
    return Finding(subject=subject, severity=Severity.OK, says=says)


def _warning(subject: str, says: str, fix: str) -> Finding:
    return Finding(subject=subject, severity=Severity.WARNING, says=says, fix=fix)


def _error(subject: str, says: str, fix: str) -> Finding:
    return Finding(subject=subject, severity=Severity.ERROR, says=says, fix=fix)


def _secret_key(now: datetime) -> Iterator[Finding]:
    del now
    if _is_only_there("HERMES_SECRET_KEY"):
        says = "what runs has a HERMES_SECRET_KEY, and this shell has not: no credential opens here"
        yield _error("settings", says, "Give HERMES_SECRET_KEY to doctor, too.")
    elif settings.SECRET_KEY.startswith("insecure-"):
        yield _error(
            "settings",
            "there is no secret key of your own: sessions and stored credentials are not safe",
            "Set HERMES_SECRET_KEY to 50 random characters, the same on every host; bin/up does.",
        )
    else:
        yield _ok("settings", "the installation has a secret key of its own")
    if settings.DEBUG:
        yield _warning("settings", "HERMES_DEBUG is on", "Unset it wherever others can connect.")


def _is_only_there(name: str) -> bool:
    """Whether the running bin/up was given a secret, and this command was not."""
    held = {
        "OPENAI_API_KEY": model_config().api_key,
        "HERMES_SECRET_KEY": not settings.SECRET_KEY.startswith("insecure-"),
    }
    return name in settings.RECORDED_SECRETS and not held[name]


def _data_directory(now: datetime) -> Iterator[Finding]:
    del now
    directory = Path(settings.DATA_DIR)
    yield from examine_directory(directory)
    key = directory / "secret_key"
    if key.exists() and key.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield _error("data directory", f"others may read {key}", f"Run: chmod 600 {key}")


def examine_directory(directory: Path) -> Iterator[Finding]:
    """Whether the data directory is there, is ours to write, and is closed to others."""
    subject = "data directory"
    if not directory.is_dir():
        fix = "Make it, or set HERMES_DATA_DIR to a directory that exists; bin/up makes it."
        yield _error(subject, f"{directory} does not exist", fix)
        return
    try:
        probe = directory / ".doctor"
        probe.touch()
        probe.unlink()
    except OSError as error:
        fix = f"Give {directory} to the user that runs this, or set HERMES_DATA_DIR."
        yield _error(subject, f"{directory} cannot be written to ({error.strerror})", fix)
        return
    if directory.stat().st_mode & (stat.S_IWGRP | stat.S_IRWXO):
        says = f"others may read or change {directory}, where messages and keys are kept"
        yield _warning(subject, says, f"Run: chmod 700 {directory}")
    else:
        yield _ok(subject, f"{directory} can be written to and is closed to others")


def _disk(now: datetime) -> Iterator[Finding]:
    del now
    directory = Path(settings.DATA_DIR)
    while not directory.exists():
        directory = directory.parent
    yield examine_room(shutil.disk_usage(directory).free, directory)


def examine_room(free: int, directory: Path) -> Finding:
    """Whether `free` bytes on the disk of `directory` are enough."""
    says = f"{free // 2**20} MB are free on the disk of {directory}"
    fix = "Make room, or move HERMES_DATA_DIR to a larger disk."
    if free < FULL_DISK:
        return _error("disk", says, fix)
    return _warning("disk", says, fix) if free < LOW_DISK else _ok("disk", says)


def _database(now: datetime) -> Iterator[Finding]:
    del now
    if refusal := backing.database_refusal():
        yield _error("database", refusal, "Start it, or check DATABASE_URL.")
    elif missing := backing.missing_migrations():
        says = f"{missing} migrations are missing"
        yield _error("database", says, f"Run: {_manage('migrate')}")
    else:
        yield _ok("database", f"{connection.vendor} answers and its tables are up to date")


def _broker(now: datetime) -> Iterator[Finding]:
    del now
    if refusal := backing.broker_refusal(settings.REDIS_URL):
        says = f"{refusal}; turns start late, by the sweep"
        yield _error("broker", says, "Start it (bin/up does), or check REDIS_URL.")
    else:
        yield _ok("broker", "it answers")


def _clock(now: datetime) -> Iterator[Finding]:
    for name, there in other_clocks():
        yield examine_clock(name, (there - now).total_seconds())


def other_clocks() -> Iterator[tuple[str, datetime]]:
    """What time it is by the clocks of the database and the broker, by whose they are."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            yield "the database", cursor.fetchone()[0]
    try:
        broker = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2)
        seconds, microseconds = cast("tuple[int, int]", broker.time())
        broker.close()
    except (redis.RedisError, OSError, ValueError):
        return  # the broker has a finding of its own
    yield "the broker", datetime.fromtimestamp(seconds + microseconds / 1e6, UTC)


def examine_clock(name: str, skew: float) -> Finding:
    """Whether this host's clock agrees with another's, `skew` seconds ahead of it."""
    says = f"this host and {name} differ by {abs(skew):.1f} s"
    fix = "Let both keep time by NTP: leases and deadlines go by the clock (timedatectl status)."
    if abs(skew) >= SKEW_ERROR:
        return _error("clock", says, fix)
    return _warning("clock", says, fix) if abs(skew) >= SKEW_WARNING else _ok("clock", says)


def _processes(now: datetime) -> Iterator[Finding]:
    for kind, command in launching.COMMANDS.items():
        if processes.alive(kind, now=now):
            yield _ok("processes", f"a {kind} process was seen lately")
        else:
            fix = f"Start everything with bin/up, or this alone: {_typed(command)}"
            yield _error("processes", f"no {kind} process was seen lately", fix)


def _access(now: datetime) -> Iterator[Finding]:
    del now
    conf = gateway_settings()
    if conf.allow_all_users:
        fix = "Unset HERMES_ALLOW_ALL_USERS unless no stranger can find the bot."
        yield _warning("access", "everybody on every platform may use the agent", fix)
    for platform, facts in conf.environment_accounts.items():
        if facts.get("allow_all"):
            fix = f"Unset {platform.upper()}_ALLOW_ALL_USERS unless no stranger can find the bot."
            yield _warning("access", f"everybody on {platform} may use the agent", fix)
    count = AllowEntry.objects.count()
    if count or conf.allow_all_users:
        yield _ok("access", f"{count} entries are on the allowlist")
    else:
        fix = f"Add somebody: {_manage('allow add telegram <id>')}; they see their id by writing."
        yield _warning("access", "nobody is on the allowlist", fix)


def _model(now: datetime, *, live: bool) -> Iterator[Finding]:
    del now
    config = model_config()
    if not live:
        yield _ok("model", f"{config.name} (not tried)")
        return
    running = settings.RECORDED.get("HERMES_MODEL", "demo")
    if settings.RECORDED and running != config.name:
        says = f"the one that runs is {running}, and this shell names {config.name}"
        yield _warning("model", says, "Unset HERMES_MODEL here, or start bin/up again with it.")
    if _is_only_there("OPENAI_API_KEY"):
        says = f"{config.name} was not tried: what runs has a key for it, and this shell has not"
        yield _warning("model", says, "Give OPENAI_API_KEY to doctor, too.")
        return
    problem = reach.problem(config)
    if problem:
        says, _, fix = problem.partition(". ")
        yield _error("model", says, fix)
    else:
        yield _ok("model", f"{config.name} can be used, as far as can be told without running it")


def _accounts(now: datetime, *, live: bool) -> Iterator[Finding]:
    found = list(Account.objects.all())
    if not any(account.is_enabled and account.slug != accounts.CONSOLE for account in found):
        make = _manage("account add telegram telegram")
        fix = f"Make one: {make}; or set TELEGRAM_BOT_TOKEN and start again."
        yield _warning("accounts", "no platform is connected; only the Control UI works", fix)
    for account in found:
        if account.is_enabled:
            yield _account(account, now, live=live)
        elif account.from_environment and _has_secret_in_environment(account):
            yield _warning(f"account {account.slug}", account.last_error, _mend(account))
        elif waiting := Obligation.objects.filter(account=account.slug, state__in=OPEN_STATES):
            says = f"disabled, and {waiting.count()} messages wait for it until they are a day old"
            fix = "Enable it in the admin, or give the messages up there."
            yield _warning(f"account {account.slug}", says, fix)
        else:
            yield _ok(f"account {account.slug}", "disabled")


def _account(account: Account, now: datetime, *, live: bool) -> Finding:
    subject, test = f"account {account.slug}", _manage(f"account test {account.slug}")
    who = account.bot_name
    try:
        config = accounts.config_of(account)
        wrong = platforms.get(account.platform).problems(config)
        if wrong:
            return _error(subject, " ".join(wrong), _mend(account))
        if live:
            who = probing.connect_once(config, account.platform).user_name
    except (GatewayError, ValueError) as error:
        return _error(subject, str(error), _mend(account))
    lease = Lease.objects.filter(name=account.lease_name, expires_at__gt=now).first()
    if lease is None or not lease.owner or is_certainly_dead(lease.owner):
        fix = f"Start one: {_typed(launching.GATEWAY)}"
        return _error(subject, "no gateway process serves it", fix)
    if account.state != AccountState.READY:
        why = f": {account.last_error}" if account.last_error else ""
        return _error(subject, f"its connection is {account.state}{why}", f"Look closer: {test}")
    return _ok(subject, f"connected as {who}")


def _has_secret_in_environment(account: Account) -> bool:
    return bool(gateway_settings().environment_accounts.get(account.platform, {}).get("secret"))


def _mend(account: Account) -> str:
    """Where the account is changed: in the place that it stands in."""
    test = _manage(f"account test {account.slug}")
    if account.from_environment:
        names = f"{account.platform.upper()}_…"
        return f"It stands in the environment: change it there ({names}), start again, then: {test}"
    enter = _manage(f"account add {account.slug} {account.platform}")
    return f"Enter it again in the admin, or: {enter}; then: {test}"


def _manage(words: str) -> str:
    return _typed(f"python manage.py {words}")


def _typed(command: str) -> str:
    """A command that can be pasted as it stands."""
    return launching.typed(
        command,
        python=Path(sys.executable),
        project=Path(settings.BASE_DIR),
        data_dir=Path(settings.DATA_DIR),
    )
