"""What came with a message is fetched by the process that owns the account, while its turn waits.

The turn waits in its row, for a time that ends by itself: whatever becomes of this process, the
turn begins, and a file that is not there by then is told as missing.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from delivery.database import DATABASE_TROUBLE
from delivery.errors import NetworkDown, OutcomeUnknown, RateLimited, TransportError
from delivery.means import Ambience
from gateway.fetching.errors import FetchError, NoSuchFile, TooLarge, Unavailable
from gateway.fetching.limits import Limits, Meter, too_large
from gateway.media import kinds, shelf
from gateway.media.store import Incoming, MediaStore
from gateway.models import MediaFile
from gateway.ports import GivesFiles

logger = logging.getLogger(__name__)

AT_ONCE = 4  # files of one account
ALBUM = timedelta(seconds=1)  # the pieces of an album come within this time of one another
A_PAGE = "A web page came instead of it; the account may lack the right to read files."
OUR_FAULT = "It could not be fetched because of a fault on this side."
FIRST_PAUSE = 0.5  # seconds between two tries, then twice as many
NOT_HERE = "Files of this platform cannot be fetched yet."


class Arrivals:
    """Fetches the files of one account.

    Args:
        adapter: The account's connection.
        ambience: Database and clock.
        let_begin: Lets a turn begin that waited for its files; it uses the database.
    """

    def __init__(self, adapter: object, ambience: Ambience, let_begin: Callable[..., None]) -> None:
        self._source = adapter if isinstance(adapter, GivesFiles) else None
        self._ambience, self._let_turn_begin = ambience, let_begin
        self._room = asyncio.Semaphore(AT_ONCE)
        self._under_way: set[int] = set()

    async def resume(self, account: str) -> None:
        """Fetch what an earlier process of the account was asked for."""
        for turn in await self._ask(shelf.waiting_turns, account):
            await self.gather(turn)

    async def gather(self, turn: int) -> None:
        """Fetch the files of a turn, each once, and let the turn begin when all are settled."""
        try:
            files = await self._ask(shelf.wanted, turn)
            await asyncio.gather(*(self._settle(file) for file in files))
            await self._let_begin(turn)
        except DATABASE_TROUBLE:  # the turn begins by itself when its time is over
            logger.exception("Files could not be fetched", extra={"turn": turn})

    async def _let_begin(self, turn: int) -> None:
        gathered = await self._ask(shelf.gathered, turn)
        if not gathered.is_complete:
            return
        if gathered.last_at is not None:
            left = gathered.last_at + ALBUM - self._ambience.clock()
            if left > timedelta():
                await asyncio.sleep(left.total_seconds())
                gathered = await self._ask(shelf.gathered, turn)
                last_at, now = gathered.last_at, self._ambience.clock()
                is_over = last_at is None or last_at + ALBUM <= now
                if not (gathered.is_complete and is_over):
                    return  # another piece came; whoever fetches that one goes on
        await self._ask(self._let_turn_begin, turn, now=self._ambience.clock())

    async def _settle(self, file: MediaFile) -> None:
        """Fetch a file, again and again while it may work later; write down what became of it."""
        if file.pk in self._under_way:
            return
        self._under_way.add(file.pk)
        try:
            async with asyncio.timeout(shelf.media_settings().wait.total_seconds()), self._room:
                await self._insist(file)
        except TimeoutError:
            await self._ask(shelf.miss, file, shelf.NOT_IN_TIME)
        except FetchError as error:
            await self._ask(shelf.miss, file, str(error))
        except (TransportError, OSError) as error:
            logger.warning("A file could not be fetched: %s", error, extra={"file": file.pk})
            await self._ask(shelf.miss, file, OUR_FAULT)
        finally:
            self._under_way.discard(file.pk)

    async def _insist(self, file: MediaFile) -> None:
        pause = FIRST_PAUSE
        while True:
            try:
                await self._fetch(file)
            except RateLimited as error:
                await asyncio.sleep(error.retry_after)
            except (Unavailable, NetworkDown, OutcomeUnknown):
                await asyncio.sleep(pause)
                pause *= 2
            else:
                return

    async def _fetch(self, file: MediaFile) -> None:
        settings = shelf.media_settings()
        most, seconds = settings.max_file, settings.wait.total_seconds()
        if self._source is None:
            raise NoSuchFile(NOT_HERE)
        if file.size > most:
            raise too_large(most, file.size)
        store = shelf.store()
        await self._must_have_room(file, file.size, store)
        limits = Limits(size=most, seconds=seconds)
        with store.writing(file.pk) as got:
            meter = Meter(got.write, most)
            await self._source.fetch(file.remote_id, meter, limits)
            _must_be_a_file(file, got)
            await self._must_have_room(file, got.size, store)
        if not await self._ask(shelf.keep, file, got):
            store.remove(file.pk)

    async def _must_have_room(self, file: MediaFile, size: int, store: MediaStore) -> None:
        lacking = await self._ask(shelf.lack_of_room, file, size, store)
        if lacking:
            raise TooLarge(lacking)

    async def _ask(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await self._ambience.database(function, *args, **kwargs)


def _must_be_a_file(file: MediaFile, got: Incoming) -> None:
    """A picture is no page: a server that wants a login answers with one and calls it success."""
    if not got.size:
        raise NoSuchFile("It is empty.")
    is_page = kinds.sniff(got.head, file.name) == kinds.HTML
    if is_page and (file.kind != "document" or kinds.family(file.mime_type) in _NEVER_PAGES):
        raise NoSuchFile(A_PAGE)


_NEVER_PAGES = {"image", "audio", "video"}
