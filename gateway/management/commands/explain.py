"""`manage.py explain <id>`: the whole life of one message, and who holds it."""

import json
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone
from typing_extensions import override

from gateway import explaining, tracing
from gateway.management.house import HouseCommand


class Command(HouseCommand):
    help = "Tell the whole life of one message, and name the layer that holds it now."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", help=tracing.HOW_TO_NAME)
        parser.add_argument("--json", action="store_true", help="as JSON, for programs")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        del args
        explanation = explaining.explain(tracing.trace(options["id"], now=timezone.now()))
        if options["json"]:
            self.say(json.dumps(explanation.as_dict(), ensure_ascii=False, indent=2))
        else:
            self.say(explanation.as_text())
