"""Whether what was said answers a question, is too late for one, or answers another's."""

from clarify import questions
from clarify.errors import NotAllowed
from clarify.models import Prompt
from clarify.presenting import escape
from clarify.questions import Effect, Outcome
from clarify.states import State
from delivery.addresses import Address
from gateway import keys, wording
from gateway.deeds import Deed, StartTyping
from gateway.heard import Heard
from gateway.inbound import Verdict
from gateway.models import Decision, Turn


def as_answer(heard: Heard) -> Verdict | None:
    """What answers a question that is open to the person."""
    event = heard.event
    if event.attachments or not event.text.strip():
        return None
    mine = [] if heard.nothing_asked else heard.open_prompts()
    mine = mine or heard.prompts_nearby()
    if not mine:
        return None
    try:
        outcome = questions.answer_text(mine[0], event.text, heard.speaker, now=heard.now)
    except NotAllowed as error:
        heard.reply(str(error))
        return Verdict(Decision.DENIED, "may not approve this", prompt=mine[0])
    if outcome.effect is Effect.NOTHING:
        return None
    if outcome.effect is Effect.TOO_LATE:
        heard.reply(escape(outcome.say))
        return _overtaken(heard, outcome.prompt)
    if outcome.say and outcome.effect is not Effect.RESOLVED:
        heard.reply(outcome.say)
    decision = Decision.HINT if outcome.effect is Effect.HINTED else Decision.ANSWER
    deeds = typing_after(outcome, heard.source.address)
    return Verdict(decision, outcome.effect.value, prompt=outcome.prompt, deeds=deeds)


def _overtaken(heard: Heard, prompt: Prompt) -> Verdict | None:
    """Somebody else was quicker, and the person was told; own words go on as a message ([Q4])."""
    if heard.is_addressed and not questions.looks_like_answer(prompt, heard.event.text):
        return None
    return Verdict(Decision.CLOSED, f"the question is {prompt.state}", prompt=prompt)


def as_answer_of_another(heard: Heard) -> Verdict | None:
    """What quotes somebody else's question and answers it says nothing to the agent ([Q15])."""
    event = heard.event
    if not event.reply_to or event.attachments:
        return None
    quoted = questions.quoted(heard.source.address.lane, event.reply_to)
    if quoted is None or not quoted.is_open or questions.may_answer(quoted, heard.speaker):
        return None
    if not questions.looks_like_answer(quoted, event.text):
        return None
    heard.reply(str(wording.NOT_YOURS))
    return Verdict(Decision.DENIED, "another person was asked", prompt=quoted)


def as_late_answer(heard: Heard) -> Verdict | None:
    """What would have answered a question that is closed ([Q20])."""
    event, key = heard.event, heard.conversation.key
    if heard.nothing_asked or event.attachments:
        return None
    lane = heard.source.address.lane
    quoted = questions.quoted(lane, event.reply_to) if event.reply_to else None
    lately = [] if quoted else questions.closed_lately(key, now=heard.now)
    # A word that quotes nothing rules on no approval, so it cannot come too late for one either.
    candidates = [quoted] if quoted else [one for one in lately if not one.is_approval]
    late = (prompt for prompt in candidates if _is_late(prompt, heard))
    closed = next((prompt for prompt in late if quoted or not _is_settled(prompt, heard)), None)
    if closed is None:
        return None
    heard.reply(escape(questions.closed_words(closed)))
    return Verdict(Decision.CLOSED, f"the question is {closed.state}", prompt=closed)


def _is_late(prompt: Prompt, heard: Heard) -> bool:
    """Whether what was said would have been their answer to a prompt that is closed ([Q20])."""
    would_answer = questions.looks_like_answer(prompt, heard.event.text)
    return not prompt.is_open and would_answer and questions.may_answer(prompt, heard.speaker)


def _is_settled(prompt: Prompt, heard: Heard) -> bool:
    """Whether it was answered and the person has come to something else since.

    Their bare "yes" or "both" is about that now, although the question had such an option too.
    """
    later = Turn.objects.filter(
        conversation=heard.conversation,
        pk__gt=keys.turn_of(prompt.correlation) or 0,
        sender_id=heard.source.user_id,
        created_at__gte=prompt.resolved_at,
    )
    return prompt.state == State.ANSWERED and later.exists()


def typing_after(outcome: Outcome, address: Address) -> tuple[Deed, ...]:
    """Show that the turn goes on whose question was answered."""
    turn = keys.turn_of(outcome.prompt.correlation)
    if outcome.effect is not Effect.RESOLVED or turn is None:
        return ()
    return (StartTyping(address, turn),)
