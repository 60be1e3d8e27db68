"""Telegram, as the registry knows it: `platform`.

Nothing here opens a connection or imports the client library; `build_adapter` does.
"""

from datetime import timedelta

from delivery.content import Limit, Unit
from delivery.ports import Certainty, Dialect, Rate, Rates
from gateway.platforms.telegram import conf
from gateway.platforms.telegram.formatting import TelegramDialect
from gateway.platforms.telegram.wire import PLATFORM
from gateway.ports import AccountConfig, Adapter, Capabilities

# A group takes about 20 messages and edits a minute; a private chat about one a second.
# Source: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
GROUP_EDIT_INTERVAL = timedelta(seconds=3)

# About 30 messages a second in all, 20 a minute in a group, and one a second in a private chat,
# where short bursts pass: those are let through. More in all can be bought for a bot, and who runs
# a server of their own knows what it takes, so there only its 429 counts.
# Source: the same page, "avoid sending more than".
LIMITS = Rates(account=Rate(30, 1.0), private=Rate(20, 20.0), group=Rate(20, 60.0))

CAPABILITIES = Capabilities(
    limit=Limit(4096, Unit.UTF16),
    certainty=Certainty.UNCERTAIN,  # the Bot API has no idempotency key and no way to look
    threads=True,
    editing=True,
    typing=True,
    reactions=True,
    buttons=True,
    multi_select=True,
    groups_need_reply=True,  # privacy mode, on by default: core.telegram.org/bots/features
    images=True,
    files=True,
    voice=True,
    max_caption_length=1024,
    max_file_bytes=50_000_000,  # uploads: https://core.telegram.org/bots/api#sending-files
    max_photo_bytes=10_000_000,
    max_buttons=100,
    callback_data_bytes=64,
    minimum_edit_interval=timedelta(seconds=1),
    group_edit_interval=GROUP_EDIT_INTERVAL,
    typing_period=timedelta(seconds=4),
)


class TelegramPlatform:
    """Telegram: pure facts, and how to open a connection (`gateway.ports.Platform`)."""

    kind: str = PLATFORM
    title: str = "Telegram"
    capabilities: Capabilities = CAPABILITIES
    dialect: Dialect = TelegramDialect()

    def build_adapter(self, config: AccountConfig) -> Adapter:
        """An adapter for one account; the client library is imported here, not before."""
        from gateway.platforms.telegram.adapter import TelegramAdapter  # noqa: PLC0415

        return TelegramAdapter(config)

    def rates(self, config: AccountConfig) -> Rates:
        """Telegram's own limits; of another Bot API server only what holds for each of them."""
        is_own = "api_base_url" in config.options
        return Rates(group=LIMITS.group) if is_own else LIMITS

    def problems(self, config: AccountConfig) -> list[str]:
        """What is wrong with an account's settings, in words."""
        return [*conf.problems(config), *conf.unknown_options(config)]

    def problem_with_user_id(self, text: str) -> str:
        """Why `text` is no person's id."""
        return conf.problem_with_user_id(text)


platform = TelegramPlatform()
