"""The WebSocket of the Control UI: one request, one reply, and pushes about the open conversation.

Every message of a page is `{"id", "type", …}`; its reply is `{"re": id, …}` or, with a sentence for
the person, `{"re": id, "error", "again"}` (`again`: the same request may succeed later). Pushes
carry a `type`: `sync`, `live` and `list`.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from typing_extensions import override

from clarify.approvals import Reach, Ruling
from delivery import hints
from delivery.database import DATABASE_TROUBLE
from gateway.console import actions, following, queries, viewers
from gateway.console.errors import NotFound, Refused
from gateway.console.following import Follower
from gateway.console.viewers import Viewer

logger = logging.getLogger(__name__)

LOGGED_OUT = 4401
TOO_BIG = 1009
LONGEST_FRAME = 8 * actions.LONGEST_TEXT  # JSON may need several characters for one
LIST_PERIOD = 5.0  # seconds between looks at the list of conversations
LIST_PACE = 1.0


class LoggedOut(Exception):
    """The person may not look any more: logged out, disabled, or with another password now."""


class ConsoleConsumer(AsyncJsonWebsocketConsumer):
    """One open page."""

    # Hints are subscribed to apart, so that a page opens also while the broker is away.
    channel_layer_alias = "none"

    async def connect(self) -> None:
        """Take the connection; say at once if nobody is logged in."""
        self.viewer: Viewer | None = None
        self.follower: Follower | None = None
        self.filters = queries.Filters()
        self.language = "en"
        self._listed = 0
        self._list_changed = asyncio.Event()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        await self.accept()
        try:
            self.viewer = await self._database(self._identify)
        except LoggedOut:
            await self.close(LOGGED_OUT)

    @classmethod
    @override
    async def encode_json(cls, content: Any) -> str:
        """As it is, not in ASCII, which makes six bytes of every letter of most scripts."""
        written = json.dumps(content, ensure_ascii=False)
        return written.encode("utf-8", "replace").decode("utf-8")

    async def disconnect(self, code: int) -> None:  # noqa: ARG002 - Channels' signature
        """End what was running for the page; nothing else depends on it."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def receive(self, text_data: str | None = None, **_kwargs: Any) -> None:
        """Answer one request."""
        if text_data is None or len(text_data) > LONGEST_FRAME:
            await self.close(TOO_BIG)
            return
        try:
            request = json.loads(text_data)
        except (ValueError, RecursionError):
            request = None
        if not isinstance(request, dict):
            await self.send_json({"re": None, "error": "That is no request."})
            return
        try:
            reply = await self._answer(request)
        except LoggedOut:
            await self.close(LOGGED_OUT)
            return
        await self.send_json({"re": request.get("id"), **reply})

    async def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        handle = HANDLERS.get(str(request.get("type")))
        if handle is None:
            return {"error": "There is no such request."}
        try:
            return await handle(self, request)
        except Refused as error:
            return {"error": str(error)}
        except (KeyError, TypeError, ValueError, OverflowError):
            return {"error": "This request is not complete."}
        except DATABASE_TROUBLE as error:
            logger.warning("A request of a page failed: %s", type(error).__name__)
            with translation.override(self.language):
                return {"error": _("The database does not answer at the moment."), "again": True}

    # --- the requests ----------------------------------------------------------------------

    async def hello(self, request: dict[str, Any]) -> dict[str, Any]:
        """The page is there: who looks, the list, and which conversation to show."""
        language = str(request.get("language", ""))
        if translation.check_for_language(language):
            self.language = language
        wanted = request.get("conversation")
        facts: dict[str, Any] = await self._database(self._welcome, int(wanted) if wanted else None)
        self._run("list", self._keep_list)
        return facts

    def _welcome(self, wanted: int | None) -> dict[str, Any]:
        viewer = self._current()
        if wanted is None:
            wanted = actions.first_chat(viewer, now=timezone.now()).pk
        return {
            "viewer": {"id": viewer.pk, "name": viewer.name, "staff": viewer.is_staff},
            "conversation": wanted,
            "list": queries.conversations(viewer, self.filters),
            "platforms": queries.platforms(viewer),
            "now": timezone.now().isoformat(),
        }

    async def open(self, request: dict[str, Any]) -> dict[str, Any]:
        """Show a conversation, and follow it from now on."""
        since = _instant(request.get("since"))
        if since is not None:
            since -= queries.LONG_OVERLAP
        facts = await self._look(int(request["conversation"]), since=since)
        first, *rest = following.messages(facts)
        if rest:  # too much for one reply: the page begins anew with the latest
            facts = await self._look(int(request["conversation"]), since=None)
            first = following.messages(facts)[0]
        self.follower = Follower(facts, self._look, self._push)
        self._run("follow", self.follower.run)
        return first

    async def _push(self, message: dict[str, Any]) -> None:
        if message["type"] == "sync":
            self._list_changed.set()  # what waits or runs is told there as well
        await self.send_json(message)

    async def say(self, request: dict[str, Any]) -> dict[str, Any]:
        """Say something."""
        entry = await self._do(
            actions.say,
            int(request["conversation"]),
            str(request["client_id"]),
            str(request["text"]),
        )
        return {"entry": entry}

    async def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a prompt."""
        answers = request["answers"]
        if not isinstance(answers, dict):
            raise TypeError
        return {"entry": await self._do(actions.answer, _key(request["prompt"]), answers)}

    async def skip(self, request: dict[str, Any]) -> dict[str, Any]:
        """Decline a prompt."""
        return {"entry": await self._do(actions.skip, _key(request["prompt"]))}

    async def rule(self, request: dict[str, Any]) -> dict[str, Any]:
        """Approve or deny an operation."""
        return {"entry": await self._do(actions.rule, _key(request["prompt"]), _ruling(request))}

    async def stop(self, request: dict[str, Any]) -> dict[str, Any]:
        """Stop a turn."""
        return {"stopped": await self._do(actions.stop, _key(request["turn"]))}

    async def new(self, request: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - one signature
        """Begin another chat."""
        conversation = await self._do(actions.new_chat)
        return {"conversation": conversation.pk}

    async def more(self, request: dict[str, Any]) -> dict[str, Any]:
        """Earlier entries of a conversation."""
        before = _instant(request["before"])
        page: dict[str, Any] = await self._database(
            self._earlier, int(request["conversation"]), before
        )
        return page

    def _earlier(self, conversation_id: int, before: datetime | None) -> dict[str, Any]:
        viewer = self._current()
        conversation = queries.find(viewer, conversation_id)
        shown, has_more = queries.page(conversation, viewer, before=before)
        *others, latest = queries.portions(shown)
        if others and all(queries.is_of(entry, before) for entry in latest):
            latest = others.pop() + latest  # the page has those already
        return {"entries": latest, "more": has_more or bool(others)}

    async def list_only(self, request: dict[str, Any]) -> dict[str, Any]:
        """List conversations, filtered, and keep to that filter."""
        self.filters = queries.Filters(
            search=str(request.get("search", ""))[:200],
            platform=str(request.get("platform", ""))[:32],
        )
        return {"list": await self._database(self._conversations)}

    async def ping(self, request: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - one signature
        """Say that the connection stands."""
        return {"now": timezone.now().isoformat()}

    # --- what runs beside them -------------------------------------------------------------

    async def _keep_list(self) -> None:
        """Send the list whenever it changed."""
        async with asyncio.TaskGroup() as group:
            if self.viewer is not None and self.viewer.is_staff:
                group.create_task(self._listen())
            while True:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._list_changed.wait(), LIST_PERIOD)
                self._list_changed.clear()
                await self._send_list()
                await asyncio.sleep(LIST_PACE)

    async def _send_list(self) -> None:
        try:
            found = await self._database(self._conversations)
        except DATABASE_TROUBLE as error:
            logger.warning("The list could not be read: %s", type(error).__name__)
            return
        mark = hash(repr(found))
        if mark != self._listed:
            self._listed = mark
            await self.send_json({"type": "list", "list": found})

    async def _listen(self) -> None:
        while True:
            try:
                async for _hint in hints.subscribe(hints.OPERATORS):
                    self._list_changed.set()
            except Exception as error:  # noqa: BLE001 - whatever the broker's client raises
                logger.warning("Hints are away: %s", type(error).__name__)
            await asyncio.sleep(following.RESUBSCRIBE)

    def _conversations(self) -> list[dict[str, Any]]:
        return queries.conversations(self._current(), self.filters)

    def _run(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Let `work` run beside the requests, in place of the one of that name before."""
        former = self._tasks.pop(name, None)
        if former is not None:
            former.cancel()
        self._tasks[name] = asyncio.create_task(self._guard(work), name=f"console {name}")

    async def _guard(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except* (LoggedOut, NotFound):
            await self.close(LOGGED_OUT)
        except* Exception:
            # The page connects again by itself and finds everything in the rows.
            logger.exception("A page could not be served any longer")
            await self.close()

    # --- the database ----------------------------------------------------------------------

    async def _do(self, action: Callable[..., Any], *arguments: Any) -> Any:
        def act() -> Any:
            return action(self._current(), *arguments, now=timezone.now())

        result = await self._database(act)
        self._list_changed.set()
        if self.follower is not None:
            self.follower.nudge()
        return result

    async def _look(self, conversation_id: int, *, since: datetime | None) -> dict[str, Any]:
        def look() -> dict[str, Any]:
            return following.snapshot(self._current(), conversation_id, since=since)

        facts: dict[str, Any] = await self._database(look)
        return facts

    async def _database(self, function: Callable[..., Any], *arguments: Any) -> Any:
        def run() -> Any:
            with translation.override(self.language):
                return function(*arguments)

        # Not thread-sensitive: one slow page must not hold up all the others.
        return await database_sync_to_async(run, thread_sensitive=False)()

    def _identify(self) -> Viewer:
        user = self.scope.get("user")
        viewer = viewers.find(user.pk) if user is not None and user.pk else None
        if viewer is None:
            raise LoggedOut
        return viewer

    def _current(self) -> Viewer:
        """The viewer as they are now, not as they were when the page was opened."""
        viewer = self._identify()
        session = self.scope.get("session")
        key = session.session_key if session is not None else None
        is_over = key is not None and not session.exists(key)
        if is_over or (self.viewer and viewer.session_hash != self.viewer.session_hash):
            raise LoggedOut
        return viewer


def _key(value: object) -> int:
    """What names a row; nothing that merely can be taken for a number.

    Raises:
        TypeError: It is no whole number.
    """
    if type(value) is not int:
        raise TypeError
    return value


def _ruling(request: dict[str, Any]) -> Ruling:
    """What a page decided about an operation.

    Raises:
        TypeError, ValueError: It says so by half only.
    """
    approved, reach = request["approved"], Reach(request.get("reach", Reach.ONCE))
    if not isinstance(approved, bool):
        raise TypeError
    return Ruling(approved, reach, str(request.get("reason", "")))


def _instant(text: object) -> datetime | None:
    """An instant that this server once wrote; None for nothing.

    Raises:
        ValueError: It is no instant.
    """
    if not text:
        return None
    at = datetime.fromisoformat(str(text))
    if at.tzinfo is None:
        raise ValueError
    return at


Handler = Callable[[ConsoleConsumer, dict[str, Any]], Awaitable[dict[str, Any]]]
HANDLERS: dict[str, Handler] = {
    "hello": ConsoleConsumer.hello,
    "open": ConsoleConsumer.open,
    "say": ConsoleConsumer.say,
    "answer": ConsoleConsumer.answer,
    "skip": ConsoleConsumer.skip,
    "rule": ConsoleConsumer.rule,
    "stop": ConsoleConsumer.stop,
    "new": ConsoleConsumer.new,
    "more": ConsoleConsumer.more,
    "list": ConsoleConsumer.list_only,
    "ping": ConsoleConsumer.ping,
}
