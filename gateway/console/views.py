"""The pages of the Control UI: one page, which then speaks over its WebSocket."""

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from gateway.console import queries, viewers
from gateway.console.errors import NotFound
from gateway.console.words import words
from gateway.media import shelf


@never_cache
@login_required
def file(request: HttpRequest, number: int) -> FileResponse:
    """A file of a conversation that the person may look at; always saved, never shown."""
    user = request.user
    assert isinstance(user, User)  # noqa: S101 - the decorator saw to it
    visible = viewers.viewer_of(user).visible_conversations()
    try:
        name, content = shelf.to_be_read(number, visible)
    except FileNotFoundError as error:
        raise Http404 from error
    answer = FileResponse(
        content, as_attachment=True, filename=name, content_type="application/octet-stream"
    )
    answer["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return answer


@never_cache
@login_required
def console(request: HttpRequest, conversation_id: int | None = None) -> HttpResponse:
    """The console, showing a conversation; without one, that which was active last."""
    user = request.user
    assert isinstance(user, User)  # noqa: S101 - the decorator saw to it
    viewer = viewers.viewer_of(user)
    if conversation_id is not None:
        try:
            queries.find(viewer, conversation_id)
        except NotFound as error:
            raise Http404 from error
    facts = {
        "conversation": conversation_id,
        "viewer": {"id": viewer.pk, "name": viewer.name, "staff": viewer.is_staff},
        "words": words(),
    }
    return render(request, "console.html", {"facts": facts, "viewer": viewer})
