"""Measurements in the text format of Prometheus. Pure.

Source: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format,
read 2026-11-30.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True)
class Sample:
    """One number.

    Attributes:
        value: The number.
        labels: What it is about, by name.
    """

    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Family:
    """All numbers of one name; each of them may go up and down.

    Attributes:
        name: Letters, digits and underscores; ends in its unit.
        help: What it tells, in one sentence.
        samples: The numbers; none is a family that has nothing to tell now.
    """

    name: str
    help: str
    samples: tuple[Sample, ...] = ()


def text(families: Iterable[Family]) -> str:
    """`families` as a page, each under its help and type."""
    return "".join(_family(family) for family in families)


def _family(family: Family) -> str:
    lines = [
        f"# HELP {family.name} {_escaped(family.help)}",
        f"# TYPE {family.name} gauge",
        *(
            f"{family.name}{_labels(sample.labels)} {_number(sample.value)}"
            for sample in family.samples
        ),
    ]
    return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = (f'{name}="{_quoted(value)}"' for name, value in labels.items())
    return "{" + ",".join(pairs) + "}"


def _escaped(words: str) -> str:
    return words.replace("\\", r"\\").replace("\n", r"\n")


def _quoted(value: str) -> str:
    return _escaped(value).replace('"', r"\"")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
