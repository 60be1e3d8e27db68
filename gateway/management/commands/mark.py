"""`manage.py mark ID`: what stands for somebody's id in the logs."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from typing_extensions import override

from delivery import masking
from gateway.management.house import HouseCommand


class Command(HouseCommand):
    help = "What stands in the logs for the id of a person or of their private chat."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", help="the platform's id, as the admin and /whoami show it")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        del args
        self.say(masking.mark(options["id"], settings.SECRET_KEY))
