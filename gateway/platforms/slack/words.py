"""The words of one raw Slack message, and whether they are addressed to us. Pure.

In what Slack sends, `&`, `<` and `>` that somebody typed are escaped; what stands bare between `<`
and `>` was made by Slack itself: a mention, a channel, a link.

Source: https://docs.slack.dev/messaging/formatting-message-text, "retrieving messages" (2026-08).
"""

import re
from typing import Any

from gateway import commands
from gateway.messages import clean

Raw = dict[str, Any]

_TAG = re.compile(r"<([^<>\n]+)>")
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_LONGEST_NAME = 80


def plain(text: str) -> str:
    """`text` as the person reads it: tags become names and addresses, entities characters."""
    return clean(_unescaped(_TAG.sub(_shown, text)))


def names(text: str, user_ids: frozenset[str]) -> bool:
    """Whether one of `user_ids` is mentioned in raw `text`."""
    return any(_mentioned(tag) in user_ids for tag in _TAG.findall(text))


def without_greeting(text: str, user_ids: frozenset[str]) -> str:
    """Raw `text` without our name in front: `<@U0BOT> status` is an order, not a sentence."""
    rest = text.lstrip()
    while (tag := _TAG.match(rest)) and _mentioned(tag[1]) in user_ids:
        rest = rest[tag.end() :].lstrip(" \t,:")
    return rest


def as_command(text: str) -> str:
    """`!status` as `/status`: Slack's own field keeps every word with a slash for itself."""
    if not text.startswith("!"):
        return text
    command = f"/{text[1:]}"
    return command if isinstance(commands.parse(command), commands.Command) else text


def one_line(text: str) -> str:
    """A name as one clean line: a stranger's line breaks get into no page and no log."""
    return " ".join(clean(text).split())[:_LONGEST_NAME]


def shared(message: Raw) -> str:
    """What was passed on from elsewhere along with a message, marked as another's words."""
    pieces = [
        f"[shared from {_author(one)}]\n{plain(str(one.get('text') or one.get('fallback') or ''))}"
        for one in message.get("attachments") or ()
        if one.get("is_share") or one.get("is_msg_unfurl")
    ]
    return "\n".join(pieces)


def _author(attachment: Raw) -> str:
    name = attachment.get("author_name") or attachment.get("author_subname") or "somebody"
    return one_line(str(name)).replace("]", ")")


def _mentioned(tag: str) -> str:
    return tag[1:].partition("|")[0] if tag.startswith("@") else ""


def _shown(tag: re.Match[str]) -> str:
    target, _, label = tag[1].partition("|")
    if target[0] in "@#":
        return f"{target[0]}{label or target[1:]}"
    if target[0] == "!":
        return _special(target[1:], label)
    address = target.removeprefix("mailto:")
    # Slack labels a bare address with itself, less the scheme.
    is_bare = not label or label in {target, address, target.partition("://")[2]}
    return address if is_bare else f"{label} ({target})"


def _special(word: str, label: str) -> str:
    """`<!here>`, `<!subteam^S012|@team>`, `<!date^…|fall-back>`."""
    name = label or word.partition("^")[0]
    return name if word.startswith("date^") or name.startswith("@") else f"@{name}"


def _unescaped(text: str) -> str:
    for entity, sign in _ENTITIES:
        text = text.replace(entity, sign)
    return text
