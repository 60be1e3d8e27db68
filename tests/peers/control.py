"""Driving a peer that runs in a process of its own: a small HTTP API beside the platform's.

    POST /control/say       {"text", "chat"?, "user"?, "thread"?, …}   -> the message
    POST /control/press     {"chat", "message_id", "button", "user"?}  -> {"callback_id"}
    GET  /control/messages?chat=1001                                   -> what a person sees
    GET  /control/calls?method=&chat=&since=                           -> the journal
    POST /control/faults    {"kind", "method"?, "times"?, …}           -> {"standing"}
    DELETE /control/faults                                             ends them all
    POST /control/forget                                               empties the journal
    GET  /control/requests                                             -> a model's journal

It is for loopback and for tests: nobody is asked who they are.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from aiohttp import web

from tests.peers.faults import fault_from
from tests.peers.model.peer import ModelPeer
from tests.peers.server import json_answer
from tests.peers.slack.peer import SlackPeer
from tests.peers.telegram.peer import TelegramPeer

Fields = dict[str, Any]
Verb = Callable[[Fields], Any]
_PREFIX = "/control/"


class ControlledTelegram(TelegramPeer):
    """A Telegram peer that also answers `/control/…`."""

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """One request of the bot's, or one that drives the peer."""
        if not request.path.startswith(_PREFIX):
            return await super().answer(request)
        verbs: dict[str, Verb] = {
            "POST say": lambda fields: self.say(fields.pop("text"), **fields),
            "POST press": lambda fields: {"callback_id": self.press(**fields)},
            "POST push": lambda fields: {"update_id": self.push(fields)},
            "GET messages": lambda fields: [
                asdict(shown) for shown in self.messages(int(fields["chat"]))
            ],
            "GET calls": self._calls,
            "POST faults": self._add_fault,
            "DELETE faults": self._end_faults,
            "POST forget": lambda fields: self.forget(),
        }
        return await _performed(request, verbs)

    def _calls(self, fields: Fields) -> list[Fields]:
        found = self.calls.of(fields.get("method") or None, fields.get("chat") or None)
        return [
            {
                "method": call.method,
                "params": {name: _printable(value) for name, value in call.params.items()},
                "at": call.at,
                "outcome": call.outcome,
            }
            for call in found[int(fields.get("since") or 0) :]
        ]

    def _add_fault(self, fields: Fields) -> Fields:
        return {"standing": self.faults.add(fault_from(fields)).kind}

    def _end_faults(self, fields: Fields) -> None:
        self.faults.clear()


class ControlledSlack(SlackPeer):
    """A Slack peer that also answers `/control/…`."""

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """One request of the app's, or one that drives the peer."""
        if not request.path.startswith(_PREFIX):
            return await super().answer(request)
        verbs: dict[str, Verb] = {
            "POST say": lambda fields: self.say(fields.pop("text"), **fields),
            "POST press": lambda fields: {"trigger_id": self.press(**fields)},
            "POST slash": lambda fields: {"envelope_id": self.slash(**fields).id},
            "GET messages": lambda fields: [
                asdict(shown) for shown in self.messages(str(fields["chat"]))
            ],
            "POST faults": lambda fields: {"standing": self.faults.add(fault_from(fields)).kind},
            "DELETE faults": lambda _fields: self.faults.clear(),
        }
        return await _performed(request, verbs)


class ControlledModel(ModelPeer):
    """A model peer that also answers `/control/…`."""

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """One request of a client, or one that drives the peer."""
        if not request.path.startswith(_PREFIX):
            return await super().answer(request)
        verbs: dict[str, Verb] = {
            "GET requests": lambda fields: {
                "count": len(self.requests),
                "in_flight": self.in_flight,
                "in_flight_peak": self.in_flight_peak,
                "requests": [
                    {"said": call.last_user_text, "outcome": call.outcome, "at": call.at}
                    for call in self.requests[int(fields.get("since") or 0) :]
                ],
            },
            "POST forget": lambda fields: self.forget(),
        }
        return await _performed(request, verbs)


def _printable(value: Any) -> Any:
    return value[0] if isinstance(value, tuple) else value  # of an uploaded file its name


async def _performed(request: web.BaseRequest, verbs: dict[str, Verb]) -> web.Response:
    verb = verbs.get(f"{request.method} {request.path.removeprefix(_PREFIX)}")
    if verb is None:
        return json_answer({"error": f"there is {', '.join(sorted(verbs))}"}, status=404)
    raw = await request.read()
    try:
        fields = {**request.query, **(json.loads(raw) if raw else {})}
        # In this thread: it is the one the peer's world is quick to change in.
        result = verb(fields)
    except (KeyError, LookupError, TypeError, ValueError) as error:
        return json_answer({"error": f"{type(error).__name__}: {error}"}, status=400)
    await asyncio.sleep(0)
    return json_answer(result)
