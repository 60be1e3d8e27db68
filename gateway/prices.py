"""What model calls cost in money. Pure."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

MILLION = Decimal(1_000_000)
SHOWN = Decimal("0.0001")


@dataclass(frozen=True)
class Price:
    """What a million tokens of a model cost.

    Attributes:
        input: Tokens that it reads.
        output: Tokens that it writes.
        cached: Tokens that it reads from a cache; None: as those it reads.
    """

    input: Decimal
    output: Decimal
    cached: Decimal | None = None


def cost(price: Price, *, read: int, cached: int, written: int) -> Decimal:
    """What a use of a model costs.

    Args:
        price: What it costs there.
        read: Tokens that it read, all of them.
        cached: Those of them that came from a cache.
        written: Tokens that it wrote.
    """
    known = min(cached, read)
    by_cache = price.input if price.cached is None else price.cached
    total = (read - known) * price.input + known * by_cache + written * price.output
    return total / MILLION


def shown(amount: Decimal) -> str:
    """An amount as people read it: to a hundredth of a cent."""
    return str(amount.quantize(SHOWN, ROUND_HALF_UP))


def parse(text: str) -> dict[str, Price]:
    """The prices in a setting such as `gpt-5=1.25/10, small=0.1/0.4/0.01`.

    Each is the model's name, then what a million tokens cost that it reads, that it writes, and,
    if that differs, that it reads from a cache.

    Raises:
        ValueError: It cannot be read; the text says which part.
    """
    prices = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, sign, amounts = entry.rpartition("=")
        numbers = [_amount(each, entry) for each in amounts.split("/")]
        if not sign or not name.strip() or len(numbers) not in {2, 3}:
            raise ValueError(entry)
        prices[name.strip()] = Price(*numbers)
    return prices


def _amount(text: str, entry: str) -> Decimal:
    plain = text.strip()
    if not plain.replace(".", "", 1).isdecimal() or not plain.isascii():
        raise ValueError(entry)
    return Decimal(plain)
