"""What staff may set for a Slack account, and what is wrong with what they set. Pure.

A Slack app has up to three secrets. All of them are the account's credential, which alone is
encrypted where it is kept: one after the other, in any order, with spaces between. What each is,
its look tells.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from gateway.ports import AccountConfig

PUBLIC_API = "https://slack.com/api"
SOCKET, HTTP = "socket", "http"
THREAD, CHANNEL = "thread", "channel"
MOST_SOCKETS = 10  # docs.slack.dev/apis/events-api/using-socket-mode, "using multiple connections"

_BOT_TOKEN = re.compile(r"xox[be]\S*-[\w-]{4,}", re.ASCII)
_APP_TOKEN = re.compile(r"xapp-[\w-]{4,}", re.ASCII)
_SIGNING_SECRET = re.compile(r"[0-9a-f]{32}", re.ASCII)
_PLACEHOLDERS = re.compile(
    r"undefined|none|null|changeme|todo|xxx+|.*\.\.\.|.*…|.*your.*(token|secret).*|<.*>|\$\{?.*"
)
_USER_ID = re.compile(r"[UW][A-Z0-9]{2,20}", re.ASCII)
_SECONDS = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3})?", re.ASCII)

NO_BOT = (
    "The bot token is missing: api.slack.com/apps, your app, OAuth & Permissions, "
    "Bot User OAuth Token; it begins with xoxb-."
)
PERSONAL = (
    "This is a user's token (xoxp-): it would speak as a person. Take the Bot User OAuth Token, "
    "which begins with xoxb-."
)
BAD_BOT = (
    "The bot token does not look like one: it begins with xoxb- and has no spaces or quotes. Copy "
    "it again from OAuth & Permissions of your app."
)
NO_EVENTS = (
    "Slack has no way to tell us anything yet: add to the credential, after a space, the app-level "
    "token (xapp-…, with Socket Mode turned on) or the signing secret."
)
BAD_APP = (
    "The app-level token does not look like one: it begins with xapp-. Make one under Basic "
    "Information, App-Level Tokens, with the scope connections:write."
)
TOO_MANY = (
    "The credential holds something that is neither a bot token (xoxb-…), nor an app-level token "
    "(xapp-…), nor a signing secret (32 digits and letters from a to f), or one of them twice."
)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One thing staff may set for an account.

    Attributes:
        name: The key in `AccountConfig.options`; `secret` is `AccountConfig.secret`.
        title: What staff read beside the field.
        help: What it is and where to get it.
        default: What holds when it is left empty.
        is_secret: It must never be shown or logged.
    """

    name: str
    title: str
    help: str
    default: str = ""
    is_secret: bool = False


