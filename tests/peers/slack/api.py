"""The Web API's methods, as far as the bot uses them; a refusal is raised in Slack's own word.

Source: docs.slack.dev/reference/methods.
"""

import json
import time
from collections.abc import Callable
from typing import Any

from tests.peers.slack import blocks
from tests.peers.slack.world import (
    APP,
    BOT,
    BOT_USER,
    TEAM,
    Channel,
    Ephemeral,
    Message,
    Refused,
    World,
)

Params = dict[str, Any]
Answer = dict[str, Any]
LONGEST = 40_000
TRIGGER_SECONDS = 3.0


class WebApi:
    """The methods.

    Args:
        world: What they read and change.
        tell: Tells the app of a message event.
        origin: Where files are uploaded to and fetched from.
    """

    def __init__(
        self, world: World, tell: Callable[[Channel, Message], None], origin: Callable[[], str]
    ) -> None:
        self.world, self._tell, self._origin = world, tell, origin
        self.scopes_lacking: dict[str, str] = {}
        self.shows_metadata = True
        self.trigger_seconds = TRIGGER_SECONDS
        self._methods: dict[str, Callable[[Params], Answer]] = {
            "auth.test": self._auth_test,
            "chat.postMessage": self._post,
            "chat.update": self._update,
            "chat.delete": self._delete,
            "chat.postEphemeral": self._post_ephemeral,
            "conversations.history": self._history,
            "conversations.replies": self._replies,
            "users.info": self._user,
            "views.open": self._open_view,
            "assistant.threads.setStatus": self._status,
            "files.getUploadURLExternal": self._upload_url,
            "files.completeUploadExternal": self._complete,
            "files.info": self._file,
        }

    def find(self, method: str) -> Callable[[Params], Answer]:
        """The function of a method."""
        if method in self.scopes_lacking:
            raise Refused("missing_scope", needed=self.scopes_lacking[method])
        if method not in self._methods:
            raise Refused("unknown_method")
        return self._methods[method]

    def _auth_test(self, params: Params) -> Answer:
        return {
            "url": "https://peer.slack.com/",
            "team": "Peer",
            "user": "hermes",
            "team_id": TEAM,
            "user_id": BOT_USER,
            "bot_id": BOT,
            "is_enterprise_install": False,
        }

    def _post(self, params: Params) -> Answer:
        channel = self.world.reachable(params.get("channel"))
        message = self._content(params)
        thread = params.get("thread_ts")
        if thread:
            if not isinstance(thread, str) or thread not in channel.messages:
                raise Refused("thread_not_found")
            message["thread_ts"] = thread
        stored = self.world.store(channel, message)
        self._tell(channel, stored)
        return {"channel": channel.id, "ts": stored["ts"], "message": stored}

    def _content(self, params: Params) -> Message:
        text = params.get("text") or ""
        given = params.get("blocks") or []
        if not text and not given:
            raise Refused("no_text")
        blocks.check(given)
        message: Message = {
            "user": BOT_USER,
            "bot_id": BOT,
            "app_id": APP,
            "team": TEAM,
            "text": text[:LONGEST],
        }
        if given:
            message["blocks"] = given
        if "metadata" in params:
            message["metadata"] = params["metadata"]
        return message

    def _own(self, params: Params, refusal: str) -> tuple[Channel, Message]:
        channel = self.world.reachable(params.get("channel"))
        message = channel.messages.get(str(params.get("ts")))
        if message is None:
            raise Refused("message_not_found")
        if message.get("user") != BOT_USER:
            raise Refused(refusal)
        return channel, message

    def _update(self, params: Params) -> Answer:
        channel, message = self._own(params, "cant_update_message")
        before = dict(message)
        text = params.get("text")
        if text is not None and len(text.encode()) > 12_000:
            raise Refused("msg_too_long")
        message.update(self._content({"text": message["text"], **params}))
        if not params.get("blocks"):
            message.pop("blocks", None)
        message["edited"] = {"user": BOT_USER, "ts": self.world.ts()}
        changed = {
            "type": "message",
            "subtype": "message_changed",
            "hidden": True,
            "message": dict(message),
            "previous_message": before,
            "ts": self.world.ts(),
        }
        self._tell(channel, changed)
        return {"channel": channel.id, "ts": message["ts"], "text": message["text"]}

    def _delete(self, params: Params) -> Answer:
        channel, message = self._own(params, "cant_delete_message")
        del channel.messages[message["ts"]]
        return {"channel": channel.id, "ts": message["ts"]}

    def _post_ephemeral(self, params: Params) -> Answer:
        channel = self.world.reachable(params.get("channel"))
        thread = params.get("thread_ts") or ""
        seen = Ephemeral(channel.id, params["user"], params["text"], thread)
        self.world.ephemeral.append(seen)
        return {"message_ts": self.world.ts()}

    def _history(self, params: Params) -> Answer:
        channel = self.world.reachable(params.get("channel"))
        top = [m for m in channel.messages.values() if m.get("thread_ts", m["ts"]) == m["ts"]]
        return self._page(top, params)

    def _replies(self, params: Params) -> Answer:
        channel = self.world.reachable(params.get("channel"))
        root = str(params.get("ts"))
        if root not in channel.messages:
            raise Refused("thread_not_found")
        thread = [m for m in channel.messages.values() if root in {m["ts"], m.get("thread_ts")}]
        return self._page(thread, params)

    def _page(self, messages: list[Message], params: Params) -> Answer:
        oldest = float(params.get("oldest") or 0)
        found = [dict(one) for one in messages if float(one["ts"]) > oldest]
        if not (params.get("include_all_metadata") and self.shows_metadata):
            for one in found:
                one.pop("metadata", None)
        start, limit = int(params.get("cursor") or 0), int(params.get("limit") or 100)
        page = found[start : start + limit]
        more = start + limit < len(found)
        following = {"next_cursor": str(start + limit) if more else ""}
        return {"messages": page, "has_more": more, "response_metadata": following}

    def _user(self, params: Params) -> Answer:
        user_id = params["user"]
        if user_id not in self.world.users:
            raise Refused("user_not_found")
        profile = {"display_name": self.world.users[user_id], "real_name": "Somebody"}
        return {"user": {"id": user_id, "team_id": TEAM, "name": "login", "profile": profile}}

    def _open_view(self, params: Params) -> Answer:
        begun = self.world.triggers.pop(params["trigger_id"], None)
        if begun is None:
            raise Refused("invalid_trigger_id")
        if time.monotonic() - begun > self.trigger_seconds:
            raise Refused("expired_trigger_id")
        blocks.check_view(params["view"])
        view = {**params["view"], "id": f"V{self.world.number():08d}", "team_id": TEAM}
        self.world.views[view["id"]] = view
        return {"view": view}

    def _status(self, params: Params) -> Answer:
        channel = self.world.reachable(params.get("channel_id"))
        if params.get("thread_ts") not in channel.messages:
            raise Refused("invalid_thread_ts")
        self.world.statuses.append((channel.id, params["thread_ts"], params["status"]))
        return {}

    def _upload_url(self, params: Params) -> Answer:
        file_id = f"F{self.world.number():08d}"
        self.world.files[file_id] = {
            "id": file_id,
            "name": params["filename"],
            "size": int(params["length"]),
            "content": None,
        }
        return {"upload_url": f"{self._origin()}/upload/{file_id}", "file_id": file_id}

    def _complete(self, params: Params) -> Answer:
        channel = self.world.reachable(params.get("channel_id"))
        given = params["files"]
        files = [self.world.files[one["id"]] for one in _decoded(given)]
        if any(file["content"] is None for file in files):
            raise Refused("file_not_found")
        shown = [{"id": file["id"], "name": file["name"], "mode": "hosted"} for file in files]
        message = {"user": BOT_USER, "bot_id": BOT, "app_id": APP, "files": shown}
        message["text"] = params.get("initial_comment") or ""
        if params.get("thread_ts"):
            if params["thread_ts"] not in channel.messages:
                raise Refused("thread_not_found")
            message["thread_ts"] = params["thread_ts"]
        stored = self.world.store(channel, {**message, "subtype": "file_share"})
        self._tell(channel, stored)
        shares = {"public": {channel.id: [{"ts": stored["ts"]}]}}
        return {"files": [{**one, "shares": shares} for one in shown]}

    def _file(self, params: Params) -> Answer:
        file = self.world.files.get(params["file"])
        if file is None:
            raise Refused("file_not_found")
        url = f"{self._origin()}/files/{file['id']}"
        told = {name: value for name, value in file.items() if name != "content"}
        return {"file": {"url_private_download": url, "mode": "hosted", **told}}


def _decoded(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value
