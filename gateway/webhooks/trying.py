"""What an endpoint makes of a request, for whoever sets it up."""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from gateway.errors import NotPossible
from gateway.platforms.webhook import samples, templates, wire
from gateway.platforms.webhook.errors import NotTaken
from gateway.platforms.webhook.schemes import Kind, Request
from gateway.webhooks import endpoints, receiving
from gateway.webhooks.errors import Turned
from gateway.webhooks.models import Endpoint
from gateway.webhooks.receiving import Taken

SCHEMES = [kind.value for kind in Kind]
USUAL_SCHEME = Kind.STANDARD.value
BODY = json.dumps(samples.BODY).encode()


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
        NotPossible: It would be refused.
    """
    with _refusals_in_words():
        event = receiving.understood(endpoint, request, now=now)
    return Tried(
        event=event.name,
        is_wanted=wire.wants(endpoint.events, event.name),
        prompt=templates.render(endpoint.template, event, endpoint=endpoint.name),
    )


def send(endpoint: Endpoint, request: Request, *, now: datetime) -> Taken:
    """Take a request in as if its sender had posted it.

    Raises:
        NotPossible: It is refused.
    """
    with _refusals_in_words():
        return receiving.receive(endpoint, request, now=now)


def script(endpoint: Endpoint) -> str:
    """Lines for a shell that post an event to the endpoint, with its secret in `SECRET`."""
    return samples.script(endpoint.rule, endpoint.sources, endpoints.url_of(endpoint))


@contextmanager
def _refusals_in_words() -> Iterator[None]:
    try:
        yield
    except (NotTaken, Turned) as error:
        message = f"It would be refused: {error.title}. {error}"
        raise NotPossible(message) from error
