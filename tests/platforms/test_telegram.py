"""Telegram through the conformance suite."""

from dataclasses import replace

from gateway.platforms.telegram import platform
from gateway.ports import AccountConfig
from tests.peers.telegram import PERSON, TOKEN, TelegramPeer
from tests.platforms.conformance import Conformance
from tests.platforms.harness import ACCOUNT, Harness, Seen

FORUM = -1001500000002


class TelegramHarness(Harness):
    """Telegram over the long poll."""

    platform = platform
    private, group = str(PERSON), str(FORUM)
    secrets = (TOKEN,)
    methods = {"connect": "getMe", "send": "sendMessage", "edit": "editMessageText"}

    def __init__(self) -> None:
        self.peer = TelegramPeer()
        self.peer.open_chat(PERSON)
        self.peer.open_chat(FORUM, is_forum=True)

    def config(self, **options: str) -> AccountConfig:
        fields = {"api_base_url": self.peer.url, "poll_seconds": "1", **options}
        return AccountConfig(slug=ACCOUNT, secret=TOKEN, options=fields)

    def wrong_config(self) -> AccountConfig:
        return replace(self.config(), secret="123456:WRONGWRONGWRONG")

    def impatient(self) -> dict[str, str]:
        return {"answer_seconds": "0.3", "poll_seconds": "0"}

    def say(self, text: str, *, thread: str = "") -> str:
        chat = FORUM if thread else PERSON
        return str(self.peer.say(text, chat, thread=int(thread) if thread else None)["message_id"])

    def press(self, message_id: str, label: str) -> None:
        self.peer.press(PERSON, int(message_id), label)

    def say_nonsense(self) -> None:
        self.peer.push({"message": {"chat": "nonsense"}})

    def share_file(self, data: bytes, name: str) -> None:
        self.peer.send_file(data, name)

    def seen(self, chat: str) -> list[Seen]:
        return [
            Seen(str(one.message_id), one.text, one.labels, str(one.thread or ""))
            for one in self.peer.from_bot(int(chat))
        ]

    def told(self, press_text: str) -> bool:
        return press_text in [one.text for one in self.peer.answers_to_callbacks]

    def open_thread(self) -> str:
        return str(self.peer.add_topic(FORUM, "Rigging"))

    def close_thread(self, thread: str) -> None:
        self.peer.remove_topic(FORUM, int(thread))

    def close_chat(self) -> None:
        self.peer.block(PERSON, announce=False)

    def remove(self, message_id: str) -> None:
        self.peer.remove(PERSON, int(message_id))

    def cut(self) -> None:
        self.peer.refuse().end()


class TestTelegram(Conformance):
    harness_class = TelegramHarness
