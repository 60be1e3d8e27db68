"""HTTP in, HTTP out: what a platform tells is stored before it is answered ([P3])."""

import logging

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from delivery import hints
from delivery.database import DATABASE_AWAY
from gateway import accounts, deeds, intake, platforms
from gateway.errors import BadSecret, UnknownPlatform
from gateway.messages import Inbound
from gateway.models import Account
from gateway.ports import HearsRequests, Request

logger = logging.getLogger(__name__)


@csrf_exempt  # the platform proves who it is by itself
def door(request: HttpRequest, slug: str) -> HttpResponse:
    """One request of a platform's to one account."""
    if request.method != "POST":
        return HttpResponse("Platforms post here.\n", status=405, headers={"Allow": "POST"})
    try:
        return _heard(slug, request)
    except RequestDataTooBig:
        return HttpResponse("That is too large.\n", status=413)
    except (BadSecret, *DATABASE_AWAY):
        # The platform tells it again.
        logger.exception("What a platform told could not be stored", extra={"account": slug})
        return HttpResponse("Not now.\n", status=503, headers={"Retry-After": "5"})


def _heard(slug: str, request: HttpRequest) -> HttpResponse:
    account = Account.objects.filter(slug=slug, is_enabled=True).first()
    platform = _listening(account)
    if account is None or platform is None:
        return HttpResponse("Nobody listens here.\n", status=404)
    told = Request(
        headers={name.lower(): value for name, value in request.headers.items()},
        body=request.body,
        at=timezone.now(),
    )
    answer = platform.hear(accounts.config_of(account), account.bot_id, told)
    if answer.status >= 400:
        logger.warning(
            "A request to an account was refused: %s", answer.body, extra={"account": slug}
        )
    for event in answer.events:
        _take(slug, event)
    return HttpResponse(answer.body, status=answer.status, content_type=answer.content_type)


def _listening(account: Account | None) -> HearsRequests | None:
    try:
        platform: object = platforms.get(account.platform) if account else None
    except UnknownPlatform:
        return None
    return platform if isinstance(platform, HearsRequests) else None


def _take(slug: str, event: Inbound) -> None:
    for deed in intake.take(slug, event, now=timezone.now()):
        hints.publish(hints.outbox_group(slug), "deed", deed=deeds.as_plain(deed))
