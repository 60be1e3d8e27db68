"""What the lists of questions and lasting approvals can be narrowed to."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from typing_extensions import override

from clarify import listing, permits
from clarify.listing import Trouble
from clarify.models import Permit, Prompt
from clarify.states import State

OPEN, ALL = "open", "all"


def chosen_state(request: HttpRequest) -> str:
    """Which questions the list shows: the open ones, unless something else is looked for.

    What somebody chose one by one stays chosen, though it may have been closed meanwhile.
    """
    is_chosen = request.method == "POST" and request.POST.get("select_across", "0") == "0"
    if is_chosen:
        return ALL
    return request.GET.get(StateFilter.parameter_name) or (ALL if request.GET.get("q") else OPEN)


class StateFilter(admin.SimpleListFilter):
    """Open, or how it ended; nothing chosen means open."""

    title = "state"
    parameter_name = "state"

    def __init__(self, request: HttpRequest, *args: Any) -> None:
        super().__init__(request, *args)
        self._chosen = chosen_state(request)

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """What can be chosen."""
        closed = [(state.value, state.value) for state in State if state is not State.PENDING]
        return [(OPEN, "open"), *closed, (ALL, "all")]

    @override
    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """Each choice with its link; there is no "no choice"."""
        for value, title in self.lookup_choices:
            yield {
                "selected": value == self._chosen,
                "query_string": changelist.get_query_string({self.parameter_name: value}),
                "display": title,
            }

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Prompt]) -> QuerySet[Prompt]:
        """The rows of the choice."""
        if self._chosen == ALL:
            return queryset
        state = State.PENDING if self._chosen == OPEN else self._chosen
        return queryset.filter(state=state)


class TroubleFilter(admin.SimpleListFilter):
    """Why a question is still open."""

    title = "why it is open"
    parameter_name = "why"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """What can be chosen."""
        return [
            (Trouble.STUCK.value, "stuck: any trouble, or for minutes"),
            (Trouble.UNSENT.value, "its message is not delivered"),
            (Trouble.REFUSED.value, "a reply was not taken"),
            (Trouble.SILENT.value, "nobody has replied"),
            (Trouble.BEHIND.value, "waits behind another"),
            (Trouble.OVERDUE.value, "its deadline has passed"),
        ]

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Prompt]) -> QuerySet[Prompt]:
        """The rows of the choice."""
        value = self.value()
        if value not in set(Trouble):
            return queryset
        return listing.in_trouble(queryset, Trouble(value), now=timezone.now())


class AgeFilter(admin.SimpleListFilter):
    """How long ago it was asked."""

    title = "age"
    parameter_name = "age"
    MINUTES = ((2, "2 minutes"), (10, "10 minutes"), (60, "an hour"), (24 * 60, "a day"))

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """What can be chosen."""
        return [(str(minutes), f"more than {words}") for minutes, words in self.MINUTES]

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Prompt]) -> QuerySet[Prompt]:
        """The rows of the choice."""
        known = {str(minutes): minutes for minutes, _ in self.MINUTES}
        minutes = known.get(self.value() or "")
        if minutes is None:
            return queryset
        return queryset.filter(created_at__lte=timezone.now() - timedelta(minutes=minutes))


class ForceFilter(admin.SimpleListFilter):
    """Whether a lasting approval counts."""

    title = "in force"
    parameter_name = "in_force"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """What can be chosen."""
        return [("yes", "in force"), ("no", "ended")]

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Permit]) -> QuerySet[Permit]:
        """The rows of the choice."""
        counts = permits.in_force(timezone.now()).values("pk")
        match self.value():
            case "yes":
                return queryset.filter(pk__in=counts)
            case "no":
                return queryset.exclude(pk__in=counts)
            case _:
                return queryset
