"""The broker's transport: kombu's own for Redis, with one client a channel.

Kombu makes a new client object for every command outside of its event loop: each message that is
sent, taken or acknowledged. It opens no connection of its own, those come from the channel's pool;
but making it costs a quarter of a millisecond, twice or thrice a message. A client without a
connection may be shared between threads (redis-py, "Thread Safety", read 2026-11-30).
"""

from typing import Any

from kombu.transport import redis
from typing_extensions import override


class Channel(redis.Channel):
    """A channel that makes its client once for each pool."""

    # What a worker was given and has not done when it ends is not put back: the turns that it lays
    # down are woken anew, and a sweep finds the rest.
    do_restore = False

    _shared: Any = None

    @override
    def _create_client(self, asynchronous: bool = False) -> Any:  # type: ignore[misc]
        if asynchronous:  # it holds a connection, and kombu keeps it itself
            return super()._create_client(asynchronous=True)  # type: ignore[misc]
        shared = self._shared
        if shared is None or shared.connection_pool is not self.pool:
            shared = self._shared = super()._create_client()  # type: ignore[misc]
        return shared


class Transport(redis.Transport):
    """Kombu's transport for Redis, with our channel."""

    Channel = Channel
