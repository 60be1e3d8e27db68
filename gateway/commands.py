"""Text to command. Pure: one table, from which the help is made as well."""

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass

from gateway.roles import Role


@dataclass(frozen=True)
class CommandSpec:
    """One command as people know it.

    Attributes:
        role: What somebody must be to give it ([A6]); it is asked for once, after the name is
            known, so that every way to write a command passes the same door.
    """

    name: str
    summary: str
    usage: str = ""
    aliases: tuple[str, ...] = ()
    role: Role = Role.MEMBER


COMMANDS: tuple[CommandSpec, ...] = (
    CommandSpec("help", "What you can do here", aliases=("start", "commands"), role=Role.VIEWER),
    CommandSpec("status", "What is running and waiting", role=Role.VIEWER),
    CommandSpec(
        "new", "Start afresh; the old session is kept", usage="[title]", aliases=("reset",)
    ),
    CommandSpec("stop", "Stop what is running and close open questions", aliases=("cancel",)),
    CommandSpec("queue", "Say what comes next, while something runs", usage="<text>"),
    CommandSpec("steer", "Say something to what is running", usage="<text>"),
    CommandSpec("retry", "Ask the last thing again"),
    CommandSpec("undo", "Take the last thing and its answer back"),
    CommandSpec("title", "Name this session", usage="[title]"),
    CommandSpec("resume", "Go on in an earlier session", usage="[number or title]"),
    CommandSpec("model", "Choose who answers in this session", usage="[name]"),
    CommandSpec("usage", "What this session has cost", role=Role.VIEWER),
    CommandSpec("sethome", "Let results of scheduled jobs come here", role=Role.ADMIN),
    CommandSpec("skip", "Decline the open question"),
    CommandSpec("approve", "Let a dangerous operation run", usage="[number] [session|always]"),
    CommandSpec("deny", "Refuse a dangerous operation", usage="[number] [reason]"),
    CommandSpec("background", "Do something beside this conversation", usage="<text>"),
    CommandSpec("tasks", "What runs in the background", usage="[stop <number>|stop all]"),
    CommandSpec(
        "cron", "Do something at certain times", usage="list|add|show|pause|resume|run|remove"
    ),
    CommandSpec("pair", "Ask to be let in; an admin lets somebody in", "[code]", role=Role.VIEWER),
    CommandSpec("link", "Be one person on two platforms", "[code|share|apart]", role=Role.VIEWER),
    CommandSpec("unlink", "End that", role=Role.VIEWER),
    CommandSpec("whoami", "Your ids, for the person who grants access", role=Role.VIEWER),
)
BY_NAME = {name: spec for spec in COMMANDS for name in (spec.name, *spec.aliases)}

# A command is a word; "/etc/hosts" and "/ home" are text.
SHAPE = re.compile(r"/([A-Za-z][A-Za-z0-9_-]{0,31})(?:@(\S{1,64}))?(?=\s|$)\s*(.*)", re.DOTALL)


@dataclass(frozen=True)
class Command:
    """A known command with its words."""

    spec: CommandSpec
    rest: str = ""


@dataclass(frozen=True)
class UnknownCommand:
    """It looks like a command and is none; `nearest` may be what was meant (empty: no idea)."""

    name: str
    nearest: str = ""


def parse(text: str) -> Command | UnknownCommand | None:
    """The command that `text` is, or None if it is plain text.

    Case does not matter and a `@bot` suffix is understood; whose bot it names is the adapter's
    business.
    """
    found = SHAPE.fullmatch(text.strip())
    if not found:
        return None
    name = found.group(1).lower().replace("-", "_")
    spec = BY_NAME.get(name)
    if spec:
        return Command(spec, found.group(3).strip())
    nearest = difflib.get_close_matches(name, BY_NAME, n=1, cutoff=0.6)
    return UnknownCommand(found.group(1), nearest[0] if nearest else "")


def help_text(say: Callable[[str], str] = str) -> str:
    """The commands as Markdown.

    Args:
        say: Puts a summary into the person's language.
    """
    return "\n".join(f"- `/{spec.name}` {say(spec.summary)}" for spec in COMMANDS)
