"""What a Bot API answer that is not "ok" means to us. Pure.

The server answers every failed call with `{"ok": false, "error_code": …, "description": …,
"parameters": {…}}`; only the description tells most cases of 400 apart, so it is read here, once.

**5xx on a send.** 500 and 503 are answers of a server that did not take the message, with one
exception: a Bot API server that is shutting down answers "Internal Server Error: restart" (or
"Request aborted") to messages it has already handed on to Telegram, so these two may have
arrived. 502 and 504 come from the proxy before the server, which lost it in the middle of our
call: they may have arrived too.

Source: github.com/tdlib/telegram-bot-api, Client.cpp: `fail_query_with_error`,
`get_closing_error` and the closing of `pending_send_message_queries_`; and
https://core.telegram.org/bots/api#responseparameters.
"""

from typing import Any

from delivery.errors import (
    AnchorGone,
    AuthenticationRefused,
    DestinationGone,
    DestinationMoved,
    FormattingRefused,
    MessageGone,
    NetworkDown,
    OutcomeUnknown,
    RateLimited,
    Refused,
    ThreadGone,
    TooOld,
    TransportError,
)

_LONGEST_DETAIL = 200
_LONGEST_WAIT_SECONDS = 86_400.0  # whatever a server, or something in front of it, asks for
_DEFAULT_WAIT_SECONDS = 1.0  # a 429 that does not say how long

BAD_CREDENTIAL = (
    "Telegram refused the bot token ({code}). Copy it again from @BotFather (/mybots, API Token) "
    "into this account; if it was revoked there, make a new one. With a Bot API server of your "
    "own, also check api_base_url."
)
SECOND_POLLER = (
    "Another process is reading this bot's messages (409 Conflict): Telegram serves one reader "
    "per token. Stop the other gateway, script or webhook that uses the same token."
)

# Looked for in the description, in lower case, in this order.
_BY_DESCRIPTION: tuple[tuple[type[Refused], tuple[str, ...]], ...] = (
    (
        ThreadGone,
        (
            "message thread not found",
            "topic_deleted",
            "topic_closed",
            "topic_id_invalid",
            "thread_id_invalid",
        ),
    ),
    (
        AnchorGone,
        (
            "message to be replied not found",
            "message to reply not found",
            "replied message not found",
            "reply message not found",
            "reply_message_id_invalid",
        ),
    ),
    (
        MessageGone,
        (
            "message to edit not found",
            "message to delete not found",
            "message_id_invalid",
            "message_not_found",
            "message identifier is not specified",
            "message not found",
        ),
    ),
    (
        TooOld,
        (
            "message can't be edited",
            "message can't be deleted",
            "message_edit_time_expired",
            "query is too old",
            "query_id_invalid",
        ),
    ),
    (
        DestinationGone,
        (
            "chat not found",
            "user not found",
            "peer_id_invalid",
            "channel_private",
            "chat_write_forbidden",
            "chat_restricted",
            "user_is_blocked",
            "user_deactivated",
            "user_is_bot",
            "group chat was deactivated",
            "group chat was deleted",
            "chat was deleted",
            "not enough rights to send",
            "have no rights to send",
            "need administrator rights",
        ),
    ),
    (
        FormattingRefused,
        (
            "can't parse entities",
            "can't parse message entities",
            "entity_",
            "entities_",
            "entities_too_long",
        ),
    ),
)


def is_not_modified(description: str) -> bool:
    """The edit asked for what is already there: success, to us."""
    lowered = description.lower()
    return "message is not modified" in lowered or "message_not_modified" in lowered


def refusal(
    status: int, description: str, parameters: dict[str, Any], *, scope: str
) -> TransportError:
    """The error that says what to do about a Bot API answer that is not "ok".

    Args:
        status: The HTTP status, 300 to 599.
        description: The answer's own words.
        parameters: The answer's `parameters`; empty for none.
        scope: What a 429 to this call covers: `chat`, `account` or `method`.
    """
    code = str(status)
    if status == 429:
        wait = _seconds(parameters.get("retry_after"))
        return RateLimited(f"Telegram asks to wait {wait:g} s", retry_after=wait, scope=scope)
    moved_to = parameters.get("migrate_to_chat_id")
    if moved_to:
        return DestinationMoved("the group became a supergroup", new_chat_id=str(moved_to))
    if status in {401, 404}:
        return AuthenticationRefused(BAD_CREDENTIAL.format(code=code), code=code)
    if status == 409:
        return NetworkDown(SECOND_POLLER, code=code)
    if status >= 500:
        return server_trouble(status, description)
    return _client_error(status, description)


def server_trouble(status: int, description: str) -> TransportError:
    """What a 5xx answer to a send means; the reasons stand at the top of this module."""
    lowered = description.lower()
    was_closing = lowered.endswith((": restart", "request aborted"))
    family = OutcomeUnknown if status in {502, 504} or was_closing else NetworkDown
    return family(f"Telegram is in trouble: {_detail(description)}", code=str(status))


def not_telegram(status: int) -> TransportError:
    """What an answer that no Bot API server gives means: a proxy or a captive page spoke.

    With an error status below 500 it kept the call from Telegram; with success or a gateway's
    error, the call may have got through and its answer been lost.
    """
    detail = f"something between us and Telegram answered instead (HTTP {status})"
    family = OutcomeUnknown if status < 300 or status in {502, 504} else NetworkDown
    return family(detail, code=str(status))


def _client_error(status: int, description: str) -> TransportError:
    code, lowered = str(status), description.lower()
    for family, signs in _BY_DESCRIPTION:
        if any(sign in lowered for sign in signs):
            return family(_detail(description), code=code)
    if status == 403:
        return DestinationGone(_detail(description), code=code)
    return Refused(_detail(description), code=code)


def _detail(description: str) -> str:
    """The description for staff, less what may quote the message itself.

    After the second colon the server quotes what it could not read, such as a tag of the text.
    """
    return ":".join(description.split(":")[:2]).strip()[:_LONGEST_DETAIL]


def _seconds(retry_after: object) -> float:
    if isinstance(retry_after, int | float) and retry_after > 0:
        return float(min(retry_after, _LONGEST_WAIT_SECONDS))
    return _DEFAULT_WAIT_SECONDS
