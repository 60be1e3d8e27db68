"""What a Web API answer that is not "ok" means to us. Pure.

Slack answers with HTTP 200 and `{"ok": false, "error": "…"}`; only 429 and trouble of its own have
another status.

**Not knowing.** `internal_error` and `fatal_error` say on every method's page that some of the
work may have been done before the failure, so a message may stand there. The same goes for an
answer of 500, 502 or 504 without Slack's word. `service_unavailable` and 503 come instead of the
work.

Source: https://docs.slack.dev/reference/methods/chat.postMessage#errors, the same of chat.update,
chat.delete, auth.test and apps.connections.open, and /apis/web-api/rate-limits (read 2026-08).
"""

from delivery.errors import (
    AuthenticationRefused,
    DestinationGone,
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

_LONGEST_WAIT_SECONDS = 86_400.0
_DEFAULT_WAIT_SECONDS = 1.0  # a 429 that does not say how long
POSTING = "chat.postMessage"
OPENING = "apps.connections.open"

BAD_CREDENTIAL = (
    "Slack refused the bot token ({code}). Copy the Bot User OAuth Token (xoxb-) again from OAuth "
    "& Permissions of your app; after reinstalling the app it is a new one."
)
BAD_APP = (
    "Slack refused the app-level token ({code}). Make one under Basic Information, App-Level "
    "Tokens, with the scope connections:write, and turn on Socket Mode."
)
MISSING_SCOPE = (
    "The Slack app lacks the scope {needed}: add it under OAuth & Permissions, Bot Token Scopes, "
    "and install the app again."
)
NOT_A_MEMBER = (
    "The bot is not in that channel: somebody there types /invite and its name (not_in_channel)."
)

_CREDENTIAL = frozenset(
    {
        "invalid_auth",
        "not_authed",
        "token_revoked",
        "token_expired",
        "account_inactive",
        "not_allowed_token_type",
        "org_login_required",
        "two_factor_setup_required",
        "access_denied",
        "forbidden_team",
        "link_disabled",
        "socket_mode_disabled",
    }
)
_NOT_NOW = frozenset(
    {
        "service_unavailable",
        "request_timeout",
        "team_added_to_org",
        "accesslimited",
        "connection_closed",
    }
)
_MAYBE_DONE = frozenset({"internal_error", "fatal_error"})
_FLOODED = frozenset({"ratelimited", "rate_limited"})
_FAMILIES: dict[type[Refused], frozenset[str]] = {
    DestinationGone: frozenset(
        {
            "channel_not_found",
            "not_in_channel",
            "is_archived",
            "is_inactive",
            "user_not_found",
            "user_disabled",
            "cannot_dm_bot",
            "messages_tab_disabled",
            "channel_type_not_supported",
            "team_not_found",
            "restricted_action",
            "restricted_action_read_only_channel",
            "restricted_action_thread_only_channel",
            "restricted_action_non_threadable_channel",
            "ekm_access_denied",
            "not_in_channel_or_archived",
        }
    ),
    ThreadGone: frozenset(
        {
            "thread_not_found",
            "cannot_reply_to_message",
            "invalid_thread_ts",
            "restricted_action_thread_locked",
        }
    ),
    MessageGone: frozenset({"message_not_found"}),
    TooOld: frozenset(
        {
            "cant_update_message",
            "cant_delete_message",
            "edit_window_closed",
            "update_failed",
            "block_mismatch",
            "is_inactive_message",
            "expired_trigger_id",
            "exchanged_trigger_id",
            "invalid_trigger_id",
            "trigger_expired",
            "trigger_exchanged",
        }
    ),
    FormattingRefused: frozenset(
        {"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "invalid_attachments"}
    ),
}
_BY_ERROR = {error: family for family, errors in _FAMILIES.items() for error in errors}


def refusal(
    method: str, status: int, error: str, *, retry_after: str = "", needed: str = ""
) -> TransportError:
    """The error that says what to do about an answer that is not "ok".

    Args:
        method: What was called.
        status: The HTTP status.
        error: Slack's own word; empty where the answer was not Slack's.
        retry_after: The header of that name, in seconds; empty for none.
        needed: Which scope Slack says is lacking.
    """
    if status == 429 or error in _FLOODED:
        wait = _seconds(retry_after)
        # What holds for a channel and what for the whole workspace, Slack does not say.
        scope = "chat" if method == POSTING else "method"
        return RateLimited(f"Slack asks to wait {wait:g} s", retry_after=wait, scope=scope)
    if not error:
        return not_slack(method, status)
    if error == "missing_scope":
        return _lacking(method, needed)
    if error in _CREDENTIAL:
        words = BAD_APP if method == OPENING else BAD_CREDENTIAL
        return AuthenticationRefused(words.format(code=error), code=error)
    return _trouble(method, error) or _refused(method, error)


def not_slack(method: str, status: int) -> TransportError:
    """What an answer without Slack's own word means: something between us spoke, or Slack broke.

    With an error below 500 it kept the call from Slack; otherwise the call may have got through.
    """
    detail = f"{method} was answered by something else than Slack's API (HTTP {status})"
    may_be_done = status < 300 or status in {500, 502, 504}
    return (OutcomeUnknown if may_be_done else NetworkDown)(detail, code=str(status))


def _trouble(method: str, error: str) -> TransportError | None:
    if error in _MAYBE_DONE:
        return OutcomeUnknown(f"Slack failed in the middle of {method} ({error})", code=error)
    if error in _NOT_NOW:
        return NetworkDown(f"Slack does not serve {method} now ({error})", code=error)
    return None


def _lacking(method: str, needed: str) -> TransportError:
    detail = MISSING_SCOPE.format(needed=needed[:80] or "it needs")
    if method in {POSTING, OPENING}:  # without it the account is good for nothing
        return AuthenticationRefused(detail, code="missing_scope")
    return Refused(detail, code="missing_scope")


def _refused(method: str, error: str) -> TransportError:
    if error == "msg_too_long" and method == "chat.update":
        # Slack edits less than it takes: a new message holds the same words.
        return TooOld("Slack takes fewer words in an edit (msg_too_long)", code=error)
    family = _BY_ERROR.get(error, Refused)
    detail = NOT_A_MEMBER if error == "not_in_channel" else f"{method}: {error[:80]}"
    return family(detail, code=error[:80])


def _seconds(retry_after: str) -> float:
    try:
        seconds = float(retry_after)
    except ValueError:
        return _DEFAULT_WAIT_SECONDS
    return min(max(seconds, 0.0), _LONGEST_WAIT_SECONDS) or _DEFAULT_WAIT_SECONDS
