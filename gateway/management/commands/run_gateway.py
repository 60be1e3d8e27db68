"""`manage.py run_gateway`: the process that holds the platform connections."""

import asyncio
import signal
from typing import Any

from django.core.management.base import BaseCommand
from typing_extensions import override

from gateway.runner.process import GatewayProcess


class Command(BaseCommand):
    help = "Serve the accounts: their connections and their outboxes."

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        del args, options
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        stopping = asyncio.Event()
        loop = asyncio.get_running_loop()
        for signum in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(signum, stopping.set)
        await GatewayProcess().run(stopping)
