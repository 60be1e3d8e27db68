"""`manage.py doctor`: what is wrong with this installation, and how to mend it."""

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from typing_extensions import override

from gateway import doctoring
from gateway.doctoring import Finding, Severity
from gateway.management.house import HouseCommand


class Command(HouseCommand):
    help = "Look at everything an answer needs, and say how to mend what is wrong."
    requires_system_checks: list[str] = []

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--offline", action="store_true", help="connect to no platform and no model"
        )
        parser.add_argument("--json", action="store_true", help="as JSON, for programs")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        del args
        found: list[Finding] = []
        for finding in doctoring.examine(live=not options["offline"], clock=timezone.now):
            found.append(finding)
            if not options["json"]:
                self._show(finding)
        if options["json"]:
            self.say(json.dumps([asdict(finding) for finding in found], indent=2))
        errors = sum(finding.severity is Severity.ERROR for finding in found)
        if errors:
            message = f"{errors} of {len(found)} findings are errors; each says how to mend it."
            raise CommandError(message)

    def _show(self, finding: Finding) -> None:
        style = {
            Severity.OK: self.style.SUCCESS,
            Severity.WARNING: self.style.WARNING,
            Severity.ERROR: self.style.ERROR,
        }[finding.severity]
        self.say(f"{style(finding.severity.ljust(7))}  {finding.subject}: {finding.says}")
        if finding.fix:
            self.say(f"         → {finding.fix}")
