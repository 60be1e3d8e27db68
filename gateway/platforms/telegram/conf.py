"""What staff may set for a Telegram account, and what is wrong with what they set. Pure."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from gateway.ports import AccountConfig

PUBLIC_API = "https://api.telegram.org"
LONGEST_POLL_SECONDS = 50  # getUpdates, `timeout`: the server cuts more down to this

_TOKEN = re.compile(r"[0-9]+:[A-Za-z0-9_-]{10,}", re.ASCII)
_PLACEHOLDERS = re.compile(r"undefined|none|null|changeme|todo|xxx+|.*your.*token.*|<.*>|\$\{?.*")
_SHAPE = (
    "The bot token does not look like one: it is digits, a colon, and about 35 letters and "
    "digits, without spaces or quotes. Copy it again from @BotFather."
)
_SECONDS = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3})?", re.ASCII)
_COMMAND = re.compile(r"[a-z0-9_]{1,32}", re.ASCII)
_USER_ID = re.compile(r"[1-9][0-9]{0,15}", re.ASCII)
_COMMANDS_PER_BOT = 100
_COMMAND_DESCRIPTION = 256
_PROXY_SCHEMES = {"http", "https", "socks5", "socks5h"}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One thing staff may set for an account.

    Attributes:
        name: The key in `AccountConfig.options`; `secret` is `AccountConfig.secret`.
        title: What staff read beside the field.
        help: What it is and where to get it.
        default: What holds when it is left empty.
        is_secret: It must never be shown or logged.
        is_required: The account cannot work without it.
    """

    name: str
    title: str
    help: str
    default: str = ""
    is_secret: bool = False
    is_required: bool = False


