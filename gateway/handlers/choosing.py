"""What a person chooses for a conversation: its session, its title, its model, the home ([T5])."""

from django.utils.translation import gettext as _

from gateway import audit, chats, costs, sessions, turns, wording
from gateway.conf import gateway_settings
from gateway.costs import Bill
from gateway.handlers.given import Done, Given
from gateway.matching import closest
from gateway.prices import shown

USUAL = {"default", "usual", "reset"}
MOST_LISTED = 10


def title(given: Given) -> Done:
    """Name the session, so that it can be found again."""
    words = " ".join(given.command.rest.split())
    if not words:
        session = given.conversation.session
        now = wording.quoted(session.title) if session and session.title else _("no title yet")
        return Done(_("This session: %(title)s. Name it: `/title Trip to Yazd`.") % {"title": now})
    sessions.name(given.conversation, words)
    return Done(_("This session is called %(title)s now.") % {"title": wording.quoted(words)})


def resume(given: Given) -> Done:
    """Go on in an earlier session of this conversation."""
    wanted = " ".join(given.command.rest.split())
    past = sessions.earlier(given.conversation)
    if not past:
        return Done(_("There is no earlier session here."))
    if not wanted:
        return Done(_listed(past))
    found = _meant(wanted, past)
    if found is None:
        return Done(_("There is no such session here.") + "\n\n" + _listed(past))
    if turns.open_of(given.conversation.pk):
        return Done(_("Something is still open here. Wait for it, or `/stop` it first."))
    sessions.take_up(given.conversation, found, now=given.now)
    words = _("Session %(number)s goes on: %(title)s")
    return Done(words % {"number": found.number, "title": _called(found)})


def _meant(wanted: str, past: list[sessions.Past]) -> sessions.Past | None:
    """The session of that number, or else of that title; a number is never nearly another."""
    number = wanted.removeprefix("#")
    if number.isdecimal():
        return next((one for one in past if str(one.number) == number), None)
    by_title = {one.title: one for one in reversed(past) if one.title}
    return by_title.get(closest(wanted, by_title))


def _listed(past: list[sessions.Past]) -> str:
    lines = [f"- `/resume {one.number}` {_called(one)}" for one in past[:MOST_LISTED]]
    return "\n".join([_("Earlier sessions, the latest first:"), "", *lines])


def _called(one: sessions.Past) -> str:
    return wording.quoted(one.title or one.first_words) or _("nothing was said in it")


def model(given: Given) -> Done:
    """Choose the model for this session, among those that are set up."""
    wanted, session = given.command.rest.strip(), given.conversation.session
    usual = given.heard.rules.model or costs.named("")
    names = list(dict.fromkeys([usual, costs.named(""), *gateway_settings().models]))
    present = (session.model if session else "") or usual
    if not wanted:
        lines = [f"- `{name}`{' ←' if name == present else ''}" for name in names]
        head = _("This session is answered by `%(model)s`. Choose with `/model name`:")
        return Done("\n".join([head % {"model": present}, "", *lines]))
    if wanted.lower() in USUAL:
        sessions.use_model(given.conversation, "")
        return Done(_("From now on the usual one answers: `%(model)s`.") % {"model": usual})
    found = closest(wanted, names)
    if not found:
        words = _("There is no model %(name)s here. There are: %(names)s")
        listed = ", ".join(f"`{name}`" for name in names)
        return Done(words % {"name": wording.quoted(wanted), "names": listed})
    sessions.use_model(given.conversation, "" if found == usual else found)
    words = _("From the next turn on `%(model)s` answers in this session.")
    return Done(words % {"model": found})


def usage(given: Given) -> Done:
    """What the last turn and the session have cost."""
    session = given.conversation.session
    if session is None:
        return Done(_("Nothing was asked yet."))
    last = costs.of_last_turn(session)
    lines = [_("session %(number)s: %(cost)s")]
    facts = {"number": session.number, "cost": _cost(costs.of_session(session))}
    said = [lines[0] % facts]
    if last is not None:
        said.insert(0, _("last turn: %(cost)s") % {"cost": _cost(last)})
    return Done("\n".join(f"- {line}" for line in said))


def _cost(bill: Bill) -> str:
    tokens = _("%(read)s tokens read, %(written)s written, in %(calls)s model calls") % {
        "read": f"{bill.usage.input_tokens:,}",
        "written": f"{bill.usage.output_tokens:,}",
        "calls": bill.usage.requests,
    }
    if not bill.money:
        return tokens
    money = f"{shown(bill.money)} {gateway_settings().currency}"
    sure = money if bill.is_whole else _("at least %(money)s") % {"money": money}
    return f"{tokens}; {sure}"


def sethome(given: Given) -> Done:
    """Let what nobody asked for, such as results of scheduled jobs, come here from now on."""
    address = given.event.source.address
    chats.make_home(address, by=f"{address.platform}:{given.speaker.id}", now=given.now)
    audit.note(
        "home.set",
        actor=f"{address.platform}:{given.speaker.id}",
        subject=f"account:{address.account}",
        now=given.now,
        chat=address.chat_id,
        thread=address.thread_id,
    )
    return Done(_("Results of scheduled jobs come here from now on."))
