"""What Slack refuses in blocks and views. Source: docs.slack.dev/reference/block-kit."""

from typing import Any

from tests.peers.slack.world import Refused

Block = dict[str, Any]


def check(blocks: Any) -> None:
    """Refuse what Slack would refuse."""
    if not isinstance(blocks, list) or len(blocks) > 50:
        raise Refused("invalid_blocks")
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    if len(set(ids)) < len(ids) or any(len(one) > 255 for one in ids):
        raise Refused("invalid_blocks")
    for block in blocks:
        _check_one(block)


def _check_one(block: Block) -> None:
    if block["type"] == "section":
        words = block["text"]["text"]
        if not words or len(words) > 3000 or block["text"]["type"] not in {"mrkdwn", "plain_text"}:
            raise Refused("invalid_blocks")
    elif block["type"] == "actions":
        elements = block["elements"]
        actions = [element["action_id"] for element in elements]
        if not 1 <= len(elements) <= 25 or len(set(actions)) < len(actions):
            raise Refused("invalid_blocks")
        for element in elements:
            _check_element(element)
    else:
        raise Refused("invalid_blocks")


def _check_element(element: Block) -> None:
    if element["type"] == "button":
        _check_words(element["text"], 75)
        if len(element["value"]) > 2000 or element.get("style") not in {None, "primary", "danger"}:
            raise Refused("invalid_blocks")
    elif element["type"] == "checkboxes":
        _check_options(element)
    else:
        raise Refused("invalid_blocks")


def _check_options(element: Block) -> None:
    options = element["options"]
    if not 1 <= len(options) <= 10:
        raise Refused("invalid_blocks")
    for option in options:
        _check_words(option["text"], 75)
        if len(option["value"]) > 150:
            raise Refused("invalid_blocks")
    if "initial_options" in element:
        initial = element["initial_options"]
        if not initial or any(one not in options for one in initial):
            raise Refused("invalid_blocks")


def _check_words(text: Block, most: int) -> None:
    if text["type"] != "plain_text" or not 1 <= len(text["text"]) <= most:
        raise Refused("invalid_blocks")


def check_view(view: Block) -> None:
    """Refuse a form that Slack would refuse."""
    if view["type"] != "modal" or len(view["private_metadata"]) > 3000:
        raise Refused("invalid_arguments")
    for name in ("title", "submit", "close"):
        if not 1 <= len(view[name]["text"]) <= 24:
            raise Refused("invalid_arguments")
    for block in view["blocks"]:
        if block["type"] != "input" or not 1 <= len(block["label"]["text"]) <= 2000:
            raise Refused("invalid_arguments")
        if len(block["element"]["placeholder"]["text"]) > 150:
            raise Refused("invalid_arguments")
