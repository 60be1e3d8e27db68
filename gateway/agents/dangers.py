"""What a call of a dangerous tool would do, as it is put before a person. Pure."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clarify.risks import RiskLevel

EXACTLY_THIS_CALL = "exactly this call"


@dataclass(frozen=True)
class Danger:
    """What one call would do.

    Attributes:
        level: How much harm it can do.
        summary: One line for a person.
        detail: Exactly what will be run, neither cut nor redacted nor made visible.
        lasting_key: What a lasting approval would cover; empty where none may be given.
        covers: The same in words for a person; empty with an empty key.
    """

    level: RiskLevel
    summary: str
    detail: str
    lasting_key: str
    covers: str


def exact_call(tool: str, arguments: Mapping[str, Any]) -> Danger:
    """The danger of a tool that says nothing about its calls.

    Args:
        tool: The tool's name.
        arguments: The call's arguments, as JSON.
    """
    return Danger(
        level=RiskLevel.HIGH,
        summary=f"Call {tool}",
        detail=f"{tool} {_pretty(arguments)}",
        lasting_key=lasting_key(tool, arguments),
        covers=EXACTLY_THIS_CALL,
    )


def lasting_key(tool: str, subject: Any) -> str:
    """A key that nothing but the same tool with the same subject has.

    Args:
        tool: The tool's name.
        subject: What of the call an approval would cover, as JSON.
    """
    canonical = json.dumps([tool, subject], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _pretty(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, sort_keys=True, indent=2, ensure_ascii=False)
