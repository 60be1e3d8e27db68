"""Somebody who chats with the bot, and what they see."""

from collections.abc import Callable
from itertools import count

from tests.peers.telegram import Shown, TelegramPeer

MARKER = "♻️ Recovered reply — this may be a duplicate"
_ids = count(1001)


class Person:
    """A person in their own chat with the bot; nobody has been there before.

    Args:
        telegram: Where they chat.
    """

    def __init__(self, telegram: TelegramPeer) -> None:
        self.telegram = telegram
        self.id = next(_ids)

    def says(self, text: str, **more: object) -> int:
        """Let them write; the id of the message."""
        message_id: int = self.telegram.say(text, chat=self.id, user=self.id, **more)["message_id"]
        return message_id

    def presses(self, message: Shown, button: str) -> str:
        """Let them press a button as it was on `message`; the id of the press."""
        data = {label: data for row in message.buttons for label, data in row}
        return self.telegram.press(
            self.id, message.message_id, data.get(button, button), self.id, forged=True
        )

    @property
    def seen(self) -> list[Shown]:
        """What the bot shows them now, oldest first."""
        return self.telegram.from_bot(self.id)

    @property
    def texts(self) -> list[str]:
        """The words of it."""
        return [message.text for message in self.seen]

    @property
    def heard(self) -> list[str]:
        """The words of it, without what says itself that it may be a double; a silent one stays."""
        heard: list[str] = []
        for text in self.texts:
            plain = text.removeprefix(f"{MARKER}\n")
            if plain == text or plain not in heard:
                heard.append(plain)
        return heard

    def sees(self, what: str | Callable[[Shown], object], within: float = 90) -> Shown:
        """Wait until the bot shows a message with these words; that message."""
        matches = (lambda shown: what in shown.text) if isinstance(what, str) else what
        try:
            return self.telegram.wait_for(
                lambda: next((shown for shown in self.seen if matches(shown)), None), within
            )
        except TimeoutError:
            raise AssertionError(f"{what!r} is not among {self.texts}") from None

    def sees_buttons(self, within: float = 90) -> Shown:
        """Wait for a message with buttons; the latest."""
        self.sees(lambda shown: shown.buttons, within)
        return [shown for shown in self.seen if shown.buttons][-1]


def recovered(text: str) -> str:
    """How a text reads that may have arrived before."""
    return f"{MARKER}\n{text}"
