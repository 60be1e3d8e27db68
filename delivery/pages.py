"""What all pages for staff share: read-only rows, links between rows, and deeds with a form.

A deed is done to the chosen rows after a page has asked for confirmation and for whatever input it
needs. The rules are not here: a deed calls a verb of a `staff` module, and the words of whatever
that raises are shown.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.db.models import CharField, Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from typing_extensions import override

Row = TypeVar("Row", bound=Model)
Inner = TypeVar("Inner", bound=Model)
Outer = TypeVar("Outer", bound=Model)
NOTHING = "–"
MOST_LISTED = 100  # rows named on a confirmation page
SURFACE = "admin"
ONE_AT_A_TIME = "Choose one at a time: each must be read."
GONE = "What was chosen is not in this list any more: somebody has acted on it meanwhile."

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin
    TabularInline = admin.TabularInline
    ModelForm = forms.ModelForm
else:

    class Subscriptable:
        """Django's own classes know their model only to the type checker."""

        def __class_getitem__(cls, _models):
            """The class itself."""
            return cls

    class ModelAdmin(Subscriptable, admin.ModelAdmin):
        """`admin.ModelAdmin[Row]`."""

    class TabularInline(Subscriptable, admin.TabularInline):
        """`admin.TabularInline[Inner, Outer]`."""

    class ModelForm(Subscriptable, forms.ModelForm):
        """`forms.ModelForm[Row]`."""


class NoInput(forms.Form):
    """A deed that needs nothing but confirmation."""


@dataclass(frozen=True, kw_only=True)
class Deed:
    """Something done to chosen rows.

    Attributes:
        title: What is asked, as a question: `Cancel these questions?`.
        warning: What follows from it.
        do: Does it to one row: (row, cleaned input, who, when). Its result is shown, if any.
        errors: What `do` raises when it changed nothing, in words for staff.
        past: What is true of a row afterwards, where `do` does not say it: `withdrawn`.
        form: What must be filled in first.
        foresee: What `do` would make of the input, in lines that are shown before it is done:
            (row, cleaned input). It raises as `do` does.
        is_for_one: Only one row at a time, because each must be read.
        confirm: What the button says that does it.
    """

    title: str
    do: Callable[[Any, dict[str, Any], str, datetime], str | None]
    errors: tuple[type[Exception], ...]
    past: str
    warning: str = ""
    form: type[forms.Form] = NoInput
    foresee: Callable[[Any, dict[str, Any]], list[str]] | None = None
    is_for_one: bool = False
    confirm: str = "Yes, I’m sure"


LATEST = 2000  # rows that a filter offers the values of


