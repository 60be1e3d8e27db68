"""The browser Control UI as a platform.

Its timeline is the ledger itself: a part is accepted the moment it is marked as visible there, and
that can be done any number of times, so nothing is ever doubled.
"""

from dataclasses import dataclass, field

from delivery.content import Limit, Unit
from delivery.ports import Certainty, Dialect
from gateway.platforms.console.adapter import ConsoleAdapter
from gateway.platforms.console.formatting import ConsoleDialect
from gateway.ports import AccountConfig, Adapter, Capabilities


@dataclass(frozen=True)
class ConsolePlatform:
    """The Control UI."""

    kind: str = "console"
    title: str = "Control UI"
    capabilities: Capabilities = field(
        default_factory=lambda: Capabilities(
            limit=Limit(200_000, Unit.CHARACTERS),
            certainty=Certainty.IDEMPOTENT,
            native_markdown=True,
            shows_at_once=True,
        )
    )
    dialect: Dialect = field(default_factory=ConsoleDialect)

    def build_adapter(self, config: AccountConfig) -> Adapter:
        """The adapter of one console account."""
        return ConsoleAdapter(config)


platform = ConsolePlatform()
