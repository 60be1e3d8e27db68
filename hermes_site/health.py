"""Is it alive, and is it ready: two pages for supervisors and load balancers."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.utils import timezone

from delivery.database import DATABASE_TROUBLE
from gateway import backing, processes
from gateway.models import Account, AccountState


def healthz(request: HttpRequest) -> JsonResponse:  # noqa: ARG001 - a view
    """The process answers."""
    return JsonResponse({"alive": True})


def readyz(request: HttpRequest) -> JsonResponse:  # noqa: ARG001 - a view
    """Everything that an answer needs is there; 503 with what is missing otherwise."""
    parts = {name: check() for name, check in CHECKS.items()}
    is_ready = all(word == "ok" for word in parts.values())
    told = {"ready": is_ready, "parts": parts, "alarms": _alarms()}
    response = JsonResponse(told, status=200 if is_ready else 503)
    # Django would log every 503 as an error, ten times a second while the site is starting.
    response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001
    return response


def _alarms() -> list[str]:
    """What needs a person, though the site works: a restart would mend none of it.

    Anybody may read this page, so the accounts are counted and not named; `doctor` names them.
    """
    try:
        refused = Account.objects.filter(is_enabled=True, state=AccountState.AUTH_FAILED).count()
    except DATABASE_TROUBLE:
        return []
    if not refused:
        return []
    return [f"credentials of accounts are refused: {refused}; run manage.py doctor"]


def _database() -> str:
    try:
        if backing.missing_migrations():
            return "migrations are missing: run manage.py migrate"
    except DATABASE_TROUBLE as error:
        return f"the database does not answer ({type(error).__name__})"
    return "ok"


def _broker() -> str:
    # Not where it is: anybody may read this page.
    return "the broker does not answer" if backing.broker_refusal(settings.REDIS_URL) else "ok"


def _process(kind: str) -> Callable[[], str]:
    def check() -> str:
        try:
            is_alive = processes.alive(kind, now=timezone.now())
        except DATABASE_TROUBLE:
            return "unknown"
        return "ok" if is_alive else f"no {kind} was seen lately"

    return check


CHECKS: dict[str, Callable[[], str]] = {
    "database": _database,
    "broker": _broker,
    "gateway": _process("gateway"),
    "worker": _process("worker"),
    "beat": _process("beat"),
}
