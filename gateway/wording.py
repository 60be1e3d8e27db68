"""The words the gateway itself says to a person."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from clarify.presenting import clipped, escape
from gateway.busy import Plan
from gateway.commands import UnknownCommand
from gateway.messages import Attachment, InboundMessage, Source
from gateway.resets import EndReason
from gateway.roles import Role
from gateway.rules import Rules

LONGEST_QUOTE = 80  # characters
TOO_OLD = gettext_lazy(
    "This message reached me so late that I leave it unanswered. Please send it again if it still"
    " matters."
)
NOT_YOURS = gettext_lazy("This question was put to somebody else.")
UNKNOWN_BUTTON = gettext_lazy("This button belongs to no open question.")
NO_WORDS = gettext_lazy("_The agent ended its turn without a word._")
GOES_ON = gettext_lazy("↻ The work was interrupted and goes on now.")
TOO_OFTEN = gettext_lazy(
    "The work was interrupted too often, so it was given up. Please ask again."
)
STOPPED_BY_STAFF = gettext_lazy("⏹ Stopped by the operator.")

ROLES = {
    Role.VIEWER: gettext_lazy("viewer"),
    Role.MEMBER: gettext_lazy("member"),
    Role.APPROVER: gettext_lazy("approver"),
    Role.ADMIN: gettext_lazy("admin"),
}


def denied(source: Source) -> str:
    """What a person reads who may not use the agent."""
    return _(
        "You are not on this bot's list yet. Ask the person who runs it to add you; your id on"
        " %(platform)s is `%(user)s`."
    ) % {"platform": source.platform, "user": source.user_id}


def needs_role(what: str, needed: Role, role: Role | None) -> str:
    """What a person reads whose role does not go so far, and who can grant it ([A6]).

    Args:
        what: What they wanted, as the subject of a sentence.
        needed: The role it takes.
        role: Theirs for this; None if an entry gives them other commands only.
    """
    asks = _("%(what)s takes the role “%(needed)s”.") % {"what": what, "needed": ROLES[needed]}
    have = _("Here you are a %(role)s.") % {"role": ROLES[role]} if role else ""
    grants = _("An admin of this bot, or whoever runs it, can grant it: `/whoami` says your id.")
    return " ".join(filter(None, (asks, have, grants)))


def unknown_command(command: UnknownCommand) -> str:
    """What a person reads who mistyped a command."""
    if command.nearest:
        return _("There is no command `/%(name)s`. Did you mean `/%(nearest)s`?") % {
            "name": command.name,
            "nearest": command.nearest,
        }
    return _("There is no command `/%(name)s`. `/help` lists those there are.") % {
        "name": command.name
    }


def quoted(text: str) -> str:
    """Words of somebody's, on one line, cut short, and with no power over what stands around."""
    one_line = " ".join(text.split())
    return f"“{escape(clipped(one_line, LONGEST_QUOTE))}”" if one_line else ""


def named(name: str) -> str:
    """Somebody's name in what we say; where there is none, somebody."""
    return escape(clipped(" ".join(name.split()), LONGEST_QUOTE)) or _("somebody else")


def failed(line: str, turn: int) -> str:
    """What a person reads whose turn has failed: why, in one line, and what to name to staff."""
    return _("⚠️ %(line)s (reference: turn %(turn)s)") % {"line": line, "turn": turn}


def busy(plan: Plan, *, behind: int) -> str:
    """What a person reads whose message waits, because something is open ([T2]).

    Args:
        plan: What is done with it.
        behind: How many are before it.
    """
    match plan:
        case Plan.COLLECT:
            return _("➕ Added to your message that is next.")
        case Plan.STEER:
            return _("↪ Passed on to the work under way.")
        case Plan.INTERRUPT:
            return _("⏹ Stopped; this comes first now.")
        case _ if behind > 1:
            return _("⏳ Queued; %(number)s are before it.") % {"number": behind}
        case _:
            return _("⏳ Queued; it comes next.")


def no_room(capacity: int) -> str:
    """What a person reads whose turn waits because the installation is full ([T1])."""
    return _(
        "⏳ All %(number)s places for work are taken right now. Yours is in the queue and begins"
        " by itself; commands such as /status and /stop work meanwhile."
    ) % {"number": capacity}


def renewed(reason: EndReason, rules: Rules) -> str:
    """What a person reads whose message began another session without their asking ([S4])."""
    match reason:
        case EndReason.IDLE:
            return _(
                "A new session begins: nothing was said for %(minutes)s minutes. /resume goes back."
            ) % {"minutes": rules.idle_minutes}
        case EndReason.DAILY:
            return _("A new session begins, as every day at %(hour)s:00. /resume goes back.") % {
                "hour": rules.hour
            }
        case _:
            return _("A new session begins: the last one was suspended. /resume goes back.")


def still_open(question: str) -> str:
    """What a person reads who sends a file while a question waits for their answer."""
    return _("That comes next. First, a question is still open: %(question)s") % {
        "question": question
    }


def as_prompt(event: InboundMessage) -> str:
    """What the agent reads of a message: its words, and a line for each file that came with it."""
    lines = [event.text] if event.text else []
    lines += [file_label(attachment) for attachment in event.attachments]
    return "\n".join(lines)


def file_label(attachment: Attachment) -> str:
    """What stands for a file in what its sender said."""
    return f"[{attachment.kind}: {attachment.name or 'without a name'}]"[:300]
