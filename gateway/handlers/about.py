"""What there is to know: the commands, and who one is."""

from django.utils.translation import gettext as _

from gateway import commands
from gateway.handlers.given import Done, Given


def show_help(_given: Given) -> Done:
    """What one can do here."""
    return Done(
        _("Just write to me. These commands work at any time:") + "\n\n" + commands.help_text(_)
    )


def whoami(given: Given) -> Done:
    """The ids by which one is known."""
    source, conversation = given.event.source, given.conversation
    lines = [
        f"{source.platform}: `{source.user_id}`",
        _("chat: `%(id)s`") % {"id": source.chat_id},
        _("conversation: `%(key)s`") % {"key": conversation.key},
    ]
    return Done("\n".join(f"- {line}" for line in lines))
