"""The browser Control UI as a platform.

Its timeline is the ledger itself: a part is accepted the moment it is marked as visible there, and
that can be done any number of times, so nothing is ever doubled.
"""

from dataclasses import dataclass, field

from delivery.content import Limit, Unit
from delivery.ports import Certainty, Dialect, Rates
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
            file_links=True,
            shows_at_once=True,
            shows_queue=True,
        )
    )
    dialect: Dialect = field(default_factory=ConsoleDialect)

    def build_adapter(self, config: AccountConfig) -> Adapter:
        """The adapter of one console account."""
        return ConsoleAdapter(config)

    def rates(self, config: AccountConfig) -> Rates:  # noqa: ARG002 - the port
        """The ledger is the timeline: nothing limits it."""
        return Rates()

    def problems(self, config: AccountConfig) -> list[str]:
        """There is one Control UI; its account is made at the first start and has no settings."""
        if config.slug != self.kind:
            return [f"There is one Control UI, and its account is {self.kind}: it needs no other."]
        if config.secret or config.options:
            return ["The Control UI has neither a credential nor options: leave them out."]
        return []

    def problem_with_user_id(self, text: str) -> str:  # noqa: ARG002 - the port
        """Nobody is let in by id."""
        return "Everybody with a login may use the Control UI: add a user in the admin instead."


platform = ConsolePlatform()
