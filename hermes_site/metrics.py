"""`/metrics`, for monitoring only: it names accounts and says how much is going on."""

import hmac
import ipaddress

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from delivery.database import DATABASE_TROUBLE
from gateway import metrics
from gateway.metrics.exposition import CONTENT_TYPE

CLOSED = (
    "Only from this host itself, and not through a proxy; for others set HERMES_METRICS_TOKEN and"
    " send it as `Authorization: Bearer …`.\n"
)
WRONG = "Send the token of HERMES_METRICS_TOKEN as `Authorization: Bearer …`.\n"
# What proxies add: whoever asks through one on this host only seems to be here.
PROXIED = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP")


def metrics_page(request: HttpRequest) -> HttpResponse:
    """Everything that is measured, or why the caller may not see it."""
    refusal = _refusal(request)
    if refusal is not None:
        return refusal
    try:
        text = metrics.page(now=timezone.now())
    except DATABASE_TROUBLE as error:
        words = f"The database does not answer ({type(error).__name__}).\n"
        return HttpResponse(words, status=503, content_type="text/plain; charset=utf-8")
    return HttpResponse(text, content_type=CONTENT_TYPE)


def _refusal(request: HttpRequest) -> HttpResponse | None:
    token: str = settings.METRICS_TOKEN
    if not token:
        return None if _is_here(request) else _refused(CLOSED, 403)
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    is_right = hmac.compare_digest(given.strip().encode(), token.encode())
    if scheme.lower() == "bearer" and is_right:
        return None
    response = _refused(WRONG, 401)
    response["WWW-Authenticate"] = "Bearer"
    return response


def _refused(words: str, status: int) -> HttpResponse:
    return HttpResponse(words, status=status, content_type="text/plain; charset=utf-8")


def _is_here(request: HttpRequest) -> bool:
    """Whether the caller is a program on this host."""
    if any(name in request.META for name in PROXIED):
        return False
    try:
        return ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
