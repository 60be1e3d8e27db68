"""The login form of every page: a name and a password, and no end of guesses."""

import logging
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from typing_extensions import override

from gateway import audit
from gateway.logins import limits, tries
from gateway.logins.limits import Count

logger = logging.getLogger(__name__)

AN_HOUR = timedelta(hours=1)


class _Throttled(AuthenticationForm):
    """Whoever failed too often waits; the form says how long."""

    @override
    def clean(self) -> dict[str, Any]:
        """Check name and password, if it may be tried now."""
        name, address = self.cleaned_data.get("username") or "", address_of(self.request)
        if not name or not self.cleaned_data.get("password"):
            return super().clean()
        now = timezone.now()
        pause, by = tries.begin(name, address, now=now)
        if by is not None:
            _note(by, address)
            raise ValidationError(_wait_words(pause), code="throttled")
        cleaned = super().clean()  # raises if the password is wrong
        tries.succeed(name, address, now=now)
        return cleaned


class PageLoginForm(_Throttled):
    """For the login page of the Control UI."""


class LoginForm(_Throttled, AdminAuthenticationForm):
    """For the login page of the admin."""


def address_of(request: HttpRequest | None) -> str:
    """What counts as the address of whoever asks."""
    if request is None:
        return "unknown"
    forwarded = str(request.META.get("HTTP_X_FORWARDED_FOR", ""))
    remote = str(request.META.get("REMOTE_ADDR", ""))
    return limits.network(limits.peer(remote, forwarded, proxies=settings.TRUSTED_PROXIES))


def _wait_words(pause: timedelta) -> str:
    number, is_minutes = limits.in_words(pause)
    if is_minutes:
        words = _("Too many tries. Wait %(number)s minutes, then try again.")
    else:
        words = _("Too many tries. Wait %(number)s seconds, then try again.")
    return words % {"number": number}


def _note(by: Count, address: str) -> None:
    """For staff: what is being guessed at, and from where."""
    logger.warning("A login was put off", extra={"by": by.value, "address": address})
    subject = f"address:{address}"
    audit.count("login.put_off", subject=subject, within=AN_HOUR, now=timezone.now(), by=by.value)
