"""Typed readers of the environment: strict, and each refusal a sentence that says what to do."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from django.core.exceptions import ImproperlyConfigured

TRUE = ("1", "true", "yes", "on")
FALSE = ("0", "false", "no", "off")
# A name or an address as it stands in a Host header; a dot in front takes in every name below.
HOST = re.compile(r"\*|\.?[\w-]+(\.[\w-]+)*|\[[0-9A-Fa-f:.]+\]")
USER_ID = re.compile(r"[1-9]\d{0,15}", re.ASCII)
MEMBER_ID = re.compile(r"[UW][A-Z0-9]{2,20}", re.ASCII)


@dataclass(frozen=True)
class Environment:
    """What the environment says.

    Every reader raises ImproperlyConfigured for a value it cannot use. The sentence names the
    variable, what would be accepted and what to do; it never quotes a secret.

    Args:
        values: The variables.
        recorded: What holds for a variable that is not set: what a running `bin/up` was given.
    """

    values: Mapping[str, str]
    recorded: Mapping[str, str] = field(default_factory=dict)

    def text(self, name: str, default: str = "") -> str:
        """The value of `name`, without surrounding space; `default` if unset or empty."""
        return self.values.get(name, "").strip() or self.recorded.get(name, "") or default

    def flag(self, name: str) -> bool:
        """The value of `name` as yes or no; no if unset."""
        raw = self.text(name)
        value = raw.lower()
        if value and value not in TRUE + FALSE:
            raise self._refusal(name, raw, f"must be one of {in_words(TRUE + FALSE)}", "off")
        return value in TRUE

    def integer(self, name: str, default: int, *, minimum: int = 0, maximum: int = 10**6) -> int:
        """The value of `name` as a whole number from `minimum` to `maximum`."""
        raw = self.text(name, str(default))
        if not re.fullmatch(r"-?\d{1,12}", raw, re.ASCII) or not minimum <= int(raw) <= maximum:
            wanted = f"must be a whole number from {minimum} to {maximum}"
            raise self._refusal(name, raw, wanted, str(default))
        return int(raw)

    def choice(self, name: str, default: str, choices: tuple[str, ...]) -> str:
        """The value of `name`, one of `choices`, which are in capitals."""
        raw = self.text(name, default)
        if raw.upper() not in choices:
            raise self._refusal(name, raw, f"must be one of {in_words(choices)}", default)
        return raw.upper()

    def items(self, name: str, default: str = "") -> list[str]:
        """The comma-separated values of `name`, trimmed, blanks dropped."""
        return [item.strip() for item in self.text(name, default).split(",") if item.strip()]

    def hosts(self, name: str, default: str) -> list[str]:
        """The comma-separated host names of `name`."""
        found = self.items(name, default)
        for host in found:
            if not HOST.fullmatch(host):
                wanted = "must hold names or addresses only, without http:// and without a port"
                raise self._refusal(name, host, wanted, default)
        return found

    def networks(self, name: str) -> list[str]:
        """The comma-separated addresses or networks of `name`."""
        found = self.items(name)
        for one in found:
            try:
                ip_network(one, strict=False)
            except ValueError as error:
                wanted = "must hold addresses or networks such as 10.0.0.5 or 10.0.0.0/8"
                raise self._refusal(name, one, wanted) from error
        return found

    def user_ids(self, name: str) -> list[str]:
        """The comma-separated numbers of `name`, of a platform that calls people by numbers."""
        found = self.items(name)
        for one in found:
            if not USER_ID.fullmatch(one):
                wanted = "must hold the people's numbers, separated by commas; no @names"
                raise self._refusal(name, one, wanted)
        return found

    def member_ids(self, name: str) -> list[str]:
        """The comma-separated ids of `name`, of a platform with people like U012AB3CD."""
        found = self.items(name)
        for one in found:
            if not MEMBER_ID.fullmatch(one):
                wanted = "must hold member ids such as U012AB3CD, separated by commas; no @names"
                raise self._refusal(name, one, wanted)
        return found

    def secret(self, name: str, default: str = "") -> str:
        """A secret, from `name` or from the file that `name`_FILE names."""
        if not self.text(f"{name}_FILE"):
            return self.text(name, default)
        return self.contents(f"{name}_FILE")

    def must_be_the_same(self, names: Iterable[str], data_dir: Path) -> None:
        """Refuse to go on without what the processes that run on `data_dir` were given."""
        for name in sorted(names):
            if not self.secret(name):
                message = (
                    f"{name} was given to the bin/up that runs on {data_dir}, and not to this"
                    " command, which would look elsewhere. Give it the same."
                )
                raise ImproperlyConfigured(message)

    def contents(self, name: str) -> str:
        """The text of the file that `name` names."""
        place = Path(self.text(name)).expanduser()
        try:
            return place.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or "it is not text in UTF-8"
            message = f"{name} names {place}, which cannot be read: {why}. Mend it, or unset it."
            raise ImproperlyConfigured(message) from error

    def file(self, name: str) -> str:
        """The file that `name` names; it can be read. Empty if unset."""
        if not self.text(name):
            return ""
        self.contents(name)
        return str(Path(self.text(name)).expanduser())

    def address(
        self, name: str, default: str = "", *, schemes: tuple[str, ...] = ("http", "https")
    ) -> str:
        """The value of `name` as an address: a scheme, a host, and what else it holds."""
        raw = self.text(name, default)
        if raw and not is_address(raw, schemes):
            shapes = in_words(f"{scheme}://" for scheme in schemes)
            # Not quoted: an address may hold a password.
            message = f"{name} must be an address that begins with {shapes} and names a host."
            raise ImproperlyConfigured(f"{message} {self._advice(default)}")
        return raw

    def time_zone(self, name: str, default: str) -> str:
        """The value of `name` as the name of a time zone."""
        raw = self.text(name, default)
        try:
            ZoneInfo(raw)
        except (KeyError, ValueError, OSError) as error:
            wanted = "must be the name of a time zone, such as UTC or Europe/Berlin"
            raise self._refusal(name, raw, wanted, default) from error
        return raw

    def _refusal(
        self, name: str, value: str, wanted: str, default: str = ""
    ) -> ImproperlyConfigured:
        return ImproperlyConfigured(f"{name} {wanted}; it is {value!r}. {self._advice(default)}")

    def _advice(self, default: str) -> str:
        return f"Change it, or unset it for {default}." if default else "Change it, or unset it."


def in_words(choices: Iterable[str]) -> str:
    """`a, b or c`."""
    *most, last = choices
    return f"{', '.join(most)} or {last}" if most else last


def is_address(text: str, schemes: tuple[str, ...]) -> bool:
    """Whether `text` begins with one of `schemes`, and its host and port can be read."""
    try:
        parts = urlsplit(text)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
