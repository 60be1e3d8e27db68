"""What turns and sessions have cost: kept with the turn, added up for people ([S4])."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

from gateway import prices
from gateway.agents.configured import model_config
from gateway.agents.events import Usage
from gateway.conf import gateway_settings
from gateway.models import Session, Turn

COUNTERS = tuple(field.name for field in fields(Usage))


@dataclass(frozen=True)
class Bill:
    """What some turns have cost.

    Attributes:
        usage: In tokens.
        money: In money, as far as prices were known when they ran.
        is_whole: The price of each of them was known.
    """

    usage: Usage
    money: Decimal
    is_whole: bool


def named(model: str) -> str:
    """The name of the model that is asked for `model`, which may be empty for the usual one."""
    return model or model_config().name


def usage_of(row: dict[str, Any]) -> Usage:
    """What a turn's row says that it has cost so far."""
    return Usage(**{name: int(row.get(name, 0)) for name in COUNTERS})


def as_row(usage: Usage, model: str) -> dict[str, Any]:
    """The same for the row, with the price of today: a later one does not change what was paid."""
    settings = gateway_settings()
    row = vars(usage) | {"model": model}
    price = settings.prices.get(model)
    if price is not None:
        paid = prices.cost(
            price,
            read=usage.input_tokens,
            cached=usage.cache_read_tokens,
            written=usage.output_tokens,
        )
        row |= {"cost": str(paid), "currency": settings.currency}
    return row


def of_turns(rows: Iterable[dict[str, Any]]) -> Bill:
    """What the turns with these rows have cost together."""
    usage, money, is_whole = Usage(), Decimal(0), True
    for row in rows:
        usage += usage_of(row)
        money += Decimal(row.get("cost", "0"))
        is_whole = is_whole and ("cost" in row or not row.get("requests"))
    return Bill(usage, money, is_whole)


def of_last_turn(session: Session) -> Bill | None:
    """What the last turn of a session has cost that has asked a model; None if none has."""
    asked = Turn.objects.filter(session=session).exclude(usage={}).order_by("-pk")
    row = asked.values_list("usage", flat=True).first()
    return of_turns([row]) if row else None


def of_session(session: Session) -> Bill:
    """What all turns of a session have cost."""
    return of_turns(Turn.objects.filter(session=session).values_list("usage", flat=True))
