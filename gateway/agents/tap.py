"""The HTTP client of the models, with a tap: who listens hears an answer as it streams by."""

from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from typing import Any

import httpx2
from typing_extensions import override

from gateway.agents.sse import StreamJoiner


class Tap:
    """Where the text of one model call comes out while it streams.

    Attributes:
        is_open: Text comes out here, so the slower way need not be listened to as well.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.is_open = False


#: The tap of the model call the present task is in; set around the call.
current_tap: ContextVar[Tap | None] = ContextVar("current_tap", default=None)


class TappedClient(httpx2.AsyncClient):
    """An HTTP client that lets event streams run through the tap of the present task."""

    @override
    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send `request`; an event stream that comes back runs through the tap."""
        response = await super().send(request, **options)
        tap = current_tap.get()
        source = response.stream
        if tap is None or not isinstance(source, httpx2.AsyncByteStream):
            return response
        if options.get("stream") and _is_event_stream(response):
            tap.is_open = True
            response.stream = _TappedStream(source, StreamJoiner(tap.say))
        return response


class _TappedStream(httpx2.AsyncByteStream):
    def __init__(self, source: httpx2.AsyncByteStream, joiner: StreamJoiner) -> None:
        self._source = source
        self._joiner = joiner

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._source:
            joined = self._joiner.feed(data)
            if joined:
                yield joined
        rest = self._joiner.finish()
        if rest:
            yield rest

    @override
    async def aclose(self) -> None:
        await self._source.aclose()


def _is_event_stream(response: httpx2.Response) -> bool:
    headers = response.headers
    is_plain = headers.get("content-encoding", "identity") == "identity"
    return is_plain and headers.get("content-type", "").startswith("text/event-stream")
