"""Both directions of one Slack account."""

from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp

from delivery.addresses import Address
from delivery.errors import (
    AuthenticationRefused,
    DestinationGone,
    NetworkDown,
    OutcomeUnknown,
    Refused,
    Unsupported,
)
from delivery.ports import OutgoingPart, Receipt
from gateway.fetching.limits import Limits, Meter
from gateway.messages import Batch, ButtonPress, Form
from gateway.platforms.slack import calls, conf, wire
from gateway.platforms.slack.files import Files
from gateway.platforms.slack.hearing import Hearing
from gateway.platforms.slack.sockets import Sockets
from gateway.platforms.slack.web import Web, new_session
from gateway.ports import AccountConfig, BotIdentity, OutgoingFile

# Our clock and Slack's need not agree, and a message is stamped when Slack has it.
SLACK_OF_CLOCKS = timedelta(minutes=5)
MOST_PAGES = 5
_NO_SCOPE = "Slack does not show what stands there ({why}), so nobody can look"


class SlackAdapter:
    """Both directions of one Slack account (`gateway.ports.Adapter`)."""

    def __init__(self, config: AccountConfig) -> None:
        self._config = config
        self._session: aiohttp.ClientSession | None = None
        self._web: Web | None = None
        self._files: Files | None = None
        self._hearing: Hearing | None = None
        self._user_id = ""

    async def connect(self) -> BotIdentity:
        """Check the tokens, learn who we are, and let the first socket stand.

        Raises:
            AuthenticationRefused: A setting or a token is wrong; the words say which.
            NetworkDown: Slack cannot be reached now.
        """
        await self.disconnect()
        wrong = conf.problems(self._config)
        if wrong:
            raise AuthenticationRefused(" ".join(wrong))
        options = conf.read(self._config)
        self._open(options)
        try:
            me = _identity(await self._api.ask("auth.test"))
            self._user_id = me.user_id
            self._hearing = await self._hear(options, me)
        except BaseException:
            await self.disconnect()
            raise
        return me

    async def disconnect(self) -> None:
        """Close everything; what was not acknowledged comes again."""
        hearing, self._hearing = self._hearing, None
        session, self._session = self._session, None
        self._web = self._files = None
        if hearing is not None:
            await hearing.close()
        if session is not None:
            await session.close()

    async def receive(self, cursor: str) -> Batch:
        """Wait for news; see `Hearing.receive`."""
        if self._hearing is None:
            raise NetworkDown("not connected to Slack")
        return await self._hearing.receive(cursor)

    # --- what goes out --------------------------------------------------------------------------

    async def send(self, part: OutgoingPart) -> Receipt:
        """Post one message, with the key by which `look` finds it."""
        sent = await self._api.call("chat.postMessage", calls.post_message(part))
        if not sent.get("ts"):
            raise OutcomeUnknown("Slack accepted the message without saying its ts")
        return Receipt(str(sent["ts"]))

    async def look(self, part: OutgoingPart, *, since: datetime) -> Receipt | None:
        """Look whether `part` has arrived, among what stands in its place since then.

        Raises:
            Refused: It cannot be told: the app may not read there, or what we sent shows no key.
            NetworkDown, RateLimited: Not now.
        """
        oldest = (since - SLACK_OF_CLOCKS).timestamp()
        method, params = calls.read_back(part, oldest=oldest)
        for _ in range(MOST_PAGES):
            page = await self._page(method, params)
            for message in page.get("messages") or ():
                if calls.key_in(message) == part.idempotency_key:
                    return Receipt(str(message["ts"]))
                self._must_show_its_key(message)
            following = (page.get("response_metadata") or {}).get("next_cursor")
            if not following:
                return None
            params = params | {"cursor": following}
        raise Refused(_NO_SCOPE.format(why="too much has been said since"))

    async def edit(self, message_id: str, part: OutgoingPart) -> Receipt:
        """Change a message's words and controls; to what it says already is success, to Slack."""
        await self._api.call("chat.update", calls.update(message_id, part))
        return Receipt(message_id)

    async def delete(self, address: Address, message_id: str) -> None:
        """Remove a message."""
        await self._api.call("chat.delete", calls.delete(address, message_id))

    async def typing(self, address: Address) -> None:
        """Show that we think, which Slack has in threads only; anywhere else there is no sign."""
        await self._status(address, calls.STATUS)

    async def stop_typing(self, address: Address) -> None:
        """Take the sign away: an edited message does not, and it would stay for two minutes."""
        await self._status(address, "")

    async def send_file(self, part: OutgoingPart, file: OutgoingFile) -> Receipt:
        """Send one message with a file."""
        if self._files is None:
            raise NetworkDown("not connected to Slack")
        return await self._files.send(part, file)

    async def fetch(self, file_id: str, meter: Meter, limits: Limits) -> None:
        """Fetch the file of a message."""
        if self._files is None:
            raise NetworkDown("not connected to Slack")
        await self._files.fetch(file_id, meter, limits)

    async def acknowledge(self, press: ButtonPress, *, text: str, alert: bool) -> None:  # noqa: ARG002
        """Tell the presser alone; Slack has one way for a notice and a box."""
        if not text:
            return
        response_url = calls.trigger_of(press)[1]
        answer = calls.ephemeral_answer(press, text)
        if response_url and await self._api.answer_to(response_url, answer):
            return
        await self._api.call("chat.postEphemeral", calls.post_ephemeral(press, text))

    async def open_form(self, press: ButtonPress, form: Form) -> None:
        """Show a field for own words, within three seconds of the press."""
        if not calls.trigger_of(press)[0]:
            raise Unsupported("the press cannot be answered with a form")
        now = datetime.now(UTC).timestamp()
        await self._api.call("views.open", calls.open_view(press, form, at=now))

    # --- inside ---------------------------------------------------------------------------------

    @property
    def _api(self) -> Web:
        if self._web is None:
            raise NetworkDown("not connected to Slack")
        return self._web

    def _open(self, options: conf.Options) -> None:
        self._session = new_session(options)
        self._web = Web(self._session, options.bot_token, options)
        self._files = Files(
            self._session,
            self._web,
            options.bot_token,
            base_url=options.base_url,
            proxy=options.proxy or None,
        )

    async def _hear(self, options: conf.Options, me: BotIdentity) -> Hearing:
        us = wire.Us(
            account=self._config.slug,
            user_id=me.user_id,
            replies_in_threads=options.replies_in_threads,
        )
        if options.events != conf.SOCKET or self._session is None:
            return Hearing(self._api, None, us)
        opener = Web(self._session, options.app_token, options)
        sockets = Sockets(opener.dial, options.connections)
        await sockets.open()
        return Hearing(self._api, sockets, us)

    async def _status(self, address: Address, status: str) -> None:
        if address.thread_id:
            await self._api.call("assistant.threads.setStatus", calls.set_status(address, status))

    async def _page(self, method: str, params: calls.Params) -> dict[str, Any]:
        try:
            return await self._api.ask(method, params, is_form=True)
        except DestinationGone:
            raise
        except Refused as error:
            raise Refused(_NO_SCOPE.format(why=error.code), code=error.code) from error

    def _must_show_its_key(self, message: dict[str, Any]) -> None:
        """A message of ours without a key means that keys are not shown to us."""
        is_ours = message.get("user") == self._user_id
        is_file = bool(message.get("files"))
        if is_ours and not is_file and not calls.key_in(message):
            raise Refused(_NO_SCOPE.format(why="without message metadata"))


def _identity(me: dict[str, Any]) -> BotIdentity:
    if not me.get("user_id"):
        raise NetworkDown("auth.test was answered without a user")
    return BotIdentity(user_id=str(me["user_id"]), user_name=str(me.get("user") or ""))
