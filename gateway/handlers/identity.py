"""Who one is: let in by a code, and one person on two platforms ([A2], [A5])."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from gateway import admission
from gateway.errors import NotPossible
from gateway.handlers.given import Done, Given
from gateway.identity import links
from gateway.roles import Role
from gateway.wording import needs_role

HISTORIES = {"share": True, "apart": False}
NOBODY = gettext_noop("You are linked with nobody. `/link` begins it.")


def pair(given: Given) -> Done:
    """Let somebody in by their code; whoever is in already needs none."""
    code = given.command.rest
    if not code:
        return Done(_("You are on this bot's list already. An admin says `/pair` with a code."))
    judged = given.heard.judged
    if not judged.may(Role.ADMIN, "pair"):
        return Done(needs_role(_("Letting somebody in"), Role.ADMIN, judged.role("pair")))
    try:
        paired = admission.approve_in_chat(code, given.event.source, now=given.now)
    except NotPossible as error:
        return Done(str(error))
    return Done(_("`%(id)s` is let in, as a member.") % {"id": paired.user_id})


def link(given: Given) -> Done:
    """Begin a link, or go on with one."""
    source = given.event.source
    if not source.address.is_private:
        return Done(_("Say that to me in private: others here would read the code."))
    if (word := given.command.rest.lower()) in HISTORIES:
        return _share(given, shares=HISTORIES[word])
    try:
        if not given.command.rest:
            return Done(_asked(links.ask(source, now=given.now)))
        step = links.enter(given.command.rest, source, now=given.now)
    except NotPossible as error:
        return Done(str(error))
    if step.code:
        return Done(
            _("Nearly there. Now say `/link %(code)s` where you began, to show that it is you.")
            % {"code": step.code}
        )
    admission.confirmed(step.link, now=given.now)
    return Done("")


def _share(given: Given, *, shares: bool) -> Done:
    mine = links.of(given.event.source)
    if not mine:
        return Done(_(NOBODY))
    news = [links.share(one, shares=shares, actor=_person(given), now=given.now) for one in mine]
    return Done("" if any(news) else _("It is so already."))


def _asked(code: str) -> str:
    return _(
        "Say `/link %(code)s` to this bot on the other platform, in private, within 15 minutes."
        " There you read a second code to enter here. Afterwards you may do on both sides what"
        " both may, and no more."
    ) % {"code": code}


def unlink(given: Given) -> Done:
    """End one's links."""
    mine = links.of(given.event.source)
    for one in mine:
        admission.unlink(one, actor=_person(given), now=given.now)
    return Done("" if mine else _(NOBODY))


def _person(given: Given) -> str:
    return f"{given.event.source.platform}:{given.event.source.user_id}"
