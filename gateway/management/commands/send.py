"""`manage.py send <account> <chat> <text>`: a message by hand, through the ledger."""

import secrets
import sys
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone
from typing_extensions import override

from gateway import staff
from gateway.management.commands.account import named
from gateway.management.house import HouseCommand, actor


class Command(HouseCommand):
    help = "Owe a message to a chat; the gateway process delivers it like any other."

    @override
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("account", help="whose bot says it: manage.py account list")
        parser.add_argument("chat", help="the platform's id of the chat")
        parser.add_argument("text", help="Markdown; - reads it from standard input")
        parser.add_argument("--thread", default="", help="the thread in the chat")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        del args
        text = options["text"]
        if text == "-":
            text = sys.stdin.buffer.read().decode("utf-8", "replace")
        obligation = staff.send(
            staff.Letter(chat_id=options["chat"], thread_id=options["thread"], text=text),
            named(options["account"]),
            trigger=secrets.token_hex(8),
            actor=actor(),
            now=timezone.now(),
        )
        name = obligation.delivery_id[:12]
        self.say(f"{name} is owed. Follow it: manage.py explain {name}")
