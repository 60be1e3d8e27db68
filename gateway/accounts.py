"""Accounts: where they come from, how their connection stands; only writer of their table."""

import logging
import re
from contextlib import suppress
from datetime import datetime

from django.core.exceptions import ValidationError

from gateway import platforms, statements, vault
from gateway.conf import gateway_settings
from gateway.errors import BadSecret, NotPossible, UnknownPlatform
from gateway.models import Account, AccountState
from gateway.ports import AccountConfig, BotIdentity

logger = logging.getLogger(__name__)

CONSOLE = "console"
MASK = "••••"
_USER_INFO = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_SECRET_NAME = re.compile(r"secret|token|password|passphrase|key", re.IGNORECASE)


def sync_environment() -> None:
    """Make or update the accounts that stand in the environment, and the Control UI's."""
    Account.objects.get_or_create(slug=CONSOLE, defaults={"platform": CONSOLE})
    for platform, facts in gateway_settings().environment_accounts.items():
        account = Account.objects.filter(slug=platform).first()
        if facts.get("secret"):
            account = account or Account(slug=platform, platform=platform)
            _sync_one(account, facts["secret"], facts.get("options", {}))
        elif account and account.from_environment and account.is_enabled:
            Account.objects.filter(pk=account.pk).update(
                is_enabled=False,
                state=AccountState.DISABLED,
                last_error="its token is no longer in the environment",
            )


def _sync_one(account: Account, secret: str, options: dict[str, str]) -> None:
    if not _holds(account, secret):  # a fresh cipher text would look like a new credential
        account.secret = vault.lock(secret)
    account.options = {name: value for name, value in options.items() if value}
    account.from_environment = account.is_enabled = True
    if account.state == AccountState.DISABLED:
        account.state, account.last_error = AccountState.DISCONNECTED, ""
    other = _other_with(account, secret)
    if other is not None:
        account.is_enabled, account.state = False, AccountState.DISABLED
        account.last_error = _is_double(other)[:500]
        logger.warning("%s of the environment stays disabled: %s", account, account.last_error)
    account.save()


def _other_with(account: Account, secret: str) -> Account | None:
    """The other enabled account of the same platform with the same credential, if there is one."""
    others = Account.objects.filter(platform=account.platform, is_enabled=True)
    rest = others.exclude(slug=account.slug)
    return next((other for other in rest if secret and _holds(other, secret)), None)


def _is_double(other: Account) -> str:
    return (
        f"the account {other.slug} has the same credential and is enabled. One bot is served once:"
        f" disable {other.slug} first, or use the credential of another bot."
    )


def _holds(account: Account, secret: str) -> bool:
    try:
        return vault.unlock(account.secret) == secret
    except BadSecret:
        return False


def config_of(account: Account) -> AccountConfig:
    """What an adapter is built from.

    Raises:
        BadSecret: The stored credential cannot be read.
    """
    return AccountConfig(
        slug=account.slug,
        secret=vault.unlock(account.secret),
        options={name: str(value) for name, value in account.options.items()},
    )


def slugs() -> list[str]:
    """The names of all accounts, in order."""
    return list(Account.objects.order_by("slug").values_list("slug", flat=True))


def enabled() -> list[Account]:
    """The accounts that should be connected."""
    return list(Account.objects.filter(is_enabled=True))


def set_state(
    account: Account,
    state: AccountState,
    *,
    now: datetime,
    error: str = "",
    identity: BotIdentity | None = None,
) -> None:
    """Write down how the connection stands; one that staff disabled stays disabled."""
    row = Account.objects.filter(pk=account.pk)
    if state is AccountState.DISCONNECTED and not row.filter(is_enabled=True).exists():
        state = AccountState.DISABLED
    changes = {"state": state, "last_error": error[:500], "state_changed_at": now}
    if identity:
        changes |= {"bot_id": identity.user_id[:64], "bot_name": identity.user_name[:128]}
    row.update(**changes)


def confirm(slug: str, cursor: str, *, now: datetime, saw_event: bool) -> None:
    """Store where the events end, in the transaction that stored the events."""
    if saw_event:
        statements.confirm_events(slug=slug, cursor=cursor, now=now)
    else:
        statements.confirm_cursor(slug=slug, cursor=cursor)


def prepare(slug: str, platform: str, *, secret: str, options: dict[str, str]) -> Account:
    """An account with these settings, checked and not stored: a new one, or the one of that name.

    Args:
        slug: Its name.
        platform: The platform's kind.
        secret: The credential in clear; empty keeps the stored one.
        options: All of the platform's own settings; a value as `shown` gives it keeps the stored
            one.

    Raises:
        NotPossible: A setting is wrong, the environment keeps the account, or another enabled
            account has the same credential.
        BadSecret: The stored credential is to be kept, and cannot be read.
    """
    try:
        known = platforms.get(platform)
    except UnknownPlatform as error:
        raise NotPossible(str(error)) from error
    account = Account.objects.filter(slug=slug).first() or Account(slug=slug, platform=platform)
    if account.from_environment:
        message = f"{slug} stands in the environment; change it there and start again."
        raise NotPossible(message)
    if account.platform != platform:
        message = f"{slug} is an account of {account.platform}; choose another name."
        raise NotPossible(message)
    stored, masked = account.options, shown(account.options)
    account.options = {
        name: stored[name] if name in stored and value == masked[name] else value
        for name, value in options.items()
    }
    if secret:
        account.secret = vault.lock(secret)
    try:
        account.full_clean()
    except ValidationError as error:
        raise NotPossible(" ".join(error.messages)) from error
    config = config_of(account)
    wrong = known.problems(config)
    if wrong:
        raise NotPossible(" ".join(wrong))
    if account.is_enabled:
        _refuse_double(account, config.secret)
    return account


def _refuse_double(account: Account, secret: str) -> None:
    other = _other_with(account, secret)
    if other is not None:
        message = f"Nothing is changed: {_is_double(other)}"
        raise NotPossible(message)


def save(slug: str, platform: str, *, secret: str, options: dict[str, str]) -> tuple[Account, bool]:
    """Make an account, or change the one of that name; the arguments are those of `prepare`.

    Returns:
        The account, and whether it is new.

    Raises:
        NotPossible, BadSecret: As `prepare` says.
    """
    account = prepare(slug, platform, secret=secret, options=options)
    is_new = account.pk is None
    if is_new:
        account.save()
    else:  # how its connection stands is written by the process that serves it
        account.save(update_fields=["secret", "options"])
    return account, is_new


def shown(options: dict[str, str]) -> dict[str, str]:
    """The options as staff may see them: no password, and no secret by name."""
    return {
        name: MASK if _SECRET_NAME.search(name) and value else _USER_INFO.sub(MASK, str(value))
        for name, value in options.items()
    }


def switch(account: Account, *, is_enabled: bool, now: datetime) -> bool:
    """Enable or disable an account; whether that changed anything.

    Raises:
        NotPossible: Another enabled account has the same credential.
    """
    if is_enabled and not account.is_enabled:
        with suppress(BadSecret):  # it cannot be compared; its connection will say so
            _refuse_double(account, vault.unlock(account.secret))
    state = AccountState.DISCONNECTED if is_enabled else AccountState.DISABLED
    changed = Account.objects.filter(pk=account.pk, is_enabled=not is_enabled).update(
        is_enabled=is_enabled, state=state, state_changed_at=now
    )
    account.is_enabled, account.state = is_enabled, state
    return bool(changed)


def stored_cursor(account: Account) -> str:
    """Where the stored events of an account end."""
    return Account.objects.values_list("cursor", flat=True).get(pk=account.pk)
