"""What an endpoint makes of a request, for whoever sets it up."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from gateway.platforms.webhook import samples, templates, wire
from gateway.platforms.webhook.schemes import Request
from gateway.webhooks import endpoints, receiving
from gateway.webhooks.models import Endpoint
from gateway.webhooks.receiving import Taken


@dataclass(frozen=True)
class Tried:
    """What an endpoint would do with an event.

    Attributes:
        event: The kind of event, as the filter names it.
        is_wanted: The filter lets it begin a turn.
        prompt: What the agent would be told.
    """

    event: str
    is_wanted: bool
    prompt: str


def sample(endpoint: Endpoint, body: bytes, event: str, *, now: datetime) -> Request:
    """A request as the endpoint's sender would make it, signed with its present secret.

    Raises:
        BadSecret: The secret cannot be read with this installation's key.
    """
    secret = endpoints.secrets_of(endpoint, now)[0]
    return samples.request(
        endpoint.rule,
        endpoint.sources,
        secret,
        body=body,
        event=event,
        event_id=f"try-{uuid.uuid4()}",
        now=now,
    )


def foresee(endpoint: Endpoint, request: Request, *, now: datetime) -> Tried:
    """What would become of a request; nothing is stored.

    Raises:
        NotTaken: It would be refused.
    """
    event = receiving.understood(endpoint, request, now=now)
    return Tried(
        event=event.name,
        is_wanted=wire.wants(endpoint.events, event.name),
        prompt=templates.render(endpoint.template, event, endpoint=endpoint.name),
    )


def send(endpoint: Endpoint, request: Request, *, now: datetime) -> Taken:
    """Take a request in as if its sender had posted it.

    Raises:
        NotTaken, TooMany: As `receiving.receive` says.
    """
    return receiving.receive(endpoint, request, now=now)
