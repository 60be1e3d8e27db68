"""What people do in Telegram, as a test says it: write, press, edit, block, move house.

Every verb changes the world as Telegram would and queues the update the bot gets to hear of it.
Any thread may call them.
"""

import itertools
import time
from typing import Any

from tests.peers.server import Peer
from tests.peers.telegram.api import BotApi
from tests.peers.telegram.updates import UpdateQueue
from tests.peers.telegram.world import Chat, Message, World, found_in

PERSON = 1001


class People(Peer):
    """The half of the peer that tests drive; `TelegramPeer` is the whole of it."""

    world: World
    updates: UpdateQueue
    api: BotApi

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self._callback_numbers = itertools.count(4_400_000_000_000_001)

    def say(
        self,
        text: str | None,
        chat: int | None = None,
        user: int = PERSON,
        *,
        thread: int | None = None,
        reply_to: int | None = None,
        **extra: Any,
    ) -> Message:
        """Let `user` write `text` in `chat` (default: their own chat with the bot).

        Args:
            text: The words; None for a message without any (give `photo=…` and so on).
            chat: A chat id: positive for a person's own, negative for a group, `-100…` for a
                supergroup; made up at first sight.
            user: Who writes.
            thread: The topic it is written in.
            reply_to: The id of the message it answers.
            extra: More fields of the message, in the Bot API's shape.

        Returns:
            The message, in the Bot API's shape.
        """
        with self.changed:
            place = self._place(chat, user)
            fields: dict[str, Any] = {"text": text, "message_thread_id": thread}
            if text:
                fields["entities"] = found_in(text) or None
            fields["reply_to_message"] = self.world.quoted(place, reply_to)
            message = self.world.store(place, self.world.user(user), **(fields | extra))
            kind = "channel_post" if place.type == "channel" else "message"
            self.updates.push({kind: dict(message)})
            self.notify()
            return message

    def send_file(
        self,
        data: bytes,
        name: str = "notes.txt",
        *,
        kind: str = "document",
        chat: int | None = None,
        user: int = PERSON,
        caption: str | None = None,
        **extra: Any,
    ) -> Message:
        """Let `user` send a file; `kind` is `document`, `photo`, `voice`, `audio` or `video`."""
        with self.changed:
            described = self.world.keep_file(name, data)
        if kind == "photo":
            extra["photo"] = [{**described, "width": 90, "height": 90}]
        else:
            extra[kind] = described if kind == "document" else {**described, "duration": 1}
            extra[kind] |= {"width": 90, "height": 90} if kind == "video" else {}
        return self.say(None, chat, user, caption=caption, **extra)

    def edit_said(
        self, message_id: int, text: str, chat: int | None = None, user: int = PERSON
    ) -> Message:
        """Let `user` change what they wrote."""
        with self.changed:
            message = self._place(chat, user).messages[message_id]
            message |= {"text": text, "edit_date": int(time.time()), "entities": found_in(text)}
            self.updates.push({"edited_message": dict(message)})
            self.notify()
            return message

    def press(
        self,
        chat: int,
        message_id: int,
        button: str,
        user: int = PERSON,
        *,
        forged: bool = False,
    ) -> str:
        """Let `user` press a button of the bot's message, by its label or its callback data.

        Args:
            forged: Press data that is not on the message now: a stale client, or an attacker.

        Returns:
            The callback's id, for `answers_to`.

        Raises:
            LookupError: The message has no such button.
        """
        with self.changed:
            place = self.world.chat(chat)
            message = place.messages.get(message_id)
            data = button if forged else _data_behind(message, button)
            callback_id = str(next(self._callback_numbers))
            self.api.pressed_at[callback_id] = time.monotonic()
            gone = {"message_id": message_id, "chat": place.shape, "date": 0}
            self.updates.push(
                {
                    "callback_query": {
                        "id": callback_id,
                        "from": self.world.user(user),
                        "message": dict(message) if message else gone,
                        "chat_instance": str(-chat),
                        "data": data,
                    }
                }
            )
            self.notify()
            return callback_id

    def react(self, chat: int, message_id: int, emoji: str, user: int = PERSON) -> None:
        """Let `user` put a reaction under a message; the bot hears of it only if it asked to."""
        with self.changed:
            self.updates.push(
                {
                    "message_reaction": {
                        "chat": self.world.chat(chat).shape,
                        "message_id": message_id,
                        "user": self.world.user(user),
                        "date": int(time.time()),
                        "old_reaction": [],
                        "new_reaction": [{"type": "emoji", "emoji": emoji}],
                    }
                }
            )

    def push(self, raw_update: dict[str, Any], update_id: int | None = None) -> int:
        """Queue an update as it stands; with an id of its own even one that was there before.

        Returns:
            Its update id; 0 if the bot did not ask for its kind.
        """
        with self.changed:
            return self.updates.push(raw_update, update_id=update_id)

    def open_chat(self, chat: int, **fields: Any) -> Chat:
        """A chat the bot may write to, though nobody has spoken there yet."""
        with self.changed:
            return self.world.chat(chat, **fields)

    def add_topic(self, chat: int, name: str, thread: int | None = None) -> int:
        """Open a topic in a forum or a private chat; gives its thread id."""
        with self.changed:
            place = self.world.chat(chat)
            place.is_forum = place.type == "supergroup"
            if thread is None:
                # 1 is the General topic, which is always there.
                thread = max(place.last_message_id, 1) + 1
            place.last_message_id = max(place.last_message_id, thread)
            place.topics[thread] = name
            return thread

    def remove_topic(self, chat: int, thread: int) -> None:
        """Delete a topic and everything in it."""
        with self.changed:
            place = self.world.chat(chat)
            place.topics.pop(thread, None)
            for message_id, message in list(place.messages.items()):
                if message.get("message_thread_id") == thread:
                    del place.messages[message_id]
            self.notify()

    def remove(self, chat: int, message_id: int) -> None:
        """Let a person delete a message; the bot is not told, as in Telegram."""
        with self.changed:
            self.world.chat(chat).messages.pop(message_id, None)
            self.notify()

    def block(self, chat: int, *, announce: bool = True) -> None:
        """Let a person block the bot, or a group kick it out."""
        private = chat > 0
        words = "bot was blocked by the user" if private else "bot was kicked from the group chat"
        if str(chat).startswith("-100"):
            words = "bot was kicked from the supergroup chat"
        self._bar(chat, words, "member", "kicked", announce)

    def deactivate(self, chat: int) -> None:
        """Let a person delete their account; the bot is not told."""
        self._bar(chat, "user is deactivated", "member", "kicked", announce=False)

    def unblock(self, chat: int, *, announce: bool = True) -> None:
        """Let the bot in again."""
        self._bar(chat, "", "kicked", "member", announce)

    def migrate(self, chat: int, new_chat: int | None = None, *, announce: bool = True) -> int:
        """Let a group become a supergroup under a new id, which is returned."""
        with self.changed:
            old = self.world.chat(chat)
            new_id = new_chat or int(f"-100{abs(chat)}")
            new = self.world.chat(new_id, title=old.title, type="supergroup")
            old.moved_to = new_id
            if announce:
                person = self.world.user(PERSON)
                for place, fields in (
                    (old, {"migrate_to_chat_id": new_id}),
                    (new, {"migrate_from_chat_id": chat}),
                ):
                    self.updates.push({"message": dict(self.world.store(place, person, **fields))})
            self.notify()
            return new_id

    def _place(self, chat: int | None, user: int) -> Chat:
        """Where somebody is about to write; whoever writes to the bot has unblocked it."""
        self.world.user(user)
        place = self.world.chat(user if chat is None else chat)
        if place.type == "private":
            place.closed = ""
        return place

    def _bar(self, chat: int, words: str, before: str, after: str, announce: bool) -> None:
        with self.changed:
            place = self.world.chat(chat)
            place.closed = words
            if announce:
                member = {"user": self.world.author, "until_date": 0}
                self.updates.push(
                    {
                        "my_chat_member": {
                            "chat": place.shape,
                            "from": self.world.user(chat if chat > 0 else PERSON),
                            "date": int(time.time()),
                            "old_chat_member": {**member, "status": before},
                            "new_chat_member": {**member, "status": after},
                        }
                    }
                )
            self.notify()


def _data_behind(message: Message | None, button: str) -> str:
    rows = ((message or {}).get("reply_markup") or {}).get("inline_keyboard", ())
    buttons = [one for row in rows for one in row if "callback_data" in one]
    for field in ("text", "callback_data"):
        for one in buttons:
            if one[field] == button:
                return str(one["callback_data"])
    raise LookupError(f"no button {button!r} among {[one['text'] for one in buttons]}")
