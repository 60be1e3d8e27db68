"""Webhooks as a platform: an account is a receiver that messages are posted to, signed.

errors      why a request is not taken, and what is wrong with a setting
signing     the signatures of Standard Webhooks, made and compared
schemes     how senders prove that a request is theirs
wire        what a genuine request says
templates   from an event to a prompt
conf        what staff may set for a receiver
formatting  what a webhook says
refusals    what a receiver's answer means
adapter     the way out

What comes in is taken in by `gateway.webhooks`, over the site.
"""

from delivery.ports import Certainty, Dialect, Rates
from gateway.conf import gateway_settings
from gateway.platforms.webhook import conf, formatting
from gateway.ports import AccountConfig, Adapter, Capabilities

KIND = "webhook"

CAPABILITIES = Capabilities(
    limit=formatting.MAXIMUM,
    # A receiver of Standard Webhooks drops what comes again with the same `webhook-id`.
    certainty=Certainty.IDEMPOTENT,
    native_markdown=True,
)


class WebhookPlatform:
    """Receivers of webhooks (`gateway.ports.Platform`)."""

    kind: str = KIND
    title: str = "Webhook"
    capabilities: Capabilities = CAPABILITIES
    dialect: Dialect = formatting.dialect()

    def build_adapter(self, config: AccountConfig) -> Adapter:
        """An adapter for one receiver; the HTTP client is imported here, not before."""
        from gateway.fetching.posting import GuardedPoster  # noqa: PLC0415
        from gateway.platforms.webhook.adapter import WebhookAdapter  # noqa: PLC0415

        is_private_fine = gateway_settings().webhooks.allow_private
        poster = GuardedPoster(is_private_fine=is_private_fine)
        return WebhookAdapter(config, poster, is_private_fine=is_private_fine)

    def rates(self, config: AccountConfig) -> Rates:  # noqa: ARG002 - the port
        """A receiver says itself when it is too much."""
        return Rates()

    def problems(self, config: AccountConfig) -> list[str]:
        """What is wrong with a receiver's settings, in words."""
        return conf.problems(config, is_private_fine=gateway_settings().webhooks.allow_private)

    def problem_with_user_id(self, text: str) -> str:  # noqa: ARG002 - the port
        """Nobody is let in by id."""
        return "Nobody writes from there: an endpoint lets in whoever has its secret."


platform = WebhookPlatform()
