"""The GATEWAY setting, typed."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from clarify.approvals import Lasting, Reach
from clarify.risks import RiskLevel
from gateway import prices
from gateway.prices import Price

# The kinds of places that have bounds of their own.
CRON, BACKGROUND, WEBHOOK = "cron", "background", "webhook"


class Misconfigured(ImproperlyConfigured):
    """A setting is wrong; the message says which and what to do.

    It stands outside the tree of `gateway.errors`, so that nothing swallows it.
    """


@dataclass(frozen=True, kw_only=True)
class MediaSettings:
    """How files are kept; sizes in bytes.

    Attributes:
        directory: Where they lie.
        max_file: The largest that is taken or sent.
        account_quota: What all files of one account may take.
        total_quota: What all files may take.
        keep: How long a file is kept.
        wait: How long a turn waits for the files of its message.
    """

    directory: str = ""
    max_file: int = 128 * 1024 * 1024
    account_quota: int = 2 * 1024**3
    total_quota: int = 10 * 1024**3
    keep: timedelta = timedelta(days=7)
    wait: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, kw_only=True)
class WebhookSettings:
    """How webhooks come in and go out.

    Attributes:
        allow_private: They may go out to private addresses and without TLS, as in a company's own
            network.
        keep: How long it is remembered that an event came, so that it is taken once; longer than
            any sender tries again.
    """

    allow_private: bool = False
    keep: timedelta = timedelta(days=30)


@dataclass(frozen=True, kw_only=True)
class RetentionSettings:
    """How long what is over is kept ([O2]).

    Attributes:
        events: What came in and was decided on; also how long a repeated event is known as one.
        turns: Turns that ended, with their tool calls.
        sessions: Sessions that ended, with their history.
        conversations: Conversations in which nothing happens, with all of it; None for ever.
        audit: The audit log.
        files: What is known of a file after it is gone itself.
    """

    events: timedelta = timedelta(days=90)
    turns: timedelta = timedelta(days=90)
    sessions: timedelta = timedelta(days=365)
    conversations: timedelta | None = None
    audit: timedelta = timedelta(days=365)
    files: timedelta = timedelta(days=30)


@dataclass(frozen=True, kw_only=True)
class UnattendedSettings:
    """The bounds of work that nobody waits for at a keyboard ([T11]).

    Attributes:
        max_background: Background tasks running at once in the whole installation.
        background_each: Tasks of one person that are not over.
        background_time_limit: A task that runs longer is ended, kindly.
        max_cron: Runs of scheduled jobs at once in the whole installation.
        cron_time_limit: A run that takes longer is ended, kindly.
        max_webhook: Turns that events of webhooks began, at once in the whole installation.
    """

    max_background: int = 8
    background_each: int = 3
    background_time_limit: timedelta = timedelta(hours=1)
    max_cron: int = 8
    cron_time_limit: timedelta = timedelta(minutes=30)
    max_webhook: int = 24

    def most_of(self, chat_type: str) -> int:
        """How many turns may run at once in places of that kind: of those where nobody sits."""
        bounds = {CRON: self.max_cron, WEBHOOK: self.max_webhook}
        return bounds.get(chat_type, self.max_background)


@dataclass(frozen=True)
class GatewaySettings:
    """How the gateway behaves.

    Attributes:
        platforms: The platform packages installed, as import paths.
        max_concurrent_turns: Turns running at once in the whole installation.
        turn_time_limit: A turn that runs longer is ended, kindly.
        unattended: The bounds of scheduled jobs, background tasks and webhooks.
        allow_all_users: Everybody may reach the agent; never set it on a public bot.
        max_message_age: A message older than this gets one line instead of a turn.
        model: Name, base URL, key and fall-back of the agent's model.
        system_prompt_file: Where the agent's instructions stand; empty for the built-in ones.
        anyone_may_answer: In a group, any permitted member answers questions, not the asker alone.
        approval_timeout: How long an operation waits for an approval.
        members_approve: The highest risk that people on the allowlist approve for themselves.
        lasting_approvals: How far approvals for a session, and for good, may go.
        models: The models that people may choose among with /model; the usual one is always there.
        history_budget: How much of a history a model is given, in characters.
        prices: What a million tokens cost, by the name of the model.
        currency: In what they are paid.
        workspaces: Where each session has a directory of its own, in which its agent finds files
            and its commands run.
        shell_tool: Agents may be given the shell.
        media: How files are kept.
        retention: How long what is over is kept.
        alerts_to: Where findings of the watchdog are told: `account`, for its home channel, or
            `account:chat`, or `account:chat/thread`.
        webhooks: How webhooks come in and go out.
        pairing: Strangers who write in private are given a code that staff can approve.
        pairing_waiting: How many of them may wait for that at once, for each account.
        environment_accounts: Accounts whose settings stand in the environment, by platform.
    """

    platforms: list[str] = field(default_factory=list)
    max_concurrent_turns: int = 120
    turn_time_limit: timedelta = timedelta(minutes=30)
    unattended: UnattendedSettings = field(default_factory=UnattendedSettings)
    allow_all_users: bool = False
    max_message_age: timedelta = timedelta(hours=24)
    model: dict[str, str] = field(default_factory=dict)
    system_prompt_file: str = ""
    anyone_may_answer: bool = False
    approval_timeout: timedelta = timedelta(minutes=10)
    members_approve: RiskLevel | None = RiskLevel.HIGH
    lasting_approvals: dict[Reach, Lasting] = field(default_factory=dict)
    models: list[str] = field(default_factory=list)
    history_budget: int = 300_000
    prices: dict[str, Price] = field(default_factory=dict)
    currency: str = "USD"
    workspaces: str = ""
    shell_tool: bool = False
    media: MediaSettings = field(default_factory=MediaSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    alerts_to: list[str] = field(default_factory=list)
    webhooks: WebhookSettings = field(default_factory=WebhookSettings)
    pairing: bool = True
    pairing_waiting: int = 3
    environment_accounts: dict[str, dict[str, Any]] = field(default_factory=dict)

    def time_limit_of(self, chat_type: str) -> timedelta:
        """How long a turn in a place of that kind may run."""
        limits = {
            BACKGROUND: self.unattended.background_time_limit,
            CRON: self.unattended.cron_time_limit,
        }
        return limits.get(chat_type, self.turn_time_limit)


def gateway_settings() -> GatewaySettings:
    """The settings in force."""
    raw = {key.lower(): value for key, value in getattr(settings, "GATEWAY", {}).items()}
    approvals = raw.pop("approvals", None)
    if approvals is not None:
        raw |= _approvals(approvals)
    if isinstance(raw.get("prices"), str):
        raw["prices"] = _prices(raw["prices"])
    unattended = raw.pop("unattended", None)
    if unattended is not None:
        bounds = {key.lower(): value for key, value in unattended.items()}
        raw["unattended"] = UnattendedSettings(**bounds)
    media = raw.pop("media", None)
    if media is not None:
        raw["media"] = MediaSettings(**{key.lower(): value for key, value in media.items()})
    retention = raw.pop("retention", None)
    if retention is not None:
        kept = {key.lower(): value for key, value in retention.items()}
        raw["retention"] = RetentionSettings(**kept)
    webhooks = raw.pop("webhooks", None)
    if webhooks is not None:
        raw["webhooks"] = WebhookSettings(**{k.lower(): value for k, value in webhooks.items()})
    return GatewaySettings(**raw)


def _approvals(raw: dict[str, Any]) -> dict[str, Any]:
    lasting = {
        Reach.SESSION: Lasting(_level(raw["SESSION_UP_TO"]), raw["SESSION_HOURS"] * 3600),
        Reach.ALWAYS: Lasting(_level(raw["ALWAYS_UP_TO"]), raw["ALWAYS_DAYS"] * 86_400),
    }
    return {
        "approval_timeout": timedelta(seconds=raw["TIMEOUT"]),
        "members_approve": _level(raw["MEMBERS_UP_TO"]),
        "lasting_approvals": lasting,
    }


def _prices(said: str) -> dict[str, Price]:
    try:
        return prices.parse(said)
    except ValueError as error:
        message = (
            f"HERMES_MODEL_PRICES cannot be read at {str(error)!r}: write what a million tokens"
            " cost that go in, and that come out, such as gpt-5=1.25/10, and commas between models."
        )
        raise Misconfigured(message) from error


def _level(name: str) -> RiskLevel | None:
    return None if name.lower() == "none" else RiskLevel(name.lower())
