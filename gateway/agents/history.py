"""Stored histories: repairing them, adding to them, reading them. Pure, on JSON alone.

The messages are those of pydantic-ai 2.68 as its `ModelMessagesTypeAdapter` writes them: a
`request` holds what the model reads (`user-prompt`, `tool-return`, …), a `response` what it said
(`text`, `tool-call`, …). `SCHEMA_VERSION` is stored beside them, so that a later reader knows.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from gateway.messages import clean

JSONObject = dict[str, Any]

#: Raised whenever the shape of stored messages changes.
SCHEMA_VERSION = 1

NO_RESULT = (
    "There is no result: the work was stopped while this call was open. Do not assume that it was "
    "carried out, and do not assume that it was not."
)
STOPPED = "(This answer was stopped before it was finished.)"
LEFT_OUT = "[Earlier messages of this conversation were left out here.]"
LONGEST_OPENING = 120  # characters of what was said first

_RETURNS = ("tool-return", "retry-prompt")


def storable(value: Any) -> Any:
    """JSON that every database holds, made of what a model or a tool may give.

    Text is cleaned as `gateway.messages.clean` does; a number that is none becomes null.
    """
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {clean(str(key)): storable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [storable(each) for each in value]
    return value


def user_message(text: str) -> JSONObject:
    """What a person said, as a message."""
    return {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": text}]}


def assistant_message(text: str) -> JSONObject:
    """What the agent said, as a message."""
    return {"kind": "response", "parts": [{"part_kind": "text", "content": text}]}


def tool_calls(message: JSONObject) -> list[JSONObject]:
    """The tool calls of a response, in order; none of a request."""
    if message["kind"] != "response":
        return []
    return [part for part in message["parts"] if part["part_kind"] == "tool-call"]


def close_off(messages: Iterable[JSONObject], note: str) -> list[JSONObject]:
    """A history any model accepts, whatever interrupted the one given ([S5]).

    Requests and responses alternate; each tool call is followed by exactly one result, which says
    that there is none where the work was stopped; results of no call are dropped; the last message
    is a response without tool calls. Nothing that was said is lost. Doing it twice changes nothing.

    Args:
        messages: The history, oldest first; not changed.
        note: The agent's closing words where it was interrupted; empty takes a standard sentence.

    Returns:
        The valid history; empty for an empty one.
    """
    closed: list[JSONObject] = []
    for message in _alternating(messages):
        if message["kind"] == "request":
            _append_request(closed, message)
        else:
            _settle_calls(closed)
            _append(closed, message)
    _settle_calls(closed)
    if closed and closed[-1]["kind"] == "request":
        closed.append(assistant_message(note or STOPPED))
    return closed


def cut_to_response(messages: Sequence[JSONObject]) -> list[JSONObject]:
    """The history without tool results behind its last response, if that one called tools.

    A run is carried on at the response itself: the caller gives all results again.
    """
    end = len(messages)
    while end and _only_returns(messages[end - 1]):
        end -= 1
    if end and tool_calls(messages[end - 1]):
        return list(messages[:end])
    return list(messages)


def last_text(messages: Sequence[JSONObject]) -> str:
    """What the agent said last; empty if it has not said anything."""
    for message in reversed(messages):
        if message["kind"] == "response" and (text := _text_of(message)):
            return text
    return ""


def first_words(messages: Iterable[JSONObject]) -> str:
    """What was said first; empty if nothing was in words."""
    for message in messages:
        for part in message["parts"]:
            if part["part_kind"] == "user-prompt" and isinstance(part.get("content"), str):
                return str(part["content"])
    return ""


def size(messages: Iterable[JSONObject]) -> int:
    """How much a model has to read, in characters of text, arguments and results."""
    return sum(_part_size(part) for message in messages for part in message["parts"])


def compact(messages: Sequence[JSONObject], budget: int) -> list[JSONObject]:
    """The latest part of a history that a model has room for ([S5]).

    It is cut only before something a person said, so tool calls keep their results and what is
    pending stays whole; the latest exchange stays even if it alone is over the budget.

    Args:
        messages: A valid history, oldest first; not changed.
        budget: Characters, as `size` counts them.

    Returns:
        The history itself if it fits, else its end, opened by a line saying that something is
        missing.
    """
    if size(messages) <= budget:
        return list(messages)
    starts = [index for index, message in enumerate(messages) if _is_said_by_a_person(message)]
    left = _sizes_from(messages)
    fitting = (at for at in starts if left[at] + len(_summary(messages[:at])) <= budget)
    start = next(fitting, starts[-1] if starts else 0)
    if start == 0:
        return list(messages)
    opening = messages[start]
    summary = {"part_kind": "user-prompt", "content": _summary(messages[:start])}
    return [{**opening, "parts": [summary, *opening["parts"]]}, *messages[start + 1 :]]


def _sizes_from(messages: Sequence[JSONObject]) -> list[int]:
    """For each message, the size of the history from there on."""
    sizes = [size([message]) for message in messages]
    return list(accumulate(reversed(sizes)))[::-1]


def _summary(left_out: Sequence[JSONObject]) -> str:
    """One line about what a model does not read: how much it was, and how it began."""
    said = [message for message in left_out if _is_said_by_a_person(message)]
    began = " ".join(first_words(said).split())
    if len(began) > LONGEST_OPENING:
        began = began[:LONGEST_OPENING] + "…"
    return f"{LEFT_OUT} They were {len(left_out)}, of which the first said: {began!r}"


def _alternating(messages: Iterable[JSONObject]) -> Iterable[JSONObject]:
    return (message for message in messages if message["parts"])


def _append(closed: list[JSONObject], message: JSONObject) -> None:
    """Add a message, joined to the last one if that is of the same kind."""
    if closed and closed[-1]["kind"] == message["kind"]:
        last = closed[-1]
        closed[-1] = {**last, "parts": [*last["parts"], *message["parts"]]}
    else:
        closed.append(message)


def _append_request(closed: list[JSONObject], message: JSONObject) -> None:
    """Add a request, its tool results only where they answer the response just before."""
    open_ids = _open_ids(closed)
    parts = []
    for part in message["parts"]:
        call_id = part.get("tool_call_id")
        if part["part_kind"] in _RETURNS and part.get("tool_name") is not None:
            if call_id not in open_ids:
                continue
            open_ids.discard(call_id)
        parts.append(part)
    if parts:
        _append(closed, {**message, "parts": parts})


def _last_calls(closed: list[JSONObject]) -> tuple[list[JSONObject], set[str]]:
    """The calls of the last response, and the ids that were answered since."""
    answered: set[str] = set()
    for message in reversed(closed[-2:]):
        if message["kind"] == "response":
            return tool_calls(message), answered
        answered |= {p["tool_call_id"] for p in message["parts"] if p["part_kind"] in _RETURNS}
    return [], answered


def _open_ids(closed: list[JSONObject]) -> set[str]:
    calls, answered = _last_calls(closed)
    return {call["tool_call_id"] for call in calls} - answered


def _settle_calls(closed: list[JSONObject]) -> None:
    """Give each call of the last response that has no result one that says so."""
    calls, answered = _last_calls(closed)
    missing = [_no_result(call) for call in calls if call["tool_call_id"] not in answered]
    if not missing:
        return
    if closed[-1]["kind"] == "request":  # results come first, before anything a person said
        request = closed[-1]
        returns = [part for part in request["parts"] if part["part_kind"] in _RETURNS]
        others = [part for part in request["parts"] if part["part_kind"] not in _RETURNS]
        closed[-1] = {**request, "parts": [*returns, *missing, *others]}
    else:
        closed.append({"kind": "request", "parts": missing})


def _no_result(call: JSONObject) -> JSONObject:
    return {
        "part_kind": "tool-return",
        "tool_name": call["tool_name"],
        "tool_call_id": call["tool_call_id"],
        "content": NO_RESULT,
        "outcome": "interrupted",
    }


def _only_returns(message: JSONObject) -> bool:
    return message["kind"] == "request" and all(
        part["part_kind"] in _RETURNS for part in message["parts"]
    )


def _is_said_by_a_person(message: JSONObject) -> bool:
    parts = message["parts"]
    return message["kind"] == "request" and (
        any(part["part_kind"] == "user-prompt" for part in parts)
        and not any(part["part_kind"] in _RETURNS for part in parts)
    )


def _text_of(message: JSONObject) -> str:
    return "".join(part["content"] for part in message["parts"] if part["part_kind"] == "text")


def _part_size(part: JSONObject) -> int:
    content = part.get("content", part.get("args"))
    return len(content) if isinstance(content, str) else len(str(content or ""))
