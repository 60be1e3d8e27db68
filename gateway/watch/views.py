"""The health page: the three layers as they stand, for staff."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache

from gateway.watch import incidents, judging, looking
from gateway.watch.models import Incident
from gateway.watch.sights import Finding, Layer, Severity, Sight

LATELY_OVER = 10

TITLES = {
    Layer.PLATFORM: _("Connections"),
    Layer.EXECUTION: _("Work"),
    Layer.DELIVERY: _("Deliveries"),
}


@dataclass(frozen=True)
class Part:
    """One layer of the page.

    Attributes:
        layer: Which.
        title: What it is called.
        findings: What is wrong in it.
        facts: How it stands otherwise: a name and a value each.
    """

    layer: Layer
    title: str | Promise
    findings: list[Finding]
    facts: list[tuple[str | Promise, str | int | datetime | None]]

    @property
    def is_bad(self) -> bool:
        """Whether something in it does not work."""
        return any(one.severity is Severity.ERROR for one in self.findings)


@never_cache
@login_required
def health(request: HttpRequest) -> HttpResponse:
    """Everything the watchdog sees now, layer by layer, and what was wrong lately."""
    if not request.user.has_perm("watch.view_incident"):
        raise PermissionDenied
    now = timezone.now()
    sight = looking.look(now=now)
    found = _since_when(judging.findings(sight))
    parts = [
        Part(layer, TITLES[layer], [one for one in found if one.layer is layer], facts)
        for layer, facts in _facts(sight).items()
    ]
    over = Incident.objects.filter(closed_at__isnull=False).order_by("-closed_at")[:LATELY_OVER]
    told = {"parts": parts, "at": now, "over": over, "count": len(found), "sight": sight}
    return render(request, "watch/health.html", told)


def _since_when(found: Iterable[Finding]) -> list[Finding]:
    """The findings, with the time since when the rounds have seen them where it is not known."""
    known = dict(incidents.still_open().values_list("key", "since"))
    return [one if one.since else replace(one, since=known.get(one.key)) for one in found]


def _facts(sight: Sight) -> dict[Layer, list[tuple[str | Promise, str | int | datetime | None]]]:
    work = sight.execution
    owed = [one.owed_since for one in sight.accounts if one.owed_since]
    return {
        Layer.PLATFORM: [
            (_("Enabled accounts"), len(sight.accounts)),
            (_("Connected"), sum(one.state == "ready" for one in sight.accounts)),
        ],
        Layer.EXECUTION: [
            (_("Processes seen"), ", ".join(sorted(work.alive)) or "–"),
            (_("Running turns"), f"{work.running} / {work.capacity}"),
            (_("Waiting for a worker"), work.due),
        ],
        Layer.DELIVERY: [
            (_("Owed"), sum(one.owed for one in sight.accounts)),
            (_("The oldest since"), min(owed, default=None)),
            (_("Given up within an hour"), sight.delivery.abandoned),
        ],
    }
