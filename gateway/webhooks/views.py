"""HTTP in, HTTP out: each request is one call inward, and every refusal is a problem in words.

Source: RFC 9457 (problem details), RFC 9110 (405 with Allow, 429 and 503 with Retry-After).
"""

import logging
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from delivery.database import DATABASE_AWAY
from gateway.errors import BadSecret
from gateway.platforms.webhook.errors import NotTaken
from gateway.platforms.webhook.schemes import Kind, Request
from gateway.platforms.webhook.wire import headers_of
from gateway.webhooks import receiving
from gateway.webhooks.errors import TooLarge, TooMany, Turned
from gateway.webhooks.models import Endpoint
from gateway.webhooks.receiving import Status, Taken

logger = logging.getLogger(__name__)

PROBLEM = "application/problem+json"
AWAY = (
    "This server cannot store anything at the moment, so nothing was taken. Send the same again;"
    " whoever runs it sees in its log why."
)
LATER_SECONDS = 10
MOST_DIGITS = 15  # of a length that anybody means; a number of thousands of them is not even read


@csrf_exempt  # a signature proves more than a cookie could
def webhook(request: HttpRequest, name: str) -> HttpResponse:
    """One request to an endpoint."""
    if request.method != "POST":
        words = "Events are posted here; there is nothing to look at."
        answer = _problem(405, "Only POST is taken here", words)
        answer.headers["Allow"] = "POST"
        return answer
    try:
        endpoint = receiving.listening(name)
        came = Request(headers=headers_of(request.headers), body=_body(request, endpoint))
        taken = receiving.receive(endpoint, came, now=timezone.now())
    except (NotTaken, Turned) as error:
        return _refused(error)
    except (BadSecret, *DATABASE_AWAY):
        logger.exception("A webhook could not be taken", extra={"endpoint": name})
        return _later(_problem(503, "Not now", AWAY), LATER_SECONDS)
    return _answered(taken, endpoint.kind)


def _body(request: HttpRequest, endpoint: Endpoint) -> bytes:
    """The body as it was sent, as long as it is not too large.

    Raises:
        TooLarge: It is; no more than the limit was read.
    """
    most = endpoint.max_bytes
    announced = request.headers.get("Content-Length", "")
    digits = announced if announced.isascii() and announced.isdecimal() else "0"
    is_too_long = len(digits) > MOST_DIGITS or int(digits) > most
    body = b"" if is_too_long else request.read(most + 1)
    if is_too_long or len(body) > most:
        message = f"This endpoint takes {most} bytes. Send less, or ask its owner to take more."
        raise TooLarge(message)
    return body


def _answered(taken: Taken, kind: Kind) -> HttpResponse:
    if taken.status is Status.CHALLENGED:
        return JsonResponse({"challenge": taken.challenge})
    if kind is Kind.SLACK:  # it shows people what a command is answered with, so it gets nothing
        return HttpResponse(status=200)
    told = {"status": taken.status.value, "id": taken.event_id}
    return JsonResponse(told, status=202 if taken.status is Status.ACCEPTED else 200)


def _refused(error: NotTaken | Turned) -> HttpResponse:
    answer = _problem(error.status, error.title, str(error))
    if error.status == 401:
        answer.headers["WWW-Authenticate"] = "Signature"
    return _later(answer, error.retry_after) if isinstance(error, TooMany) else answer


def _later(answer: HttpResponse, seconds: int) -> HttpResponse:
    answer.headers["Retry-After"] = str(seconds)
    return answer


def _problem(status: int, title: str, detail: str) -> HttpResponse:
    facts: dict[str, Any] = {"title": title, "status": status, "detail": detail}
    return JsonResponse(facts, status=status, content_type=PROBLEM)