class LatestValuesFilter(admin.AllValuesFieldListFilter):
    """The values of a column among the latest rows, and the one that is chosen.

    Django's own asks for those of the whole table, which reads it from end to end for each page.
    """

    def __init__(self, field: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(field, *args, **kwargs)
        rows: QuerySet[Model] = QuerySet(field.model)
        latest = rows.order_by("-pk").values_list(field.name, flat=True)[:LATEST]
        values: Any = sorted({*latest, *(self.lookup_val or ())}, key=str)
        self.lookup_choices = values  # Django goes through them only


class StaffAdmin(ModelAdmin[Row]):
    """Rows with deeds; whoever may change rows of this kind may do them."""

    show_full_result_count = False
    change_form_template = "admin/staff_change_form.html"

    @override
    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        """A column without choices of its own is filtered by what the latest rows hold."""
        return [
            (name, LatestValuesFilter) if self._is_free_text(name) else name
            for name in super().get_list_filter(request)
        ]

    def _is_free_text(self, name: Any) -> bool:
        if not isinstance(name, str) or "__" in name:
            return False
        field = self.opts.get_field(name)
        return isinstance(field, CharField) and not field.choices

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Whether the person may act on rows, though they edit none by hand."""
        name = f"{self.opts.app_label}.change_{self.opts.model_name}"
        return request.user.has_perm(name)

    def carry_out(
        self, request: HttpRequest, queryset: QuerySet[Row], deed: Deed, *, action: str
    ) -> HttpResponse | None:
        """Ask for confirmation and input; then do `deed` to every chosen row, each by itself.

        What was filled in is asked for again, with the reason, if nothing could be done with it.
        Whoever came from the page of a row is led back to it.
        """
        count = queryset.count()
        if not count or (deed.is_for_one and count > 1):
            self.message_user(request, ONE_AT_A_TIME if count else GONE, messages.ERROR)
            return self._back(request)
        confirmed = "confirmed" in request.POST
        form = deed.form(request.POST if confirmed else None)
        if not confirmed or not form.is_valid():
            return self._ask(request, queryset, deed, form, action)
        foreseen = self._foreseen(queryset, deed, form)
        if form.errors or foreseen != request.POST.get("foreseen", "").splitlines():
            return self._ask(request, queryset, deed, form, action, foreseen=foreseen)
        done, refused = self._do_each(request, queryset, deed, form)
        if form.fields and not done:
            for words in refused:
                form.add_error(None, words)
            return self._ask(request, queryset, deed, form, action)
        for words in refused:
            self.message_user(request, words, messages.ERROR)
        for words in self._told(done, deed):
            self.message_user(request, words, messages.SUCCESS)
        return self._back(request)

    def _foreseen(self, queryset: QuerySet[Row], deed: Deed, form: forms.Form) -> list[str]:
        """What the deed would make of the input; what it would refuse is an error of the form."""
        told: list[str] = []
        for row in queryset if deed.foresee else ():
            try:
                told += deed.foresee(row, form.cleaned_data) if deed.foresee else []
            except deed.errors as error:
                form.add_error(None, f"{capfirst(self.name_of(row))}: {error}")
                return []
        return [" ".join(line.split()) for line in told]

    def _do_each(
        self, request: HttpRequest, queryset: QuerySet[Row], deed: Deed, form: forms.Form
    ) -> tuple[list[tuple[str, str]], list[str]]:
        """Do it to each row: the names of those it was done to with its words, and the refusals."""
        done: list[tuple[str, str]] = []
        refused: list[str] = []
        for row in queryset:
            try:
                words = deed.do(row, form.cleaned_data, str(request.user), timezone.now())
                done.append((self.name_of(row), words or ""))
            except deed.errors as error:
                refused.append(f"{capfirst(self.name_of(row))}: {error}")
        return done, refused

    def _back(self, request: HttpRequest) -> HttpResponse | None:
        """To the page of the row that the deed was chosen on; the list (None) if it was there."""
        path = self._origin(request)
        return HttpResponseRedirect(path) if path else None

    def _origin(self, request: HttpRequest) -> str:
        origin = request.POST.get("origin", "")
        if not (origin.isascii() and origin.isdigit()):
            return ""
        return reverse(f"admin:{_name(self.model)}_change", args=[origin])

    def _told(self, done: list[tuple[str, str]], deed: Deed) -> Iterator[str]:
        """What became of the rows: a line for each that has words of its own, one for the rest."""
        yield from (f"{capfirst(name)}: {words}" for name, words in done if words)
        plain = [name for name, words in done if not words]
        if len(plain) == 1:
            yield f"{capfirst(plain[0])}: {deed.past}."
        elif plain:
            yield f"{capfirst(deed.past)}: {len(plain)} {self.opts.verbose_name_plural}."

    def makes_sense(self, action: str, row: Row) -> bool:
        """Whether the page of `row` offers a deed; what it refuses, it would refuse anyway."""
        del action, row
        return True

    def name_of(self, row: Row) -> str:
        """What to call a row, whatever state it is in."""
        return f"{self.opts.verbose_name} {row.pk}"

    def told(self, row: Row) -> str | SafeString:
        """What somebody must know of a row to decide on a deed; shown where it is confirmed."""
        return str(row)

    def _ask(
        self,
        request: HttpRequest,
        queryset: QuerySet[Row],
        deed: Deed,
        form: forms.Form,
        action: str,
        *,
        foreseen: Iterable[str] = (),
    ) -> TemplateResponse:
        chosen = request.POST.getlist(helpers.ACTION_CHECKBOX_NAME)
        context = {
            **self.admin_site.each_context(request),
            "title": deed.title,
            "deed": deed,
            "form": form,
            "action": action,
            "foreseen": list(foreseen),
            "shows_first": deed.foresee is not None and not foreseen,
            "origin": request.POST.get("origin", ""),
            "back": self._origin(request) or request.get_full_path(),
            "opts": self.opts,
            "chosen": chosen,
            "rows": [self.told(row) for row in queryset[:MOST_LISTED]],
            "count": queryset.count(),
            "select_across": request.POST.get("select_across", "0"),
            "media": self.media + form.media,
        }
        return TemplateResponse(request, "admin/confirm_deed.html", context)

    @override
    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """The page of one row offers the deeds of the list that make sense for it."""
        row = context.get("original")
        deeds = self.get_actions(request) or {}
        context["deeds"] = [
            (name, label % {"verbose_name": "", "verbose_name_plural": ""})
            for _, name, label in filter(None, deeds.values())
            if name != "delete_selected" and row is not None and self.makes_sense(name, row)
        ]
        return super().render_change_form(request, context, *args, **kwargs)


class ReadOnlyAdmin(StaffAdmin[Row]):
    """Rows that staff read and nobody edits by hand."""

    @override
    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody makes such a row by hand."""
        return False

    @override
    def has_change_permission(self, request: HttpRequest, obj: Row | None = None) -> bool:
        """Nobody edits such a row by hand."""
        return False

    @override
    def has_delete_permission(self, request: HttpRequest, obj: Row | None = None) -> bool:
        """Rows go when their time of keeping is over."""
        return False


class ReadOnlyInline(TabularInline[Inner, Outer]):
    """Rows shown under the row they belong to."""

    extra = 0
    max_num = 0
    can_delete = False
    show_change_link = False

    @override
    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody makes such a row by hand."""
        return False

    @override
    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody edits such a row by hand."""
        return False


def link(row: Model | None, words: str = "") -> str | SafeString:
    """A link to the page of `row`; a dash if there is none."""
    if row is None or row.pk is None:
        return NOTHING
    path = reverse(f"admin:{_name(row)}_change", args=[row.pk])
    return format_html('<a href="{}">{}</a>', path, words or str(row))


def list_link(model: type[Model], words: str, **lookups: Any) -> SafeString:
    """A link to the list of `model`, narrowed by `lookups`."""
    path = reverse(f"admin:{_name(model)}_changelist", query=lookups)
    return format_html('<a href="{}">{}</a>', path, words)


def _name(model: Model | type[Model]) -> str:
    options = model._meta  # noqa: SLF001 - Django documents it as public
    return f"{options.app_label}_{options.model_name}"


def path_link(path: str, words: str) -> str | SafeString:
    """A link to `path`; the bare words if there is none."""
    return format_html('<a href="{}">{}</a>', path, words) if path else words


def lines(texts: Iterable[str | SafeString]) -> str | SafeString:
    """Texts under one another; a dash if there are none."""
    return (
        format_html_join("", '<div class="staff-line">{}</div>', ((t,) for t in texts)) or NOTHING
    )


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str | SafeString:
    """A small table inside a page; a dash if it has no rows."""
    cells = [format_html_join("", "<td>{}</td>", ((cell,) for cell in row)) for row in rows]
    if not cells:
        return NOTHING
    return format_html(
        '<div class="staff-scroll"><table class="staff-table"><thead><tr>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>",
        format_html_join("", '<th scope="col">{}</th>', ((name,) for name in head)),
        format_html_join("", "<tr>{}</tr>", ((row,) for row in cells)),
    )


def moment(at: datetime | None) -> str:
    """An instant as staff read clocks, to the second."""
    return f"{timezone.localtime(at):%Y-%m-%d %H:%M:%S}" if at else NOTHING


def preformatted(text: str) -> SafeString:
    """A text as it was written, line ends and all."""
    return format_html('<pre class="staff-text" tabindex="0">{}</pre>', text)


def snippet(text: str, length: int = 80) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return f"{line[: length - 1]}…" if len(line) > length else line


def age(since: datetime | None) -> str:
    """How long ago something was, in its two largest units: `3 h 5 min`."""
    if since is None:
        return NOTHING
    return span(max(0, int((timezone.now() - since).total_seconds())))


def span(seconds: int) -> str:
    """A length of time in its two largest units: `3 h 5 min`."""
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    units = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s")]
    first = next((place for place, (amount, _) in enumerate(units) if amount), 3)
    return (
        " ".join(f"{amount} {unit}" for amount, unit in units[first : first + 2] if amount) or "0 s"
    )