SETTINGS = (
    Setting(
        name="secret",
        title="Tokens",
        help="The bot token (xoxb-…, on OAuth & Permissions), a space, and the app-level token "
        "(xapp-…, on Basic Information) for Socket Mode or the signing secret for HTTP, or both.",
        is_secret=True,
    ),
    Setting(
        name="events",
        title="How events come in",
        help="socket or http.",
        default="socket with an app-level token, http without",
    ),
    Setting(
        name="connections",
        title="Sockets",
        help="How many are open at once, 1 to 10: while Slack renews one, the other hears.",
        default="2",
    ),
    Setting(
        name="channel_replies",
        title="Answers in channels",
        help="thread: below the message that asked, a session for each thread. channel: beside "
        "it, a session for each person.",
        default="thread",
    ),
    Setting(
        name="api_base_url",
        title="Web API address",
        help="Only for another server than Slack's: its address up to and with /api.",
        default=PUBLIC_API,
    ),
    Setting(
        name="proxy",
        title="Proxy",
        help="For example http://user:password@host:3128. Left empty, HTTPS_PROXY and NO_PROXY of "
        "the process hold.",
        is_secret=True,
    ),
    Setting(
        name="answer_seconds",
        title="Time for an answer",
        help="How many seconds Slack may take to answer before the call counts as unanswered.",
        default="20",
    ),
    Setting(
        name="home_channel",
        title="Home channel",
        help="The id of the channel where results of scheduled jobs will go; nothing uses it yet.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """The settings of one account, read."""

    base_url: str
    bot_token: str
    app_token: str
    signing_secret: str
    events: str
    connections: int
    replies_in_threads: bool
    proxy: str
    answer_seconds: float


def problems(config: AccountConfig) -> list[str]:
    """What is wrong with an account's settings.

    Returns:
        One sentence a problem, each saying what to do; none if all is well. No credential is
        quoted.
    """
    options = {name: value.strip() for name, value in config.options.items() if value.strip()}
    tokens = _tokens(config.secret)
    found = [*_token_problems(config.secret, tokens), *_way_problems(options, tokens)]
    base = options.get("api_base_url", PUBLIC_API)
    if _scheme(base) not in {"http", "https"}:
        found.append(f"api_base_url must be an address such as {PUBLIC_API}.")
    if "proxy" in options and _scheme(options["proxy"]) not in {"http", "https"}:
        found.append("proxy must begin with http:// or https:// and name a host.")
    answer = options.get("answer_seconds", "20")
    if not (_SECONDS.fullmatch(answer) and float(answer) > 0):
        found.append("answer_seconds must be a number above 0.")
    if options.get("channel_replies", THREAD) not in {THREAD, CHANNEL}:
        found.append("channel_replies must be thread or channel.")
    return found


def unknown_options(config: AccountConfig) -> list[str]:
    """A sentence for each option that this platform does not know; none if it knows all."""
    known = [setting.name for setting in SETTINGS if setting.name != "secret"]
    return [
        f"There is no option {name!r} here; there are: {', '.join(known)}."
        for name in config.options
        if name not in known
    ]


def problem_with_user_id(text: str) -> str:
    """Why `text` cannot be a person's id; empty if it can.

    Source: docs.slack.dev/reference/objects/user-object: U, and W for people of an organization.
    """
    if _USER_ID.fullmatch(text):
        return ""
    return (
        f"A person's id on Slack is like U012AB3CD, not {text[:40]!r}: in their profile, the three"
        " dots, Copy member ID; people also read theirs when they write to the bot."
    )


def read(config: AccountConfig) -> Options:
    """The settings as values; only for settings without problems."""
    options = {name: value.strip() for name, value in config.options.items() if value.strip()}
    tokens = _tokens(config.secret)
    return Options(
        base_url=options.get("api_base_url", PUBLIC_API).rstrip("/") + "/",
        bot_token=tokens.bot,
        app_token=tokens.app,
        signing_secret=tokens.signing,
        events=options.get("events", SOCKET if tokens.app else HTTP),
        connections=int(options.get("connections", "2")),
        replies_in_threads=options.get("channel_replies", THREAD) == THREAD,
        proxy=options.get("proxy", ""),
        answer_seconds=float(options.get("answer_seconds", "20")),
    )


@dataclass(frozen=True)
class _Tokens:
    """The secrets in a credential; `rest` is what is none of them, or one of them again."""

    bot: str = ""
    app: str = ""
    signing: str = ""
    rest: tuple[str, ...] = ()


def _tokens(secret: str) -> _Tokens:
    found: dict[str, str] = {}
    rest: list[str] = []
    for word in secret.split():
        kind = "signing" if _SIGNING_SECRET.fullmatch(word) else "bot"
        kind = "app" if word.startswith("xapp-") else kind
        if kind in found:
            rest.append(word)
        else:
            found[kind] = word
    return _Tokens(**found, rest=tuple(rest))


def _token_problems(secret: str, tokens: _Tokens) -> list[str]:
    if any(_PLACEHOLDERS.fullmatch(word) for word in (secret.lower().strip(), tokens.bot.lower())):
        return ["The bot token is a placeholder: replace it by the real one, which is longer."]
    if not tokens.bot:
        return [NO_BOT]
    if tokens.bot.startswith("xoxp-"):
        return [PERSONAL]
    found = [] if _BOT_TOKEN.fullmatch(tokens.bot) else [BAD_BOT]
    if tokens.app and not _APP_TOKEN.fullmatch(tokens.app):
        found.append(BAD_APP)
    if tokens.rest:
        found.append(TOO_MANY)
    if not found and not tokens.app and not tokens.signing:
        found.append(NO_EVENTS)
    return found


def _way_problems(options: dict[str, str], tokens: _Tokens) -> list[str]:
    found = []
    way = options.get("events", "")
    if way and way not in {SOCKET, HTTP}:
        found.append("events must be socket or http.")
    if way == SOCKET and not tokens.app:
        found.append("events is socket, which needs the app-level token (xapp-…).")
    if way == HTTP and not tokens.signing:
        found.append("events is http, which needs the signing secret.")
    count = options.get("connections", "2")
    if not (count.isascii() and count.isdecimal() and 1 <= int(count) <= MOST_SOCKETS):
        found.append(f"connections must be a whole number from 1 to {MOST_SOCKETS}.")
    return found


def _scheme(url: str) -> str:
    """The scheme of `url`; empty where it cannot be read or names no host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return parts.scheme if parts.hostname else ""
