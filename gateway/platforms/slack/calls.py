"""Our words -> the parameters of Web API calls. Pure.

Source: https://docs.slack.dev/reference/methods, each method's own page, and
https://docs.slack.dev/reference/block-kit (read 2026-08).
"""

import json
import re
from typing import Any

from delivery.addresses import Address
from delivery.content import Button, ButtonStyle, Controls
from delivery.errors import MessageGone
from delivery.ports import OutgoingPart
from gateway.messages import ButtonPress, Form
from gateway.platforms.slack.interactions import FORM
from gateway.platforms.slack.places import Spot

Params = dict[str, Any]

KEY = "delivery"  # in `event_payload`
METADATA = "hermes_gateway_part"
STATUS = "is thinking…"
# How many elements one block of actions holds, and how long the words of a button are.
MOST_BUTTONS, MOST_BOXES, LONGEST_LABEL = 25, 10, 75
_TITLE, _FIELD, _HINT = 24, 2000, 150  # characters: a form's title, its field's label and hint
_TS = re.compile(r"[0-9]{1,12}\.[0-9]{1,9}", re.ASCII)
_STYLES = {ButtonStyle.PRIMARY: "primary", ButtonStyle.DANGER: "danger"}


def post_message(part: OutgoingPart) -> Params:
    """What chat.postMessage is called with; a message answers another by standing below it."""
    params = _content(part) | {"unfurl_links": False, "unfurl_media": False}
    if part.address.thread_id:
        params["thread_ts"] = part.address.thread_id
    return params


def update(message_id: str, part: OutgoingPart) -> Params:
    """What chat.update is called with; controls that are not named again go away.

    Raises:
        MessageGone: `message_id` cannot be the id of a Slack message.
    """
    return _content(part) | {"ts": _checked(message_id), "blocks": _blocks(part)}


def delete(address: Address, message_id: str) -> Params:
    """What chat.delete is called with.

    Raises:
        MessageGone: `message_id` cannot be the id of a Slack message.
    """
    return {"channel": address.chat_id, "ts": _checked(message_id)}


def set_status(address: Address, status: str) -> Params:
    """What assistant.threads.setStatus is called with; there has to be a thread."""
    return {"channel_id": address.chat_id, "thread_ts": address.thread_id, "status": status}


def post_ephemeral(press: ButtonPress, text: str) -> Params:
    """What chat.postEphemeral is called with."""
    source = press.source
    params: Params = {"channel": source.chat_id, "user": source.user_id, "text": text}
    return params | ({"thread_ts": source.thread_id} if source.thread_id else {})


def ephemeral_answer(press: ButtonPress, text: str) -> Params:
    """What is posted to the `response_url` of a press; only the presser sees it."""
    answer: Params = {"response_type": "ephemeral", "replace_original": False, "text": text}
    thread = press.source.thread_id
    return answer | ({"thread_ts": thread} if thread else {})


def trigger_of(press: ButtonPress) -> tuple[str, str]:
    """What lets us open a form, and what lets us answer unseen by others; empty where not given."""
    trigger, _, response_url = press.interaction_id.partition(" ")
    return trigger, response_url


def open_view(press: ButtonPress, form: Form, *, at: float) -> Params:
    """What views.open is called with: one field for own words.

    Args:
        press: The press that asked for it, which stands three seconds at most.
        form: What the person reads.
        at: The present, in seconds since 1970; kept with the form, because Slack does not say
            when one is sent.
    """
    source = press.source
    about = {
        "channel": source.chat_id,
        "scope": source.scope_id,
        "thread": source.thread_id,
        "message": press.message_id,
        "at": at,
    }
    field = {
        "type": "input",
        "block_id": FORM,
        "label": _plain(form.label[:_FIELD]),
        "element": {
            "type": "plain_text_input",
            "action_id": FORM,
            "multiline": True,
            "max_length": 3000,
            "placeholder": _plain(form.placeholder[:_HINT]),
        },
    }
    view = {
        "type": "modal",
        "callback_id": FORM,
        "private_metadata": json.dumps(about),
        "title": _plain(form.title[:_TITLE]),
        "submit": _plain(form.submit[:_TITLE]),
        "close": _plain(form.cancel[:_TITLE]),
        "blocks": [field],
    }
    return {"trigger_id": trigger_of(press)[0], "view": view}


