"""`manage.py render --platform telegram < answer.md`: what a platform will show ([D16])."""

import json
import sys
from typing import Any

from django.core.management.base import CommandParser
from typing_extensions import override

from gateway import rendering
from gateway.management.house import HouseCommand


class Command(HouseCommand):
    help = "Show the parts that a platform is sent for the Markdown on standard input, as JSON."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--platform", required=True, help="for example telegram")
        parser.add_argument(
            "--limit", type=int, help="how much one message may hold; in its own unit"
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        del args
        markdown = sys.stdin.buffer.read().decode("utf-8", "replace")
        parts = rendering.parts(markdown, options["platform"], limit=options["limit"])
        self.say(json.dumps(parts, ensure_ascii=False, indent=2))
