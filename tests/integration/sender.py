"""A service that posts its events to an endpoint of this site, without a network between."""

import json
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from gateway.platforms.webhook import samples
from gateway.webhooks import endpoints
from gateway.webhooks.models import Endpoint


def make_endpoint(name: str = "deploys", *, secret: str = "", **settings: Any) -> Endpoint:
    """An endpoint of Standard Webhooks whose answers stay here."""
    endpoint = Endpoint(name=name, **settings)
    return endpoints.create(endpoint, secret=secret, actor="tests", now=timezone.now()).endpoint


class Sender:
    """Whoever posts to one endpoint, and knows its secret."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint, self.client = endpoint, Client(raise_request_exception=False)
        self.secret = endpoints.secrets_of(endpoint, timezone.now())[0]
        self.number = 0

    def signed(
        self,
        payload: Any,
        *,
        event_id: str = "",
        event: str = "push",
        at: datetime | None = None,
        secret: str = "",
    ) -> tuple[dict[str, str], bytes]:
        """The headers and the body of an event."""
        self.number += 1
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        made = samples.request(
            self.endpoint.rule,
            self.endpoint.sources,
            secret or self.secret,
            body=body,
            event=event,
            event_id=event_id or f"evt-{self.number}",
            now=at or timezone.now(),
        )
        return dict(made.headers), body

    def post(self, payload: Any, **facts: Any) -> HttpResponse:
        """Post an event, signed."""
        return self.send(*self.signed(payload, **facts))

    def send(self, headers: dict[str, str], body: bytes) -> HttpResponse:
        """Post exactly that."""
        headers = dict(headers)
        kind = headers.pop("content-type", "application/json")
        path = f"/hooks/{self.endpoint.name}"
        return self.client.post(path, body, content_type=kind, headers=headers)


def problem(answer: HttpResponse) -> dict[str, Any]:
    """What a refusal says."""
    assert answer.headers["Content-Type"] == "application/problem+json"
    return json.loads(answer.content)
