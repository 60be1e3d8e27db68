"""Slack through the conformance suite."""

from dataclasses import replace

from gateway.platforms.slack import platform
from gateway.ports import AccountConfig
from tests.peers.slack import APP_TOKEN, CHANNEL, DM, SIGNING_SECRET, TOKEN, SlackPeer
from tests.peers.slack.world import TEAM
from tests.platforms.conformance import Conformance
from tests.platforms.harness import ACCOUNT, Harness, Seen


class SlackHarness(Harness):
    """Slack over Socket Mode."""

    platform = platform
    private, group, scope = DM, CHANNEL, TEAM
    secrets = (TOKEN, APP_TOKEN, SIGNING_SECRET, "ticket=")
    methods = {"connect": "auth.test", "send": "chat.postMessage", "edit": "chat.update"}

    def __init__(self) -> None:
        self.peer = SlackPeer()
        self.peer.open_chat(DM)
        self.peer.open_chat(CHANNEL)

    def config(self, **options: str) -> AccountConfig:
        fields = {"api_base_url": self.peer.url, **options}
        return AccountConfig(slug=ACCOUNT, secret=f"{TOKEN} {APP_TOKEN}", options=fields)

    def wrong_config(self) -> AccountConfig:
        return replace(self.config(), secret=f"xoxb-1-wrong-wrong-wrong {APP_TOKEN}")

    def impatient(self) -> dict[str, str]:
        return {"answer_seconds": "0.3"}

    def say(self, text: str, *, thread: str = "") -> str:
        return self.peer.say(text, CHANNEL if thread else DM, thread=thread)["ts"]

    def press(self, message_id: str, label: str) -> None:
        self.peer.press(DM, message_id, label)

    def say_nonsense(self) -> None:
        self.peer.post_event({"type": "message", "channel": 7, "ts": []})

    def share_file(self, data: bytes, name: str) -> None:
        self.peer.share_file(data, name)

    def seen(self, chat: str) -> list[Seen]:
        return [
            Seen(one.message_id, one.text, one.labels, one.thread)
            for one in self.peer.from_bot(chat)
        ]

    def told(self, press_text: str) -> bool:
        return press_text in [one.text for one in self.peer.world.ephemeral]

    def open_thread(self) -> str:
        with self.peer.changed:
            place = self.peer.world.channel(CHANNEL)
            return self.peer.world.store(place, {"user": "U0OTHER01", "text": "root"})["ts"]

    def close_thread(self, thread: str) -> None:
        self.peer.remove(CHANNEL, thread)

    def close_chat(self) -> None:
        self.peer.world.channel(DM).is_archived = True

    def remove(self, message_id: str) -> None:
        self.peer.remove(DM, message_id)

    def cut(self) -> None:
        self.peer.cut_sockets()


class TestSlack(Conformance):
    harness_class = SlackHarness
