"""A receiver of webhooks for tests: `WebhookPeer`."""

from tests.peers.faults import Fault, Faults
from tests.peers.webhook.peer import Post, WebhookPeer

__all__ = ["Fault", "Faults", "Post", "WebhookPeer"]
