"""How many tries to log in are free, and how long one waits after that. Pure.

Three counts, because each alone can be walked around, or turned against people: of a name from one
address, of a name from everywhere, and of an address with any name. Who logged in from an address
before is held to the first of them only: an attacker elsewhere, or next to them behind the same
router, locks nobody out of where they usually are.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from ipaddress import IPv6Address, ip_address, ip_network


class Count(StrEnum):
    """What is counted."""

    PAIR = "pair"  # one name from one address
    NAME = "name"  # one name from anywhere
    ADDRESS = "address"  # any name from one address


@dataclass(frozen=True)
class Limit:
    """How one count is limited.

    Attributes:
        free: Tries that fail before anybody waits.
        first: The wait after the next one; it doubles with each more.
        longest: No wait is longer.
    """

    free: int
    first: timedelta
    longest: timedelta


LIMITS = {
    Count.PAIR: Limit(5, timedelta(seconds=15), timedelta(minutes=15)),
    Count.NAME: Limit(20, timedelta(minutes=1), timedelta(minutes=15)),
    Count.ADDRESS: Limit(50, timedelta(minutes=1), timedelta(minutes=15)),
}
FORGOTTEN = timedelta(hours=1)  # without a failure


@dataclass(frozen=True)
class Failures:
    """What is known of one count.

    Attributes:
        number: How many tries in a row failed.
        last_at: When the last of them did; None for never.
    """

    number: int = 0
    last_at: datetime | None = None


def wait(
    failures: dict[Count, Failures], *, is_known: bool, now: datetime
) -> tuple[timedelta, Count | None]:
    """How long a try must wait from now on; no time if it may be made.

    Args:
        failures: Of each count.
        is_known: The name has logged in from that address before.
        now: The present.

    Returns:
        The longest of the waits, and whose it is; None if there is none.
    """
    counts = [Count.PAIR] if is_known else list(Count)
    waits = [(_wait(LIMITS[count], failures[count], now), count) for count in counts]
    longest, count = max(waits, key=lambda one: one[0])
    return (longest, count) if longest > timedelta(0) else (timedelta(0), None)


def _wait(limit: Limit, failures: Failures, now: datetime) -> timedelta:
    over = failures.number - limit.free
    if failures.last_at is None or over < 0 or now - failures.last_at >= FORGOTTEN:
        return timedelta(0)
    doublings = min(over, 16)  # beyond that it is the longest anyway
    pause: timedelta = min(limit.first * (1 << doublings), limit.longest)
    return max(failures.last_at + pause - now, timedelta(0))


def network(address: str) -> str:
    """What counts as one address: an IPv4 address, or the network that one IPv6 customer has.

    Args:
        address: As the server names the peer; empty or anything if it does not know.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ip_network((parsed, 64), strict=False))
    return str(parsed)


def peer(remote: str, forwarded: str, *, proxies: list[str]) -> str:
    """Who really asks, behind proxies that can be believed.

    Args:
        remote: The address that the connection comes from.
        forwarded: The header X-Forwarded-For, in which each proxy adds whom it was asked by.
        proxies: Networks of proxies besides this host that are believed.
    """
    believed = [ip_network(each, strict=False) for each in ("127.0.0.0/8", "::1/128", *proxies)]
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    current = remote
    while hops:
        try:
            address = ip_address(current)
        except ValueError:
            return current
        if not any(address in each for each in believed if each.version == address.version):
            return current
        current = hops.pop()
    return current


def in_words(pause: timedelta) -> tuple[int, bool]:
    """A wait as people say it: a number, and whether it is of minutes rather than seconds."""
    seconds = max(int(pause.total_seconds() + 0.999), 1)
    return (-(-seconds // 60), True) if seconds > 90 else (seconds, False)
