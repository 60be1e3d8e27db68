"""What people do in the workspace, as a test says it; any thread may call these."""

import re
import time
from typing import Any

from tests.peers.server import Peer
from tests.peers.slack.api import WebApi
from tests.peers.slack.mailbox import Envelope, Mailbox
from tests.peers.slack.world import APP, BOT_USER, TEAM, Channel, Ephemeral, Message, Shown, World

PERSON, DM, CHANNEL = "U0PERSON1", "D0PERSON1", "C0GENERAL"
_MENTION = re.compile(rf"<@{BOT_USER}(\|[^>]*)?>")


class People(Peer):
    """The half of the peer that tests drive; `SlackPeer` is the whole of it."""

    world: World
    api: WebApi
    mailbox: Mailbox

    # --- what is seen ---------------------------------------------------------------------------

    def messages(self, chat: str) -> list[Shown]:
        """What a person in `chat` sees now, oldest first."""
        with self.changed:
            place = self.world.channels.get(chat)
            return self.world.shown(place) if place is not None else []

    def from_bot(self, chat: str) -> list[Shown]:
        """What the bot shows there now, oldest first."""
        return [message for message in self.messages(chat) if message.by_bot]

    def whispers(self, user: str) -> list[Ephemeral]:
        """What one person alone was shown, oldest first."""
        return [one for one in list(self.world.ephemeral) if one.user == user]

    def forms(self) -> list[dict[str, Any]]:
        """The forms that stand open."""
        return list(self.world.views.values())

    # --- what is done ---------------------------------------------------------------------------

    def open_chat(self, chat: str, **fields: Any) -> Channel:
        """A conversation, though nobody has spoken there yet."""
        with self.changed:
            return self.world.channel(chat, **fields)

    def say(
        self,
        text: str,
        chat: str = DM,
        user: str = PERSON,
        *,
        thread: str = "",
        **extra: Any,
    ) -> Message:
        """Let somebody write; the message, in Slack's shape."""
        with self.changed:
            place = self.world.channel(chat)
            self.world.user(user)
            message: Message = {"user": user, "team": TEAM, "text": text, **extra}
            message.setdefault("client_msg_id", f"00000000-0000-{self.world.number():012d}")
            if thread:
                message["thread_ts"] = thread
                root = place.messages.get(thread)
                if root is not None:
                    message["parent_user_id"] = root.get("user")
            stored = self.world.store(place, message)
            self.tell(place, stored)
            if _MENTION.search(text) and place.kind != "im":
                mention = {**stored, "type": "app_mention", "channel": place.id}
                self.post_event(mention)
            self.notify()
            return stored

    def share_file(
        self,
        data: bytes,
        name: str = "notes.txt",
        mime_type: str = "text/plain",
        *,
        chat: str = DM,
        user: str = PERSON,
        text: str = "",
        **fields: Any,
    ) -> Message:
        """Let somebody send a file."""
        with self.changed:
            file_id = f"F{self.world.number():08d}"
            told = {"id": file_id, "name": name, "mimetype": mime_type, "size": len(data)}
            self.world.files[file_id] = {**told, **fields, "content": data}
        return self.say(
            text, chat, user, subtype="file_share", files=[{**told, "mode": "hosted"}], upload=True
        )

    def edit_said(self, ts: str, text: str, chat: str = DM) -> None:
        """Let somebody change what they wrote."""
        with self.changed:
            place = self.world.channel(chat)
            before = dict(place.messages[ts])
            place.messages[ts] |= {"text": text, "edited": {"user": before["user"], "ts": ts}}
            changed = {
                "type": "message",
                "subtype": "message_changed",
                "hidden": True,
                "message": dict(place.messages[ts]),
                "previous_message": before,
                "ts": self.world.ts(),
            }
            self.tell(place, changed)
            self.notify()

    def remove(self, chat: str, ts: str) -> None:
        """Let a message be deleted by whoever may."""
        with self.changed:
            self.world.channel(chat).messages.pop(ts, None)
            self.notify()

    def press(
        self, chat: str, ts: str, button: str, user: str = PERSON, *, ticked: tuple[str, ...] = ()
    ) -> str:
        """Let somebody press a button, by its label or value, with boxes ticked; the press's id.

        Raises:
            LookupError: The message has no such button.
        """
        with self.changed:
            place = self.world.channel(chat)
            message = place.messages[ts]
            block, element = _element(message, button)
            action = {
                "type": "button",
                "action_id": element["action_id"],
                "block_id": block["block_id"],
                "text": element["text"],
                "value": element["value"],
                "action_ts": self.world.ts(),
            }
            return self.act(place, message, [action], user, _state(message, ticked))

    def act(
        self,
        place: Channel,
        message: Message,
        actions: list[dict[str, Any]],
        user: str,
        state: dict[str, Any] | None = None,
    ) -> str:
        """Let somebody do something with a message's controls; the trigger's id."""
        trigger = f"{self.world.number()}.{int(time.time() * 1000)}.{self.world.number():032x}"
        self.world.triggers[trigger] = time.monotonic()
        self.world.response_urls[trigger] = (place.id, user)
        container = {"type": "message", "message_ts": message["ts"], "channel_id": place.id}
        payload = {
            "type": "block_actions",
            "user": {"id": user, "username": "login", "name": self.world.user(user)},
            "api_app_id": APP,
            "team": {"id": TEAM, "domain": "peer"},
            "enterprise": None,
            "is_enterprise_install": False,
            "container": {**container, "is_ephemeral": False},
            "channel": {"id": place.id, "name": place.kind},
            "message": dict(message),
            "state": {"values": state or {}},
            "trigger_id": trigger,
            "response_url": f"{self.origin}/actions/{trigger}",
            "actions": actions,
        }
        self._post("interactive", payload)
        self.notify()
        return trigger

    def submit(self, view: dict[str, Any], text: str, user: str = PERSON) -> None:
        """Let somebody send a form."""
        with self.changed:
            self.world.views.pop(view["id"])
            block = view["blocks"][0]
            values = {block["block_id"]: {block["element"]["action_id"]: {"value": text}}}
            payload = {
                "type": "view_submission",
                "team": {"id": TEAM, "domain": "peer"},
                "user": {"id": user, "name": self.world.user(user), "team_id": TEAM},
                "api_app_id": APP,
                "trigger_id": f"{self.world.number()}.1.abc",
                "view": {**view, "state": {"values": values}},
                "response_urls": [],
            }
            self._post("interactive", payload)
            self.notify()

    def slash(self, command: str, text: str = "", chat: str = DM, user: str = PERSON) -> Envelope:
        """Let somebody give a slash command."""
        with self.changed:
            place = self.world.channel(chat)
            stamp = int(time.time() * 1000)
            trigger = f"{self.world.number()}.{stamp}.{self.world.number():032x}"
            payload = {
                "team_id": TEAM,
                "team_domain": "peer",
                "channel_id": place.id,
                "channel_name": "directmessage" if place.kind == "im" else "general",
                "user_id": user,
                "user_name": self.world.user(user),
                "command": command,
                "text": text,
                "api_app_id": APP,
                "is_enterprise_install": "false",
                "response_url": f"{self.origin}/actions/{trigger}",
                "trigger_id": trigger,
            }
            self.world.response_urls[trigger] = (place.id, user)
            return self._post("slash_commands", payload)

    # --- how the app hears of it ----------------------------------------------------------------

    def tell(self, place: Channel, message: Message) -> None:
        """Send the app the event of a message, whoever's it is."""
        kind = {"im": "im", "mpim": "mpim", "group": "group"}.get(place.kind, "channel")
        event = {key: value for key, value in message.items() if key != "metadata"}
        self.post_event({**event, "channel": place.id, "channel_type": kind})

    def post_event(self, event: dict[str, Any], **outer: Any) -> Envelope:
        """Send the app an event as it stands."""
        number = self.world.number()
        payload = {
            "token": "legacy",
            "team_id": TEAM,
            "context_team_id": TEAM,
            "api_app_id": APP,
            "event": {"event_ts": event.get("ts"), **event},
            "type": "event_callback",
            "event_id": f"Ev{number:08d}",
            "event_time": int(time.time()),
            "authorizations": [
                {"enterprise_id": None, "team_id": TEAM, "user_id": BOT_USER, "is_bot": True}
            ],
            "is_ext_shared_channel": False,
            **outer,
        }
        return self._post("events_api", payload)

    def _post(self, kind: str, payload: dict[str, Any]) -> Envelope:
        envelope = Envelope(f"{self.world.number():08d}-envelope", kind, payload)
        self.mailbox.post(envelope)
        return envelope


def _element(message: Message, button: str) -> tuple[dict[str, Any], dict[str, Any]]:
    found = [
        (block, element)
        for block in message.get("blocks") or ()
        for element in block.get("elements") or ()
        if element["type"] == "button"
    ]
    for block, element in found:
        if button in {element["text"]["text"], element["value"]}:
            return block, element
    labels = [element["text"]["text"] for _, element in found]
    raise LookupError(f"no button {button!r} among {labels}")


def _state(message: Message, ticked: tuple[str, ...]) -> dict[str, Any]:
    """What stands in the boxes of a message, when those named `ticked` are on."""
    values: dict[str, Any] = {}
    for block in message.get("blocks") or ():
        for element in block.get("elements") or ():
            if element["type"] == "checkboxes":
                chosen = [one for one in element["options"] if one["text"]["text"] in ticked]
                state = {"type": "checkboxes", "selected_options": chosen}
                values.setdefault(block["block_id"], {})[element["action_id"]] = state
    return values