def read_back(part: OutgoingPart, *, oldest: float) -> tuple[str, Params]:
    """How to look at what stands where `part` was to go: a method and what it is called with."""
    params: Params = {
        "channel": part.address.chat_id,
        "oldest": f"{oldest:.6f}",
        "include_all_metadata": True,
        "limit": 200,
    }
    if part.address.thread_id:
        return "conversations.replies", params | {"ts": part.address.thread_id}
    return "conversations.history", params


def key_in(message: Params) -> str:
    """The key of the part that a message was sent for; empty where none is to be seen."""
    metadata = message.get("metadata") or {}
    if metadata.get("event_type") != METADATA:
        return ""
    return str((metadata.get("event_payload") or {}).get(KEY) or "")


def is_message_id(text: str) -> bool:
    """Whether `text` can name a message."""
    return _TS.fullmatch(text) is not None


def _content(part: OutgoingPart) -> Params:
    params: Params = {
        "channel": part.address.chat_id,
        "text": part.body.text,
        # Read back when nobody knows whether it arrived.
        "metadata": {"event_type": METADATA, "event_payload": {KEY: part.idempotency_key}},
    }
    blocks = _blocks(part)
    return params | ({"blocks": blocks} if blocks else {})


def _blocks(part: OutgoingPart) -> list[Params]:
    """The words and the controls under them; none where there are no controls."""
    groups = _groups(part.controls)
    if not groups:
        return []
    spot = Spot(scope=part.address.scope_id, thread=part.address.thread_id)
    said = {"type": "section", "text": {"type": "mrkdwn", "text": part.body.text}}
    return [said, *(_block(group, number, spot) for number, group in enumerate(groups))]


def _groups(controls: Controls) -> list[list[Button]]:
    """What stands in one block each: a row of buttons, or boxes that follow one another."""
    groups: list[list[Button]] = []
    for row in controls.rows:
        is_boxes = all(button.ticked is not None for button in row)
        if is_boxes and groups and groups[-1][0].ticked is not None:
            groups[-1] += row
        else:
            groups.append(list(row))
    return [
        group[at : at + most]
        for group in groups
        for most in [MOST_BOXES if group[0].ticked is not None else MOST_BUTTONS]
        for at in range(0, len(group), most)
    ]


def _block(group: list[Button], number: int, spot: Spot) -> Params:
    if group[0].ticked is not None:
        elements = [_boxes(group, f"{number}.0")]
    else:
        elements = [_button(button, f"{number}.{place}") for place, button in enumerate(group)]
    return {"type": "actions", "block_id": spot.encoded(number), "elements": elements}


def _boxes(group: list[Button], action_id: str) -> Params:
    """Boxes to tick, of which Slack tells when a button of the same message is pressed."""
    options = [
        {"text": _plain(_unmarked(box.label)[:LONGEST_LABEL]), "value": box.data} for box in group
    ]
    drawn: Params = {"type": "checkboxes", "action_id": action_id, "options": options}
    on = [option for option, box in zip(options, group, strict=True) if box.ticked]
    return drawn | ({"initial_options": on} if on else {})


def _unmarked(label: str) -> str:
    """The label without the sign by which a button shows that it is on: a box has its own."""
    return label.removeprefix("☑ ").removeprefix("☐ ")


def _button(button: Button, action_id: str) -> Params:
    drawn: Params = {
        "type": "button",
        "text": _plain(button.label[:LONGEST_LABEL]),
        "value": button.data,
        "action_id": action_id,
    }
    if button.style in _STYLES:
        drawn["style"] = _STYLES[button.style]
    return drawn


def _plain(text: str) -> Params:
    return {"type": "plain_text", "text": text, "emoji": True}


def _checked(message_id: str) -> str:
    if not is_message_id(message_id):
        raise MessageGone("not the id of a Slack message")
    return message_id
