"""Statements whose SQL is made once: afterwards only values are bound and rows are read.

Django composes the SQL of a queryset anew at every use, which costs several times what a small
database needs to run it. A message passes some thirty statements, always the same ones. They are
written as functions that return an ordinary queryset, so that Django still makes the SQL for every
database, and the reader still reads Django:

    @frozen.update
    def renew(*, name: str, owner: str, until: datetime) -> Update:
        return Lease.objects.filter(name=name, owner=owner), {"expires_at": until}

    renew(name="account:main", owner="me", until=soon)  # how many rows it changed

At the first call the function is run with a placeholder for each argument; what Django makes of it
is kept, and the function is not run again. So nothing in it may depend on a *value*: an argument
is compared with a column, or written to one, as it is, and None is nothing to compare with. A list
stands for `__in`; its length may differ from call to call, but what is filtered by an empty one
must not be asked for at all. Whatever is rare, or put together from parts, is better left an
ordinary queryset.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, ParamSpec, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Expression, Model, QuerySet, sql
from django.db.models.constants import OnConflict
from django.db.models.fields import AutoField
from django.db.models.query import get_related_populators
from django.db.models.sql.compiler import SQLInsertCompiler
from typing_extensions import override

Row = TypeVar("Row", bound=Model)
Value = TypeVar("Value")
Arguments = ParamSpec("Arguments")
Update = tuple[QuerySet[Any], dict[str, Any]]
Tuple = tuple[Any, ...]
PLAIN = frozenset({str, int, bool, float, type(None)})  # what every driver takes as it is


@dataclass(frozen=True)
class _Slot:
    """The place of one argument, or of one item of a list, among the parameters of a statement."""

    name: str
    index: int | None = None


class _Given(Expression):
    """Stands in a queryset for a value that is not known yet."""

    def __init__(self, slot: _Slot) -> None:
        super().__init__()
        self.slot = slot

    @override
    def as_sql(self, compiler: Any, connection: Any, **_: Any) -> tuple[str, Tuple]:
        """One placeholder, and in place of its value the slot."""
        del compiler, connection
        return "%s", (self.slot,)


@dataclass(frozen=True)
class _Statement:
    """SQL as one kind of database wants it, and how to read a row of what it gives."""

    text: str
    params: Tuple
    read: Callable[[Tuple], Any] = lambda row: row

    def bound(self, connection: BaseDatabaseWrapper, values: dict[str, Any]) -> list[Any]:
        """The parameters, with `values` in the slots."""
        filled = []
        for param in self.params:
            if type(param) is not _Slot:
                filled.append(param)
                continue
            value = values[param.name]
            if param.index is not None:
                value = value[min(param.index, len(value) - 1)]
            filled.append(value if type(value) in PLAIN else _adapted(connection, value))
        return filled


def _adapted(connection: BaseDatabaseWrapper, value: Any) -> Any:
    """`value` as the driver takes it; a dict is JSON."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return connection.ops.adapt_json_value(value, None)
    return connection.ops.adapt_unknown_value(value)