SETTINGS = (
    Setting(
        name="secret",
        title="Bot token",
        help="Talk to @BotFather in Telegram, send /newbot (or /mybots for a bot you have), and "
        "copy the API token: digits, a colon, and about 35 letters and digits.",
        is_secret=True,
        is_required=True,
    ),
    Setting(
        name="api_base_url",
        title="Bot API address",
        help="Only for a Bot API server of your own: its address, without /bot and the token.",
        default=PUBLIC_API,
    ),
    Setting(
        name="file_base_url",
        title="File address",
        help="Where files are fetched from, without /bot and the token.",
        default="the Bot API address followed by /file",
    ),
    Setting(
        name="proxy",
        title="Proxy",
        help="For example http://user:password@host:3128 or socks5://host:1080. Left empty, "
        "HTTPS_PROXY, ALL_PROXY and NO_PROXY of the process hold.",
        is_secret=True,
    ),
    Setting(
        name="poll_seconds",
        title="Long poll",
        help="How many seconds one request for news may wait, 0 to 50.",
        default="30",
    ),
    Setting(
        name="answer_seconds",
        title="Time for an answer",
        help="How many seconds Telegram may take to answer before the call counts as unanswered; "
        "a long poll gets them on top of its own.",
        default="15",
    ),
    Setting(
        name="commands",
        title="Command menu",
        help="One command a line, as @BotFather takes them: `new - Start a new session`. Left "
        "empty, all commands stand in it, in every language we have.",
    ),
    Setting(
        name="home_channel",
        title="Home channel",
        help="The id of the chat where results of scheduled jobs go that are sent home.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """The settings of one account, read."""

    base_url: str
    base_file_url: str
    proxy: str
    poll_seconds: int
    answer_seconds: float
    commands: tuple[tuple[str, str], ...]


def problems(config: AccountConfig) -> list[str]:
    """What is wrong with an account's settings.

    Returns:
        One sentence a problem, in the order of the settings, each saying what to do; none if all
        is well. The token is never quoted.
    """
    options = config.options
    found = _token_problems(config.secret)
    for name in ("api_base_url", "file_base_url"):
        value = options.get(name, "").strip()
        if value and _scheme(value) not in {"http", "https"}:
            found.append(f"{name} must be an address such as {PUBLIC_API}.")
        elif "/bot" in urlsplit(value).path:
            found.append(f"{name} must not contain /bot or the token; they are added.")
    proxy = options.get("proxy", "").strip()
    if proxy and _scheme(proxy) not in _PROXY_SCHEMES:
        found.append("proxy must begin with http://, https:// or socks5:// and name a host.")
    poll = options.get("poll_seconds", "").strip()
    if poll and not (poll.isascii() and poll.isdecimal() and int(poll) <= LONGEST_POLL_SECONDS):
        found.append(f"poll_seconds must be a whole number from 0 to {LONGEST_POLL_SECONDS}.")
    answer = options.get("answer_seconds", "").strip()
    if answer and not (_SECONDS.fullmatch(answer) and float(answer) > 0):
        found.append("answer_seconds must be a number above 0.")
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

    Ids of persons are positive and have at most 52 significant bits; negative ones are groups'.

    Source: https://core.telegram.org/bots/api#user
    """
    if _USER_ID.fullmatch(text) and int(text) < 2**52:
        return ""
    return (
        f"A person's id on Telegram is a number such as 11111111, not {text[:40]!r}; people read"
        " theirs when they write to the bot, or with /whoami."
    )


def read(config: AccountConfig) -> Options:
    """The settings as values; only for settings without problems."""
    options = {name: value.strip() for name, value in config.options.items() if value.strip()}
    api = options.get("api_base_url", PUBLIC_API).rstrip("/")
    files = options.get("file_base_url", f"{api}/file").rstrip("/")
    return Options(
        base_url=f"{api}/bot",
        base_file_url=f"{files}/bot",
        proxy=options.get("proxy", ""),
        poll_seconds=int(options.get("poll_seconds", "30")),
        answer_seconds=float(options.get("answer_seconds", "15")),
        commands=read_commands(options.get("commands", "")),
    )


def menus(
    options: Options, ours: dict[str, tuple[tuple[str, str], ...]]
) -> dict[str, tuple[tuple[str, str], ...]]:
    """The menus to show, by two letters of a language; the one for everybody else under "".

    Args:
        options: What staff set; a menu of theirs is everybody's.
        ours: All commands by the code of a language, the installation's own first.
    """
    if options.commands:
        return {"": options.commands}
    fit = [
        (code.partition("-")[0], read_commands(write_commands(list(menu))))
        for code, menu in ours.items()
    ]
    return {"": fit[0][1], **dict(fit[1:])} if fit else {}


def write_commands(commands: list[tuple[str, str]]) -> str:
    """The `commands` option for pairs of (name, description)."""
    return "\n".join(f"{name} - {' '.join(what.split())}" for name, what in commands)


def read_commands(lines: str) -> tuple[tuple[str, str], ...]:
    """The pairs that `write_commands` wrote, made fit for Telegram.

    Telegram's command names know no hyphen, so "-" becomes "_". What still is no command of
    Telegram's is left out: a menu with a gap is better than none.

    Source: https://core.telegram.org/bots/api#botcommand
    """
    pairs: dict[str, str] = {}
    for line in lines.splitlines():
        name, _, what = line.partition(" - ")
        name = name.strip().lstrip("/").lower().replace("-", "_")
        if _COMMAND.fullmatch(name) and what.strip():
            pairs.setdefault(name, what.strip()[:_COMMAND_DESCRIPTION])
    return tuple(pairs.items())[:_COMMANDS_PER_BOT]


def _token_problems(token: str) -> list[str]:
    if not token.strip():
        return ["The bot token is missing: get one from @BotFather (/newbot)."]
    if _PLACEHOLDERS.fullmatch(token.strip().lower()):
        return ["The bot token is a placeholder: replace it by the one @BotFather gave you."]
    if not _TOKEN.fullmatch(token):
        return [_SHAPE]
    return []


def _scheme(url: str) -> str:
    """The scheme of `url`; empty where it cannot be read or names no host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return parts.scheme if parts.hostname else ""
