"""Accounts: where they come from and how their connection stands; the only writer of their table."""

from datetime import datetime

from gateway import vault
from gateway.conf import gateway_settings
from gateway.models import Account, AccountState
from gateway.ports import AccountConfig, BotIdentity

CONSOLE = "console"


def sync_environment() -> None:
    """Make or update the accounts that stand in the environment, and the Control UI's."""
    Account.objects.get_or_create(slug=CONSOLE, defaults={"platform": CONSOLE})
    for platform, facts in gateway_settings().environment_accounts.items():
        secret = facts.get("secret", "")
        account = Account.objects.filter(slug=platform).first()
        if not secret:
            if account and account.from_environment and account.is_enabled:
                Account.objects.filter(pk=account.pk).update(
                    is_enabled=False, state=AccountState.DISABLED,
                    last_error="its token is no longer in the environment",
                )
            continue
        options = {name: value for name, value in facts.get("options", {}).items() if value}
        if account is None:
            account = Account(slug=platform, platform=platform)
        account.secret, account.options = vault.lock(secret), options
        account.from_environment = account.is_enabled = True
        account.save()


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


def enabled() -> list[Account]:
    """The accounts that should be connected."""
    return list(Account.objects.filter(is_enabled=True))


def set_state(
    account: Account, state: AccountState, *, now: datetime, error: str = "",
    identity: BotIdentity | None = None,
) -> None:
    """Write down how the connection stands."""
    changes = {"state": state, "last_error": error[:500], "state_changed_at": now}
    if identity:
        changes |= {"bot_id": identity.user_id[:64], "bot_name": identity.user_name[:128]}
    Account.objects.filter(pk=account.pk).update(**changes)


def confirm(slug: str, cursor: str, *, now: datetime, saw_event: bool) -> None:
    """Store where the events end, in the transaction that stored the events."""
    changes: dict[str, object] = {"cursor": cursor}
    if saw_event:
        changes["last_event_at"] = now
    Account.objects.filter(slug=slug).update(**changes)
