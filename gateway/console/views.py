"""The pages of the Control UI: one page, which then speaks over its WebSocket."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing
from typing import BinaryIO

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.handlers.asgi import ASGIRequest
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from gateway.console import queries, viewers
from gateway.console.errors import NotFound
from gateway.console.words import words
from gateway.media import shelf

PIECE = 262_144  # bytes


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
    # An ASGI server would read a plain file to its end before it sends the first byte.
    pieces = _pieces(content) if isinstance(request, ASGIRequest) else content
    answer = FileResponse(
        pieces, as_attachment=True, filename=name, content_type="application/octet-stream"
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


async def _pieces(content: BinaryIO) -> AsyncIterator[bytes]:
    with closing(content):
        while piece := await asyncio.to_thread(content.read, PIECE):
            yield piece
