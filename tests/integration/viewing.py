"""People who look at the Control UI: who they are, what they do, and a page they have open."""

from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.contrib.auth import get_user_model
from django.utils import timezone

from gateway.console import actions, queries
from gateway.console.consumers import ConsoleConsumer
from gateway.console.viewers import viewer_of
from tests import factories

CLIENT_ID = "client-0001"
off_loop = database_sync_to_async  # gives the connection back, as `sync_to_async` does not


def make_user(name):
    return viewer_of(get_user_model().objects.create_user(name, password="pass"))


def chat_of(viewer):
    return actions.first_chat(viewer, now=timezone.now())


def say(viewer, conversation, text="Hello", client_id=CLIENT_ID):
    return actions.say(viewer, conversation.pk, client_id, text, now=timezone.now())


def ask(viewer, **changes):
    conversation = chat_of(viewer)
    turn = factories.make_turn(conversation, state="waiting", sender_id=viewer.person_id)
    return factories.make_prompt(turn, **changes)


def snapshot(viewer, conversation, since=None):
    conversation.refresh_from_db()
    return queries.snapshot(conversation, viewer, since=since, now=timezone.now())


def shown(viewer, conversation, since=None):
    return {entry["id"]: entry for entry in snapshot(viewer, conversation, since)["entries"]}


class Page:
    """A page that speaks over its WebSocket."""

    def __init__(self, user, session=None) -> None:
        self.communicator = WebsocketCommunicator(ConsoleConsumer.as_asgi(), "/ws/console/")
        self.communicator.scope["user"] = user
        if session is not None:
            self.communicator.scope["session"] = session
        self.pushes = []
        self.number = 0

    async def __aenter__(self):
        connected, _ = await self.communicator.connect()
        assert connected
        return self

    async def __aexit__(self, *_):
        await self.communicator.disconnect()

    async def ask(self, kind, **fields):
        self.number += 1
        await self.communicator.send_json_to({"id": self.number, "type": kind, **fields})
        while True:
            message = await self.communicator.receive_json_from(timeout=5)
            if message.get("re") == self.number:
                return message
            self.pushes.append(message)

    async def wait_for(self, kind, matches=lambda message: True):
        while True:
            for message in self.pushes:
                if message["type"] == kind and matches(message):
                    self.pushes.remove(message)
                    return message
            self.pushes.append(await self.communicator.receive_json_from(timeout=8))


@off_loop
def user_of(viewer):
    return get_user_model().objects.get(pk=viewer.pk)
