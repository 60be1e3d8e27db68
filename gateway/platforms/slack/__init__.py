"""Slack, as the registry knows it: `platform`.

Nothing here opens a connection or imports the client library; `build_adapter` does.
"""

from datetime import timedelta

from delivery.content import Limit, Unit
from delivery.dialects import slack
from delivery.ports import Certainty, Dialect, Rate, Rates
from gateway.platforms.slack import conf, requests
from gateway.platforms.slack.places import PLATFORM
from gateway.ports import AccountConfig, Adapter, Answer, Capabilities, Request

# What one section of a message with controls holds; a message without any would take 4000.
# Source: https://docs.slack.dev/reference/block-kit/blocks/section-block
MESSAGE = Limit(3000, Unit.CHARACTERS)

# One message a second in a conversation, where short bursts pass, "and several hundred a minute"
# in a workspace.
# Source: https://docs.slack.dev/apis/web-api/rate-limits, "posting messages"
LIMITS = Rates(account=Rate(300, 60.0), private=Rate(10, 10.0), group=Rate(10, 10.0))

# chat.update takes some fifty a minute in the whole workspace (tier 3).
EDIT_INTERVAL = timedelta(seconds=1.5)
GROUP_EDIT_INTERVAL = timedelta(seconds=3)

CAPABILITIES = Capabilities(
    limit=MESSAGE,
    certainty=Certainty.READABLE,  # each message carries a key that can be read back
    threads=True,
    editing=True,
    typing=True,
    buttons=True,
    multi_select=True,
    modals=True,
    toasts=False,  # a notice is a message, if one that only they see
    threads_hang=True,
    images=True,
    files=True,
    voice=True,
    max_caption_length=3000,
    max_file_bytes=1_000_000_000,  # slack.com/help/articles/201330736
    max_photo_bytes=1_000_000_000,
    max_buttons=25 * 49,
    callback_data_bytes=2000,
    minimum_edit_interval=EDIT_INTERVAL,
    group_edit_interval=GROUP_EDIT_INTERVAL,
    typing_period=timedelta(seconds=60),  # a status stands for two minutes
)


class SlackPlatform:
    """Slack: pure facts, and how to open a connection (`gateway.ports.Platform`)."""

    kind: str = PLATFORM
    title: str = "Slack"
    capabilities: Capabilities = CAPABILITIES
    dialect: Dialect = slack(MESSAGE)

    def build_adapter(self, config: AccountConfig) -> Adapter:
        """An adapter for one account; the client library is imported here, not before."""
        from gateway.platforms.slack.adapter import SlackAdapter  # noqa: PLC0415

        return SlackAdapter(config)

    def hear(self, config: AccountConfig, bot_id: str, request: Request) -> Answer:
        """What a signed request says (`gateway.ports.HearsRequests`)."""
        return requests.hear(config, bot_id, request)

    def rates(self, config: AccountConfig) -> Rates:  # noqa: ARG002 - the port
        """Slack's own limits."""
        return LIMITS

    def problems(self, config: AccountConfig) -> list[str]:
        """What is wrong with an account's settings, in words."""
        return [*conf.problems(config), *conf.unknown_options(config)]

    def problem_with_user_id(self, text: str) -> str:
        """Why `text` is no person's id."""
        return conf.problem_with_user_id(text)


platform = SlackPlatform()
