"""A configuration as a file holds it, and what differs between two. Pure.

Four lists: accounts, the allowlist, settings of chats, home channels. A thing is known again by
what tells it from others of its list, its key; everything else about it may change.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

FORMAT, VERSION = "hermes-configuration", 1
MASK = "••••"

# By list: the fields that make the key, then the others.
SHAPES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "accounts": (("name",), ("platform", "enabled", "options", "secret")),
    "allowlist": (
        ("platform", "account", "scope_id", "chat_id", "user_id", "commands"),
        ("role", "approves_up_to", "tools_up_to", "is_for_bot", "note"),
    ),
    "chats": (
        ("account", "chat_id", "thread_id"),
        (
            *("note", "groups", "threads", "busy", "reset", "idle_minutes", "hour"),
            *("time_zone", "fresh_final_seconds", "stop_suspends", "model", "system_prompt"),
        ),
    ),
    "homes": (("account",), ("address",)),
}

# What a field holds where it is not a text.
KINDS: Mapping[str, tuple[type, ...]] = {
    "enabled": (bool,),
    "options": (dict,),
    "address": (dict,),
    "is_for_bot": (bool,),
    "idle_minutes": (int, type(None)),
    "fresh_final_seconds": (int, type(None)),
    "hour": (int, type(None)),
    "stop_suspends": (bool, type(None)),
}

Item = dict[str, Any]
Document = dict[str, Any]


class NotAConfiguration(ValueError):
    """A file cannot be read as a configuration; the message says where and why."""


class Deed(StrEnum):
    """What importing does to one thing."""

    ADD = "add"
    CHANGE = "change"


@dataclass(frozen=True)
class Change:
    """One thing that differs.

    Attributes:
        place: The list it is in.
        deed: What is done.
        item: As the file has it.
        fields: Of a change: what each field was and becomes.
    """

    place: str
    deed: Deed
    item: Item
    fields: Mapping[str, tuple[Any, Any]]

    @property
    def name(self) -> str:
        """The thing, in words."""
        key = " ".join(str(self.item.get(field) or "*") for field in SHAPES[self.place][0])
        return f"{self.place}: {key.rstrip('* ') or 'everywhere'}"


def compose(lists: Mapping[str, list[Item]], *, seal: Mapping[str, Any] | None) -> Document:
    """The document of some lists.

    Args:
        lists: The four lists.
        seal: How its secrets are sealed; None if it has none.
    """
    head: Document = {"format": FORMAT, "version": VERSION}
    if seal is not None:
        head["seal"] = dict(seal)
    return head | {place: lists.get(place, []) for place in SHAPES}


def check(raw: object) -> Document:
    """`raw`, as read from a file, if it is a configuration that this version understands.

    Raises:
        NotAConfiguration: It is none, or holds what nobody here knows.
    """
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        message = f"This is no configuration: it should be an object with `format: {FORMAT}`."
        raise NotAConfiguration(message)
    if raw.get("version") != VERSION:
        message = f"Its version is {raw.get('version')!r}; this installation reads {VERSION}."
        raise NotAConfiguration(message)
    unknown = set(raw) - {"format", "version", "seal", *SHAPES}
    if unknown:
        message = f"It holds lists that nobody here knows: {', '.join(sorted(unknown))}."
        raise NotAConfiguration(message)
    for place in SHAPES:
        _check_list(place, raw.get(place, []))
    return raw


def _check_list(place: str, items: object) -> None:
    if not isinstance(items, list):
        message = f"`{place}` must be a list."
        raise NotAConfiguration(message)
    keys, rest = SHAPES[place]
    seen: set[tuple[str, ...]] = set()
    for number, item in enumerate(items, start=1):
        problem = _problem(item, keys, rest)
        if not problem and key_of(place, item) in seen:
            problem = "it stands there twice."
        if problem:
            message = f"{place}, item {number}: {problem}"
            raise NotAConfiguration(message)
        seen.add(key_of(place, item))


def _problem(item: object, keys: tuple[str, ...], rest: tuple[str, ...]) -> str:
    """What is wrong with one thing of a list; empty if nothing is."""
    if not isinstance(item, dict):
        return "it must be an object."
    unknown = sorted(set(map(str, item)) - {*keys, *rest})
    if unknown:
        return f"there is no field {', '.join(unknown)}."
    for name, value in item.items():
        if not isinstance(value, KINDS.get(name, (str,))):
            return f"{name} cannot be {value!r}."
        if isinstance(value, dict) and not all(isinstance(one, str) for one in value.values()):
            return f"the values in {name} must be texts."
    return ""


def key_of(place: str, item: Item) -> tuple[str, ...]:
    """What tells a thing from others of its list."""
    return tuple(str(item.get(name) or "") for name in SHAPES[place][0])


def differences(present: Document, wanted: Document) -> Iterator[Change]:
    """What importing `wanted` into an installation that is as `present` does, in order.

    What is only present is left alone, and so is what the file says nothing about, or masks.
    """
    for place in SHAPES:
        there = {key_of(place, item): item for item in present.get(place, [])}
        for item in wanted.get(place, []):
            known = there.get(key_of(place, item))
            if known is None:
                yield Change(place, Deed.ADD, item, {})
                continue
            fields = {
                name: (known.get(name), item[name])
                for name in SHAPES[place][1]
                if name in item and not _is_same(known.get(name), item[name])
            }
            if fields:
                yield Change(place, Deed.CHANGE, item, fields)


def _is_same(present: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict) and isinstance(present, dict):
        names = {*wanted, *present}
        return all(_is_same(present.get(name, ""), wanted.get(name, "")) for name in names)
    return wanted == present or _is_masked(wanted)


def _is_masked(value: Any) -> bool:
    return isinstance(value, str) and MASK in value


def lines(change: Change) -> list[str]:
    """A change as people read it: one line for the thing, one for each field; no secrets."""
    if change.deed is Deed.ADD:
        return [f"+ {change.name}"]
    shown = [
        f"    {name}: {_shown(name, before)} → {_shown(name, after)}"
        for name, (before, after) in change.fields.items()
    ]
    return [f"~ {change.name}", *shown]


def _shown(name: str, value: Any) -> str:
    if name == "secret":
        return MASK if value else "none"
    text = repr(value) if value not in {None, ""} or isinstance(value, bool) else "nothing"
    return text if len(text) <= 100 else f"{text[:97]}…"
