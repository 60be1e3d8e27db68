"""Letting go of what was kept long enough ([O2]): a rule for each table, one way to follow it.

A pass takes a bounded number of small batches, each in a transaction of its own and found by an
index, so that it holds nobody up for long; what it does not get to, the next pass does. Nothing
goes that is still needed: the apps above say of what they point at what they need, and a row on
which another hangs that the rule does not name stays, too.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import models, transaction
from django.db.models import Q, QuerySet

BATCHES = 20  # of each rule in one pass

Need = Callable[[Sequence[Any], datetime], Iterable[int | None]]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """When the rows of one table may go.

    Attributes:
        what: The rows in words, for logs and docs.
        model: Their table.
        past: Those that are settled and were kept long enough, given the present.
        by: The column that orders them, with an index; the oldest go first.
        reads: Columns that the needs look at.
        along: Tables whose rows go with the row that they hang on.
        after: Tables whose rows go first, by rules of their own: a row on which one of those hangs
            stays until it is gone.
        batch: How many at a time.
    """

    what: str
    model: type[models.Model]
    past: Callable[[datetime], QuerySet[Any]]
    by: str
    reads: tuple[str, ...] = ()
    along: frozenset[type[models.Model]] = frozenset()
    after: frozenset[type[models.Model]] = frozenset()
    batch: int = 200


_rules: list[Rule] = []
_needs: dict[type[models.Model], list[Need]] = {}


def register_rule(rule: Rule) -> None:
    """Let an app with few tables leave theirs to the pass of the uppermost app."""
    if rule not in _rules:
        _rules.append(rule)


def registered_rules() -> tuple[Rule, ...]:
    """The rules that apps have registered, in that order."""
    return tuple(_rules)


def register_need(model: type[models.Model], need: Need) -> None:
    """Let `need` say which rows of `model`, of those shown to it, somebody still needs.

    Args:
        model: The table.
        need: Given rows with the columns that the rule reads, and the present, it gives the keys
            of those that must stay.
    """
    needs = _needs.setdefault(model, [])
    if need not in needs:
        needs.append(need)


def forget(rule: Rule, *, now: datetime, most: int | None = None, batches: int = BATCHES) -> int:
    """Delete what `rule` lets go, at most `batches` batches of it.

    Args:
        rule: The rule.
        now: The present.
        most: How many rows may go at most; None for no limit but that of the batches.
        batches: How many transactions this may take.

    Returns:
        How many rows went, those that went along not counted.
    """
    count, mark = 0, None
    for _ in range(batches):
        room = rule.batch if most is None else min(rule.batch, most - count)
        if room <= 0:
            break
        found, gone = _forget_batch(rule, room, mark, now)
        count += gone
        if len(found) < room:
            break
        mark = (getattr(found[-1], rule.by), found[-1].pk)
    return count


def hangers(model: type[models.Model]) -> Iterator[tuple[type[models.Model], str]]:
    """The tables whose rows would go with, or forbid, the end of a row of `model`.

    Yields:
        The table, and the name of its column that points at `model`.
    """
    for relation in model._meta.related_objects:  # noqa: SLF001 - Django's own name for it
        on_delete = getattr(relation, "on_delete", None)
        if on_delete not in {None, models.SET_NULL, models.DO_NOTHING}:
            yield relation.related_model, relation.field.name


@transaction.atomic
def _forget_batch(
    rule: Rule, room: int, mark: tuple[Any, int] | None, now: datetime
) -> tuple[list[Any], int]:
    rows = rule.past(now).order_by(rule.by, "pk").only("pk", rule.by, *rule.reads)
    if mark is not None:
        value, pk = mark
        beyond = Q(**{f"{rule.by}__gt": value}) | Q(**{rule.by: value}, pk__gt=pk)
        rows = rows.filter(beyond, **{f"{rule.by}__gte": value})
    # Held until they are gone, and what another holds is passed over: somebody may be taking one
    # of them up again at this moment.
    found = list(rows.select_for_update(skip_locked=True, of=("self",))[:room])
    gone = {row.pk for row in found} - _needed(rule, found, now)
    if gone:
        QuerySet(rule.model).filter(pk__in=gone).delete()
    return found, len(gone)


def _needed(rule: Rule, rows: list[Any], now: datetime) -> set[int]:
    if not rows:
        return set()
    needed: set[int | None] = set()
    for need in _needs.get(rule.model, ()):
        needed.update(need(rows, now))
    keys = [row.pk for row in rows]
    for table, path in _must_be_gone(rule.model, rule.along):
        hanging: QuerySet[Any] = QuerySet(table).filter(**{f"{path}__in": keys})
        needed.update(hanging.values_list(path, flat=True).distinct())
    return {key for key in needed if key is not None}


def _must_be_gone(
    model: type[models.Model], along: Collection[type[models.Model]], path: str = ""
) -> Iterator[tuple[type[models.Model], str]]:
    """The tables that hang on `model`, or on what goes along with it, and do not go along."""
    for table, name in hangers(model):
        way = f"{name}__{path}" if path else name
        if table not in along:
            yield table, way
        elif table is not model:
            yield from _must_be_gone(table, along, way)