class _Frozen:
    """What `function` makes, for each kind of database and for each length of its lists.

    Args:
        function: Gives a queryset, or a queryset and changes, for keyword arguments.
        compose: Makes a statement of what `function` gives, for a kind of database.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        compose: Callable[[Any, BaseDatabaseWrapper], _Statement],
    ) -> None:
        self._function, self._compose = function, compose
        self._names = tuple(inspect.signature(function).parameters)
        self._made: dict[Tuple, _Statement] = {}

    def execute(self, values: dict[str, Any]) -> tuple[_Statement, Any]:
        """Run the statement; the cursor is left for the caller to read and close."""
        connection = connections[DEFAULT_DB_ALIAS]
        key = (connection.vendor, *[_places(values[name]) for name in self._names])
        statement = self._made.get(key)
        if statement is None:
            statement = self._made[key] = self._make(values)
        cursor = connection.cursor()
        cursor.execute(statement.text, statement.bound(connection, values))
        return statement, cursor

    def _make(self, values: dict[str, Any]) -> _Statement:
        # What is kept must not keep the connection of a thread: this one is nobody's, and is not
        # opened unless Django has to ask the server for its version.
        connection = connections.create_connection(DEFAULT_DB_ALIAS)
        try:
            return self._compose(
                self._function(**{name: _given(name, value) for name, value in values.items()}),
                connection,
            )
        finally:
            connection.close()


def _given(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_Given(_Slot(name, index)) for index in range(_places(value))]
    return _Given(_Slot(name))


def _places(value: Any) -> int:
    """How many placeholders a list gets: its last item fills those beyond its length.

    Only lengths that are powers of two are made, so that few statements are kept.
    """
    if not isinstance(value, list):
        return -1
    return 1 << (len(value) - 1).bit_length() if value else 0


def rows(function: Callable[Arguments, QuerySet[Row]]) -> Callable[Arguments, list[Row]]:
    """The rows of the queryset that `function` gives."""
    return _reading(function, _reader)


def values(
    function: Callable[Arguments, QuerySet[Any, Value]],
) -> Callable[Arguments, list[Value]]:
    """The tuples of the `values_list` that `function` gives."""
    return _reading(function, _converter)


def _reading(
    function: Callable[..., Any], reader: Callable[[Any], Callable[[Tuple], Any]]
) -> Callable[..., list[Any]]:
    def select(queryset: QuerySet[Any], connection: BaseDatabaseWrapper) -> _Statement:
        compiler = queryset.query.get_compiler(connection=connection)
        text, params = compiler.as_sql()
        return _Statement(*_with_constants(text, params), reader(compiler))

    frozen = _Frozen(function, select)

    def read(**arguments: Any) -> list[Any]:
        statement, cursor = frozen.execute(arguments)
        with cursor:
            return [statement.read(row) for row in cursor.fetchall()]

    return read


def exists(function: Callable[Arguments, QuerySet[Any]]) -> Callable[Arguments, bool]:
    """Whether the queryset that `function` gives has any row."""
    frozen = _Frozen(function, _select_one)

    def is_there(**arguments: Any) -> bool:
        _, cursor = frozen.execute(arguments)
        with cursor:
            return cursor.fetchone() is not None

    return is_there  # type: ignore[return-value] # keywords are all that `function` takes


def update(function: Callable[Arguments, Update]) -> Callable[Arguments, int]:
    """How many rows were changed: `function` gives which, and what to write to them."""
    frozen = _Frozen(function, _change)

    def change(**arguments: Any) -> int:
        _, cursor = frozen.execute(arguments)
        with cursor:
            return int(cursor.rowcount)

    return change  # type: ignore[return-value] # keywords are all that `function` takes


def _select_one(queryset: QuerySet[Any], connection: BaseDatabaseWrapper) -> _Statement:
    text, params = queryset.query.exists().get_compiler(connection=connection).as_sql()
    return _Statement(*_with_constants(text, params))


def _change(update: Update, connection: BaseDatabaseWrapper) -> _Statement:
    queryset, changes = update
    query: Any = queryset.query.chain(sql.UpdateQuery)
    query.add_update_values(changes)
    text, params = query.get_compiler(connection=connection).as_sql()
    return _Statement(*_with_constants(text, params))


def _with_constants(text: str, params: Iterable[Any]) -> tuple[str, Tuple]:
    """The statement with the words in it that never change written out, such as names of states.

    SQLite does not see from placeholders that an index on `state IN ('a', 'b')` holds what is
    looked for, and reads the whole table instead.
    """
    pieces, kept = [], []
    *starts, end = text.split("%s")
    for start, param in zip(starts, params, strict=True):
        is_constant = isinstance(param, str) and "\\" not in param and "\0" not in param
        if not is_constant:
            kept.append(param)
        written = "'" + str(param).replace("'", "''").replace("%", "%%") + "'"
        pieces += [start, written if is_constant else "%s"]
    return "".join([*pieces, end]), tuple(kept)


def _converter(compiler: Any) -> Callable[[Tuple], Tuple]:
    """How the values of a row become Python's, as Django's compiler would have them."""
    columns = compiler.get_converters([expression for expression, _, _ in compiler.select])
    steps = [
        (position, convert, expression)
        for position, (converts, expression) in columns.items()
        for convert in converts
    ]
    connection = compiler.connection

    def converted(row: Tuple) -> Tuple:
        found = list(row)
        for position, convert, expression in steps:
            found[position] = convert(found[position], expression, connection)
        return tuple(found)

    return converted if steps else tuple


def _reader(compiler: Any) -> Callable[[Tuple], Any]:
    """How a row becomes an instance, with `select_related` and annotations."""
    converted = _converter(compiler)
    model, selected = compiler.klass_info["model"], compiler.klass_info["select_fields"]
    start, end = selected[0], selected[-1] + 1
    names = [expression.target.attname for expression, _, _ in compiler.select[start:end]]
    related = get_related_populators(compiler.klass_info, compiler.select, DEFAULT_DB_ALIAS)  # type: ignore[call-arg] # the stubs are those of a later Django
    annotated = list(compiler.annotation_col_map.items())

    def read(row: Tuple) -> Any:
        found = converted(row)
        instance = model.from_db(DEFAULT_DB_ALIAS, names, found[start:end])
        for populator in related:
            populator.populate(found, instance)
        for name, position in annotated:
            setattr(instance, name, found[position])
        return instance

    return read


class Insert(Generic[Row]):
    """Adds new rows to one table.

    Args:
        model: Which table; its primary key is an automatic number.
        unless_there: A row that breaks a unique constraint is left out, without an error.
    """

    def __init__(self, model: type[Row], *, unless_there: bool = False) -> None:
        self._model = model
        self._conflict = OnConflict.IGNORE if unless_there else None
        options = model._meta  # noqa: SLF001 - the documented way to the fields of a model
        self._key = options.pk
        self._fields = [f for f in options.local_concrete_fields if not isinstance(f, AutoField)]
        self._made: dict[tuple[str, int], str] = {}

    def one(self, row: Row) -> bool:
        """Add `row` and give it its primary key; False if it was left out."""
        connection, cursor = self._execute([row])
        with cursor:
            if connection.features.can_return_columns_from_insert:
                found = cursor.fetchone()
            else:  # SQLite before 3.35
                found = (cursor.lastrowid,) if cursor.rowcount else None
        if found is None:
            return False
        row.pk = found[0]
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS  # noqa: SLF001 - as `save` does
        return True

    def many(self, rows: Iterable[Row]) -> None:
        """Add `rows`; their primary keys are not read back."""
        several = list(rows)
        if several:
            _, cursor = self._execute(several)
            cursor.close()

    def _execute(self, rows: Sequence[Row]) -> tuple[BaseDatabaseWrapper, Any]:
        connection = connections[DEFAULT_DB_ALIAS]
        key = (connection.vendor, len(rows))
        if key not in self._made:
            self._made[key] = self._compose(connection, len(rows))
        params = [
            field.get_db_prep_save(field.pre_save(row, add=True), connection)
            for row in rows
            for field in self._fields
        ]
        cursor = connection.cursor()
        cursor.execute(self._made[key], params)
        return connection, cursor

    def _compose(self, connection: BaseDatabaseWrapper, count: int) -> str:
        query = sql.InsertQuery(self._model, on_conflict=self._conflict)
        query.insert_values(self._fields, [self._model() for _ in range(count)], raw=True)
        # Not the connection's own compiler: PostgreSQL's would turn several rows into columns.
        compiler = SQLInsertCompiler(query, connection, DEFAULT_DB_ALIAS)
        if count == 1:
            compiler.returning_fields = [self._key]
        ((text, _),) = compiler.as_sql()
        return text
