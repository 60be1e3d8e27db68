"""What people do with buttons, forms and slash commands -> our words. Pure.

Source: https://docs.slack.dev/reference/interaction-payloads and
https://docs.slack.dev/interactivity/implementing-slash-commands (read 2026-08).
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from gateway import commands
from gateway.messages import ButtonPress, Inbound, InboundMessage, Source, clean
from gateway.platforms.slack import words
from gateway.platforms.slack.places import PLATFORM, NotForUs, Raw, Spot, Us, chat_type_of

FORM = "own_words"  # the callback id of our form, and of its field
# Of these, one gives its value and the others the options that are on.
_BUTTON, _TICKS = "button", "checkboxes"


def read(kind: str, payload: Raw, us: Us) -> list[Inbound]:
    """Read a press, a form or a slash command.

    Raises:
        NotForUs: There is nothing to do about it.
        LookupError, TypeError, ValueError, AttributeError: It is not what Slack promises.
    """
    if kind == "slash_commands":
        return [_command(payload, us)]
    reader = _READERS.get(str(payload["type"]))
    if reader is None:
        raise NotForUs(f"an interaction we do not use: {clean(str(payload['type']))[:40]}")
    return reader(payload, us)


def _pressed(payload: Raw, us: Us) -> list[Inbound]:
    presses = [
        _press(action, payload, us) for action in payload["actions"] if action["type"] == _BUTTON
    ]
    if presses:
        return [*presses]
    event_id = _event_id("tick", payload["actions"][0], payload)
    raise NotForUs("something was ticked and not submitted yet", event_id=event_id)


def _press(action: Raw, payload: Raw, us: Us) -> Inbound:
    spot = Spot.decoded(str(action.get("block_id") or ""))
    if spot is None:
        raise NotForUs("a button that is not ours", event_id=_event_id("press", action, payload))
    message = payload.get("message") or {}
    container = payload.get("container") or {}
    channel = str((payload.get("channel") or {}).get("id") or container["channel_id"])
    return ButtonPress(
        source=_source(payload["user"], channel, spot, us),
        event_id=_event_id("press", action, payload),
        interaction_id=f"{payload.get('trigger_id') or ''} {payload.get('response_url') or ''}",
        data=clean(str(action["value"])),
        message_id=str(message.get("ts") or container.get("message_ts") or ""),
        chosen=_ticked(payload),
    )


def _ticked(payload: Raw) -> tuple[str, ...] | None:
    """What the boxes carry that are on in the pressed message; None where it has no boxes."""
    values = (payload.get("state") or {}).get("values") or {}
    boxes = [
        element
        for block in values.values()
        for element in block.values()
        if element.get("type") == _TICKS
    ]
    if not boxes:
        return None
    chosen = [one for element in boxes for one in element.get("selected_options") or ()]
    return tuple(clean(str(one["value"])) for one in chosen)


def _event_id(kind: str, action: Raw, payload: Raw) -> str:
    """The same for a press that Slack tells again, and for no other."""
    message = (payload.get("message") or {}).get("ts") or ""
    facts = (payload["user"]["id"], message, action.get("action_ts"), action.get("action_id"))
    return clean(":".join([kind, *(str(fact) for fact in facts)]))[:255]


def _submitted(payload: Raw, us: Us) -> list[Inbound]:
    """Own words typed into our form: said where the question stands, as an answer to it."""
    view = payload["view"]
    event_id = clean(f"form:{view['id']}")[:255]
    if view.get("callback_id") != FORM:
        raise NotForUs("a form that is not ours", event_id=event_id)
    about = json.loads(view["private_metadata"])
    spot = Spot(scope=str(about["scope"]), thread=str(about["thread"]))
    said = InboundMessage(
        source=_source(payload["user"], str(about["channel"]), spot, us),
        event_id=event_id,
        text=clean(str(view["state"]["values"][FORM][FORM].get("value") or "")),
        sent_at=datetime.fromtimestamp(float(about["at"]), UTC),
        mentions_bot=True,
        reply_to=str(about["message"]),
    )
    return [said]


def _closed(_payload: Raw, _us: Us) -> list[Inbound]:
    raise NotForUs("a form was closed")


_READERS: dict[str, Callable[[Raw, Us], list[Inbound]]] = {
    "block_actions": _pressed,
    "view_submission": _submitted,
    "view_closed": _closed,
}


def _source(person: Raw, channel: str, spot: Spot, us: Us) -> Source:
    return Source(
        platform=PLATFORM,
        account=us.account,
        scope_id=spot.scope,
        chat_type=chat_type_of(channel),
        chat_id=channel,
        thread_id=spot.thread,
        user_id=str(person["id"]),
        user_name=words.one_line(str(person.get("name") or person.get("username") or "")),
    )


def _command(payload: Raw, us: Us) -> Inbound:
    """`/stop` under its own name, or `/hermes stop`, or `/hermes` and any words.

    A slash command says no time and no thread. It is taken as said now, and in no thread.
    """
    channel = str(payload["channel_id"])
    spot = Spot(scope=str(payload["team_id"]), thread="")
    person = {"id": payload["user_id"], "name": payload.get("user_name")}
    return InboundMessage(
        source=_source(person, channel, spot, us),
        event_id=clean(f"slash:{payload['trigger_id']}")[:255],
        text=words.plain(_ordered(str(payload["command"]), str(payload.get("text") or ""))),
        sent_at=datetime.fromtimestamp(_begun(payload["trigger_id"]), UTC),
        mentions_bot=True,
    )


def _ordered(command: str, text: str) -> str:
    text = text.strip()
    if isinstance(commands.parse(f"{command} {text}"), commands.Command):
        return f"{command} {text}".strip()
    order = f"/{text.removeprefix('/').removeprefix('!')}"
    if isinstance(commands.parse(order), commands.Command):
        return order
    return text or "/help"


def _begun(trigger_id: Any) -> float:
    """When something was triggered, in seconds since 1970.

    A trigger's id is three parts of which the second counts milliseconds: not documented, so what
    does not look like a time of this century counts as the end of it, which is never stale.
    """
    number = str(trigger_id).split(".")[1:2]
    seconds = int(number[0]) / 1000 if number and number[0].isdecimal() else 0.0
    return seconds if 1.6e9 < seconds < 4e9 else 4e9
