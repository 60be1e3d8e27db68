"""Whether an address may be reached. Pure.

A URL that comes with a message, or from a model, may name anything: the machine itself, the
network behind it, a cloud's metadata service. What is allowed is therefore what is certainly
public, not what is not known to be private. Names say nothing: whoever connects asks
`problem_with_address` about the very address it connects to.

Source: the IANA special-purpose address registries for IPv4 and IPv6 (read 2026-11), and the
"ends in a number" rule of https://url.spec.whatwg.org/#host-parsing.
"""

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_network
from urllib.parse import quote, urljoin, urlsplit

from typing_extensions import override

from gateway.fetching.errors import Forbidden

PORTS = frozenset({80, 443})
LONGEST_URL = 4096

_DEFAULT_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_UNFIT = re.compile(r"[\x00-\x20\x7f\\]")

_CLOSED_V4 = tuple(
    (ip_network(network), what)
    for network, what in (
        ("0.0.0.0/8", "this very network"),
        ("10.0.0.0/8", "a private network"),
        ("100.64.0.0/10", "a provider's own network"),
        ("127.0.0.0/8", "this very machine"),
        ("168.63.129.16/32", "a cloud's own services"),  # Azure; it looks public and is not
        ("169.254.0.0/16", "the local link or a cloud's metadata"),
        ("172.16.0.0/12", "a private network"),
        ("192.0.0.0/24", "a reserved network"),
        ("192.0.2.0/24", "a reserved network"),
        ("192.88.99.0/24", "a tunnel"),
        ("192.168.0.0/16", "a private network"),
        ("198.18.0.0/15", "a reserved network"),
        ("198.51.100.0/24", "a reserved network"),
        ("203.0.113.0/24", "a reserved network"),
        ("224.0.0.0/4", "many receivers at once"),
        ("240.0.0.0/4", "a reserved network"),
    )
)
# Only this part of IPv6 is given out to the public; loopback, link-local, unique local, multicast,
# IPv4-mapped and NAT64 addresses (::ffff:0:0/96, 64:ff9b::/96) all lie outside of it.
_PUBLIC_V6 = ip_network("2000::/3")
_CLOSED_V6 = tuple(
    (ip_network(network), what)
    for network, what in (
        ("2001::/23", "a tunnel or a reserved network"),  # Teredo among them
        ("2001:db8::/32", "a reserved network"),
        ("2002::/16", "a tunnel"),  # 6to4: an IPv4 address in disguise
        ("3fff::/20", "a reserved network"),
    )
)


@dataclass(frozen=True)
class Target:
    """A URL that may be asked for, taken apart once and for all.

    Attributes:
        scheme: `http` or `https`.
        host: A name in ASCII, or a literal address without brackets.
        port: Where it listens.
        path: Path and query, percent-encoded.
    """

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> tuple[str, str, int]:
        """What may see the credentials meant for this address."""
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @override
    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"


def read(
    url: str, *, ports: frozenset[int] | None = PORTS, is_private_fine: bool = False
) -> Target:
    """Take a URL apart, if it is of a kind that may be asked for.

    Args:
        url: Any text at all.
        ports: Those that may be connected to; None for any.
        is_private_fine: Whoever runs this installation lets it reach private addresses, too.

    Raises:
        Forbidden: It may not; what it is wrong with stands in the message, the URL does not.
    """
    if len(url) > LONGEST_URL or _UNFIT.search(url):
        raise Forbidden("The address is not a proper one.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise Forbidden("The address is not a proper one.") from error
    if parts.scheme not in _DEFAULT_PORTS:
        raise Forbidden("Only addresses that begin with http:// or https:// are fetched.")
    if "@" in parts.netloc:
        raise Forbidden("The address holds a name or a password, which is not passed on.")
    port = _DEFAULT_PORTS[parts.scheme] if port is None else port
    if ports is not None and port not in ports:
        raise Forbidden(f"Port {port} is not one that files are fetched from.")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/?%:@!$&'()*+,;=~-._")
    host = _host(host, is_private_fine=is_private_fine)
    return Target(parts.scheme, host, port, f"{path}?{query}" if query else path)


def follow(target: Target, location: str, *, ports: frozenset[int] = PORTS) -> Target:
    """Where a redirect leads, read as strictly as any other URL.

    Raises:
        Forbidden: It may not be followed.
    """
    try:
        there = urljoin(str(target), location)
    except ValueError as error:
        raise Forbidden("The address is not a proper one.") from error
    following = read(there, ports=ports)
    if target.scheme == "https" and following.scheme == "http":
        raise Forbidden("It leads from a protected connection to an unprotected one.")
    return following


def problem_with_receiver(url: str, *, is_private_fine: bool) -> str:
    """Why nothing could be posted to `url`, as far as its words tell; empty if it may be tried."""
    try:
        target = read(url, ports=None, is_private_fine=is_private_fine)
    except Forbidden as error:
        return str(error)
    if target.scheme != "https" and not is_private_fine:
        return "The address must begin with https://, so that nobody on the way reads along."
    return ""


def problem_with_address(address: str) -> str:
    """Why an IP address may not be connected to; empty if it is certainly public.

    Args:
        address: As a resolver gives it: `93.184.216.34`, `2606:2800::1`, `fe80::1%eth0`.
    """
    try:
        four = IPv4Address(address)
    except AddressValueError:
        return _problem_with_v6(address)
    return next((_leads_to(what) for network, what in _CLOSED_V4 if four in network), "")


def is_literal(host: str) -> bool:
    """Whether a host is an IP address rather than a name."""
    for kind in (IPv4Address, IPv6Address):
        try:
            kind(host)
        except AddressValueError:
            continue
        return True
    return False


def _problem_with_v6(address: str) -> str:
    try:
        six = IPv6Address(address)
    except AddressValueError:
        return "The address is not a proper one."
    if six not in _PUBLIC_V6 or six.scope_id:
        return _leads_to("this machine or a network of its own")
    return next((_leads_to(what) for network, what in _CLOSED_V6 if six in network), "")


def _leads_to(what: str) -> str:
    return f"The address leads to {what}, not to the public internet."


def _host(host: str, *, is_private_fine: bool) -> str:
    if ":" in host:
        return _literal(host, is_private_fine=is_private_fine)
    try:
        name = host.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError as error:
        raise Forbidden("The address is not a proper one.") from error
    if not _NAME.fullmatch(name) or len(name) > 253:
        raise Forbidden("The address is not a proper one.")
    is_here = name == "localhost" or name.endswith(".localhost")
    if is_here and not is_private_fine:
        raise Forbidden(_leads_to("this very machine"))
    # `127.1`, `0x7f000001` and `017700000001` are read as addresses by one library or another.
    is_number = _NUMBER.fullmatch(name.rpartition(".")[2]) is not None
    return _literal(name, is_private_fine=is_private_fine) if is_number else name


def _literal(host: str, *, is_private_fine: bool) -> str:
    problem = "" if is_private_fine else problem_with_address(host)
    if not is_literal(host):
        raise Forbidden("The address is a number in disguise.")
    if problem:
        raise Forbidden(problem)
    return host
