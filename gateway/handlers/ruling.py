"""Questions and approvals, ruled on by command ([Q19])."""

import re
from datetime import timedelta

from django.utils.translation import gettext as _

from clarify import questions
from clarify.approvals import Reach, Ruling
from clarify.errors import NotAllowed, NotYours, UnknownPrompt
from clarify.models import Prompt
from clarify.presenting import escape
from clarify.questions import Effect
from gateway import wording
from gateway.handlers.given import Done, Given

NUMBER = re.compile(r"\s*#?(\d{1,12})(?=\s|$)", re.ASCII)
SECOND = timedelta(seconds=1)  # platforms tell when something was sent in whole ones
REACHES = {reach.value: reach for reach in Reach}


def skip(given: Given) -> Done:
    """Decline the open question."""
    mine = questions.open_to(
        given.conversation.key,
        given.speaker,
        lane=given.lane,
        quoted_message_id=given.event.reply_to,
    )
    if not mine:
        return Done(_("There is no open question to skip."))
    outcome = questions.skip(mine[0], given.speaker, now=given.now, said="/skip")
    overtaken = outcome.effect is Effect.TOO_LATE
    return Done(escape(outcome.say) if overtaken else "", mine[0])


def approve(given: Given) -> Done:
    """Let an operation run."""
    words = given.command.rest.lower().split()
    reach = REACHES[words.pop()] if words and words[-1] in REACHES else Reach.ONCE
    number, rest = _number(" ".join(words))
    if rest:
        return Done(_("Say `/approve`, or `/approve 17`, or `/approve 17 session`."))
    return _rule(given, number, Ruling(approved=True, reach=reach))


def deny(given: Given) -> Done:
    """Refuse an operation."""
    number, reason = _number(given.command.rest)
    return _rule(given, number, Ruling(approved=False, reason=reason))


def _number(text: str) -> tuple[int | None, str]:
    """The number that `text` begins with, and the rest of it."""
    found = NUMBER.match(text)
    if found is None:
        return None, text.strip()
    return int(found.group(1)), text[found.end() :].strip()


def _rule(given: Given, number: int | None, ruling: Ruling) -> Done:
    prompt = _meant(given, number)
    if isinstance(prompt, Done):
        return prompt
    try:
        outcome = questions.rule(prompt, ruling, given.speaker, now=given.now)
    except (NotAllowed, NotYours) as error:
        return Done(str(error) or str(wording.NOT_YOURS), prompt)
    except UnknownPrompt:
        return Done(_("That can only be approved once: `/approve %(n)s`.") % {"n": prompt.pk})
    return Done(escape(outcome.say), prompt)


def _meant(given: Given, number: int | None) -> Prompt | Done:
    """The approval a command is about: the numbered one, the quoted one, or the only open one."""
    if number is not None:
        found = questions.approval(number, given.lane)
        return found or Done(_("There is no approval #%(n)s here.") % {"n": number})
    quoted = questions.quoted(given.lane, given.event.reply_to) if given.event.reply_to else None
    if quoted is not None and quoted.is_approval:
        return quoted
    waiting = questions.approvals_at(given.lane)
    mine = [prompt for prompt in waiting if questions.may_answer(prompt, given.speaker)]
    if len(mine) == 1:
        return _unless_newer(given, mine[0])
    if not mine:
        return Done(_("Nothing waits for an approval here."))
    lines = [f"- `#{prompt.pk}` {escape(prompt.what.summary)}" for prompt in mine]
    which = _("Several operations wait. Say which, for example `/approve %(n)s`:")
    return Done("\n".join([which % {"n": mine[0].pk}, "", *lines]))


def _unless_newer(given: Given, prompt: Prompt) -> Prompt | Done:
    """A command without a number says nothing about what came up after it was written."""
    if given.event.sent_at + SECOND > questions.shown_at(prompt):
        return prompt
    words = _("Approval #%(n)s came up after you wrote that. Read it; then say `/approve %(n)s`.")
    return Done(words % {"n": prompt.pk})
