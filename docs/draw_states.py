"""Draws docs/states.md from the state tables themselves.

    .venv/bin/python docs/draw_states.py

A test fails when the page differs from what this would write. The meanings are the comments that
stand beside the members in the source.
"""

import inspect
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from clarify import states as clarify_states  # noqa: E402 - the path comes first
from delivery import states as delivery_states  # noqa: E402
from gateway import states as gateway_states  # noqa: E402
from gateway.identity import states as identity_states  # noqa: E402

PAGE = PROJECT / "docs" / "states.md"
MEMBER = re.compile(r'^\s+[A-Z_]+ = "(?P<value>[^"]+)"(?:\s+#\s*(?P<meaning>.*))?$', re.MULTILINE)
HEAD = """\
# The state tables

Drawn from the code by `docs/draw_states.py`; do not edit this page by hand. A step that is not here
does not happen: `advance` raises `IllegalTransition`, and the conditional update that would make it
matches no row. So of two processes that want to make the same step, exactly one does.
"""


@dataclass(frozen=True)
class Life:
    """One table.

    Attributes:
        title: Whose life it is.
        told: A few sentences about it.
        source: The file it stands in.
        states: Its states; the first is where it begins.
        events: What can happen.
        table: (state, event) -> state.
    """

    title: str
    told: str
    source: str
    states: type[StrEnum]
    events: type[StrEnum]
    table: Mapping[Any, Any]


LIVES = (
    Life(
        "A turn (execution)",
        "At most one turn of a conversation is running, waiting or ready; the rest are queued. A "
        "turn that waits for a person holds nothing but its rows.",
        "gateway/states.py",
        gateway_states.TurnState,
        gateway_states.TurnEvent,
        gateway_states.TURNS.steps,
    ),
    Life(
        "A prompt (a question put to a person)",
        "It is resolved once; whoever comes second is told what happened to it.",
        "clarify/states.py",
        clarify_states.State,
        clarify_states.Event,
        clarify_states.PROMPTS.steps,
    ),
    Life(
        "An obligation (one owed message)",
        "It is owed until it is delivered or abandoned. `retry` and `confirm` are staff's doing.",
        "delivery/states.py",
        delivery_states.State,
        delivery_states.Event,
        delivery_states.OBLIGATIONS.steps,
    ),
    Life(
        "A part (one platform message of an obligation)",
        "A part that is delivered is never sent again. From `lost` it goes on by the account's "
        "certainty level; see [delivery.md](delivery.md).",
        "delivery/states.py",
        delivery_states.PartState,
        delivery_states.PartEvent,
        delivery_states.PARTS.steps,
    ),
    Life(
        "A pairing (a stranger who asks to be let in)",
        "One row a person and account. See [access.md](access.md).",
        "gateway/identity/states.py",
        identity_states.PairingState,
        identity_states.PairingEvent,
        identity_states.PAIRINGS.steps,
    ),
    Life(
        "A link (one person on two platforms)",
        "Each step is made by a code that only the other side had read.",
        "gateway/identity/states.py",
        identity_states.LinkState,
        identity_states.LinkEvent,
        identity_states.LINKS.steps,
    ),
)


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(section(life) for life in LIVES)])


def section(life: Life) -> str:
    """One life: a drawing, and what its words mean."""
    parts = (
        f"## {life.title}",
        f"{life.told} Source: `{life.source}`.",
        drawing(life),
        meanings("state", life.states),
        steps(life),
    )
    return "\n\n".join(parts) + "\n"


def drawing(life: Life) -> str:
    """The table as a Mermaid diagram."""
    first = next(iter(life.states))
    left = {before for before, _ in life.table}
    arrows = [f"    [*] --> {first}"]
    for (before, event), after in life.table.items():
        arrows.append(f"    {before} --> {after}: {event}")
    arrows += [f"    {state} --> [*]" for state in life.states if state not in left]
    return "\n".join(["```mermaid", "stateDiagram-v2", *arrows, "```"])


def meanings(what: str, words: type[StrEnum]) -> str:
    """The members of an enumeration with the comments beside them; none have an empty cell."""
    told = {found["value"]: found["meaning"] or "" for found in MEMBER.finditer(source(words))}
    rows = [f"| `{word}` | {told.get(word.value, '')} |" for word in words]
    return "\n".join([f"| {what} | meaning |", "| --- | --- |", *rows])


def steps(life: Life) -> str:
    """The table as a table: a row a state, a column an event."""
    events = list(life.events)
    rows = [f"| from | {' | '.join(f'{event}' for event in events)} |"]
    rows.append("| --- |" + " --- |" * len(events))
    for state in life.states:
        cells = [str(life.table.get((state, event), "")) for event in events]
        rows.append(f"| `{state}` | {' | '.join(cells)} |")
    return "\n".join(rows)


def source(words: type[StrEnum]) -> str:
    """The source text of an enumeration."""
    return inspect.getsource(words)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE} is drawn\n")
