"""What people and staff read about pairing and links."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from clarify.presenting import escape
from gateway.identity.models import Link, LinkEnd
from gateway.messages import Source

LET_IN = gettext_lazy("You are on this bot's list now. Just write to me; `/help` says what I can.")

# For staff, in the admin and at a shell.
NO_SUCH_CODE = (
    "No request that waits has this code: it is mistyped, used, older than an hour, or another came"
    " after it. Ask the person for a fresh one; they get it with /pair."
)
NOT_WAITING = "{row} does not wait any more."
NOT_PAIRED = "{row} is not paired."
NAMES_NONE = (
    "No pairing is called {text!r}: give its number as in #3, the person's id, or its code."
)
NAMES_SEVERAL = (
    "{text!r} names several pairings: give the number, as in #3. See: pairing list --all"
)


def offered(source: Source, code: str) -> str:
    """What a stranger reads who is given a code."""
    return _(
        "You are not on this bot's list yet. Give this code to the person who runs it: `%(code)s`."
        " It counts for one hour; `/pair` gives you another. Your id on %(platform)s is `%(user)s`."
    ) % {"code": code, "platform": source.platform, "user": source.user_id}


TOO_MANY_TRIES = gettext_lazy("Too many codes were wrong. Try again in an hour.")
TOO_MANY_LINKS = gettext_lazy("That is enough codes for now. Try again in an hour.")
NO_SUCH_LINK = gettext_lazy(
    "That code does not count here: it is mistyped, used, too old, or meant for the other side."
    " `/link` begins anew."
)
AS_IT_WAS = "Link {number} is not in force, or its history is kept so already."
NOT_LINKED = "Link {number} is not in force."


def linked(other: LinkEnd) -> str:
    """What a person reads whose two identities are one now."""
    return _(
        "You are linked with %(who)s: you may do here what both of you may. `/unlink` ends it."
    ) % {"who": _who(other)}


def history(link: Link, end: LinkEnd, *, shares: bool) -> str:
    """What a person reads whose two private chats have one history from now on, or two."""
    who = _who(link.ends.exclude(pk=end.pk).get())
    if shares:
        return _("This chat and the one of %(who)s go on with one history, the newer one.") % {
            "who": who
        }
    return _("This chat and the one of %(who)s have histories of their own again.") % {"who": who}


def unlinked(other: LinkEnd) -> str:
    """What a person reads whose link has ended."""
    return _("You are not linked with %(who)s any more.") % {"who": _who(other)}


def _who(end: LinkEnd) -> str:
    name = f"{escape(end.user_name)} " if end.user_name else ""
    return f"{name}`{end.user_id}` ({end.platform})"
