"""How a call comes in and an answer goes out, whole or spoilt."""

import asyncio
import json
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from tests.peers.faults import Fault
from tests.peers.server import half_of, json_answer, reset
from tests.peers.telegram.updates import OTHER_POLLER
from tests.peers.telegram.world import Refused

_NUMBERS = frozenset(
    [
        "chat_id",
        "message_id",
        "message_thread_id",
        "draft_id",
        "offset",
        "limit",
        "timeout",
        "reply_to_message_id",
    ]
)
_STRUCTURES = frozenset(
    [
        "entities",
        "caption_entities",
        "reply_markup",
        "reply_parameters",
        "link_preview_options",
        "allowed_updates",
        "reaction",
        "commands",
        "scope",
        "media",
        "message_ids",
    ]
)
_REFUSALS: dict[str, tuple[int, str]] = {
    "500": (500, "Internal Server Error"),
    "503": (503, "Service Unavailable"),
    "409": (409, OTHER_POLLER),
    "403": (403, "Forbidden: bot was blocked by the user"),
    "401": (401, "Unauthorized"),
    "400": (400, "Bad Request: something about it"),
}
_BAD_GATEWAY = (
    b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n"
    b"<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n"
)


async def params_of(request: web.BaseRequest) -> dict[str, Any]:
    """The parameters of a call, however they came: query, form, JSON or multipart."""
    params: dict[str, Any] = dict(request.query)
    if request.content_type == "multipart/form-data":
        params |= await _uploaded(request)
    else:
        raw = await request.read()
        if raw and request.content_type == "application/json":
            params |= json.loads(raw)
        elif raw:
            params.update(parse_qsl(raw.decode(), keep_blank_values=True))
    for name in _NUMBERS & params.keys():
        value = params[name]
        if isinstance(value, str) and value.lstrip("-").isdigit():
            params[name] = int(value)
    for name in _STRUCTURES & params.keys():
        params[name] = _decoded(params[name])
    return params


async def _uploaded(request: web.BaseRequest) -> dict[str, Any]:
    params: dict[str, Any] = {}
    for name, value in (await request.post()).items():
        if isinstance(value, web.FileField):
            params[name] = (value.filename, value.file.read())
            value.file.close()
        else:
            params[name] = value
    return params


def _decoded(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value  # what needs it decoded refuses it in Telegram's words


def refusal(refused: Refused) -> web.Response:
    """The answer that says no."""
    body: dict[str, Any] = {
        "ok": False,
        "error_code": refused.code,
        "description": refused.description,
    }
    if refused.parameters:
        body["parameters"] = refused.parameters
    return json_answer(body, status=refused.code)


async def refused_by(request: web.BaseRequest, fault: Fault) -> web.StreamResponse:
    """The answer of a fault that strikes before the call is acted upon."""
    if fault.kind == "reset_before":
        return reset(request)
    if fault.kind == "hang_before":
        return await _hang(request, fault)
    if fault.kind == "502html":
        return web.Response(status=502, body=_BAD_GATEWAY, content_type="text/html")
    if fault.kind == "429":
        words = f"Too Many Requests: retry after {fault.retry_after}"
        return refusal(Refused(429, words, {"retry_after": fault.retry_after}))
    code, words = _REFUSALS[fault.kind]
    return refusal(Refused(code, fault.description or words))


async def spoilt(
    request: web.BaseRequest, answer: web.Response, fault: Fault
) -> web.StreamResponse:
    """The answer of a fault that strikes after the call was acted upon."""
    if fault.kind == "lost_ack":
        return reset(request)
    if fault.kind == "hang":
        return await _hang(request, fault)
    if fault.kind == "delay_after":
        await asyncio.sleep(fault.seconds)
    elif fault.kind == "garbage":
        return web.Response(body=b"<!doctype html><p>hello", content_type="text/html")
    elif fault.kind == "truncated":
        return await half_of(request, answer)
    return answer


async def _hang(request: web.BaseRequest, fault: Fault) -> web.Response:
    if fault.seconds:
        await asyncio.sleep(fault.seconds)
    else:
        await fault.gate.passed()
    return reset(request)
