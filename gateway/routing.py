"""What becomes of an event: for each kind a chain of steps, and the first that knows decides."""

from collections.abc import Callable
from datetime import datetime
from typing import cast

from clarify import questions
from clarify.errors import NotAllowed, NotYours, UnknownPrompt
from clarify.questions import Answerer, Effect
from delivery import destinations
from delivery.models import Kind
from gateway import (
    access,
    answering,
    beginning,
    commands,
    denials,
    handlers,
    inbound,
    keys,
    policy,
    sessions,
    turns,
    wording,
)
from gateway.deeds import AckPress, Deed
from gateway.handlers import Given
from gateway.heard import Heard, say
from gateway.inbound import Verdict
from gateway.messages import (
    ButtonPress,
    ChatMoved,
    ChatType,
    EditedMessage,
    Ignored,
    Inbound,
    InboundMessage,
    Membership,
)
from gateway.models import Decision


def decide(event: Inbound, now: datetime) -> Verdict:
    """What becomes of `event`; whatever it changes is changed in the caller's transaction."""
    return DECIDERS[type(event)](event, now)


def _message(event: InboundMessage, now: datetime) -> Verdict:
    unwanted = _not_for_us(event)
    if unwanted is not None:
        return unwanted
    judged = access.judge(event.source)
    return _denied(event, judged, now) or _heard(event, access.speaker(event.source, judged), now)


def _heard(event: InboundMessage, speaker: Answerer, now: datetime) -> Verdict:
    """Control commands come first, then an open question, then everything else ([Q9])."""
    heard = _in_its_conversation(event, speaker, now)
    verdict = (
        _as_command(heard)
        or answering.as_answer(heard)
        or answering.as_late_answer(heard)
        or answering.as_answer_of_another(heard)
        or beginning.as_album(heard)
        or _unless_addressed(heard)
        or beginning.as_stale(heard)
        or beginning.as_turn(heard)
    )
    verdict.conversation = heard.conversation
    return verdict


def _not_for_us(event: InboundMessage) -> Verdict | None:
    if event.source.is_bot:
        return Verdict(Decision.IGNORED, "a bot said it")
    if event.command_for_other:
        return Verdict(Decision.IGNORED, "a command for another bot")
    return None


def _denied(event: InboundMessage, judged: policy.Verdict, now: datetime) -> Verdict | None:
    source = event.source
    if judged.allowed:
        return None
    is_news = denials.note(source, "message", reason=judged.reason, now=now)
    if is_news and source.chat_type is ChatType.DM:
        say(source, f"denied:{event.event_id}", wording.denied(source), Kind.NOTICE, now)
    return Verdict(Decision.DENIED, judged.reason)


def _in_its_conversation(event: InboundMessage, speaker: Answerer, now: datetime) -> Heard:
    source = event.source
    destinations.revive(source.address)
    conversation = sessions.find_or_open(
        keys.fields_of(source, keys.Sharing()), title=source.user_name, now=now
    )
    # What is quoted may be a question of another person's conversation.
    nothing_asked = not event.reply_to and questions.nothing_lately(conversation.key, now=now)
    return Heard(event, conversation, now, nothing_asked, speaker)


def _as_command(heard: Heard) -> Verdict | None:
    command = commands.parse(heard.event.text)
    if command is None:
        return None
    if isinstance(command, commands.UnknownCommand):
        if not heard.is_addressed:
            return None
        heard.reply(wording.unknown_command(command))
        return Verdict(Decision.COMMAND, f"unknown: {command.name}")
    done = handlers.run(Given(command, heard.event, heard.conversation, heard.speaker, heard.now))
    if done.say:
        heard.reply(done.say)
    return Verdict(
        Decision.COMMAND, command.spec.name, turn=done.turn, prompt=done.prompt, deeds=done.deeds
    )


def _unless_addressed(heard: Heard) -> Verdict | None:
    if heard.is_addressed:
        return None
    return Verdict(Decision.IGNORED, "a group message that does not mention us")


def _edited(event: EditedMessage, now: datetime) -> Verdict:
    original = inbound.not_begun(event.source)
    if original is None or not access.judge(event.source).allowed:
        return Verdict(Decision.IGNORED, "the message was edited after it was handled")
    if not turns.reword(cast("int", original.turn_id), event.text, now=now):
        return Verdict(Decision.IGNORED, "the message was edited while it was taken up")
    inbound.reword(original, event.text)
    return Verdict(Decision.EDITED, "a waiting message was changed", turn=original.turn)


def _pressed(event: ButtonPress, now: datetime) -> Verdict:
    """A press is acknowledged whatever becomes of it."""
    judged = access.judge(event.source)
    if not judged.allowed:
        denials.note(event.source, "press", reason=judged.reason, now=now)
        return _refused(event, Decision.DENIED, judged.reason, wording.NOT_YOURS)
    address = event.source.address
    try:
        outcome = questions.press(
            event.data, lane=address.lane, answerer=access.speaker(event.source, judged), now=now
        )
    except UnknownPrompt:
        return _refused(event, Decision.IGNORED, "no such button", wording.UNKNOWN_BUTTON)
    except NotYours:
        return _refused(event, Decision.DENIED, "another person was asked", wording.NOT_YOURS)
    except NotAllowed as error:
        return _refused(event, Decision.DENIED, "may not approve this", error)
    late = outcome.effect is Effect.TOO_LATE
    deeds: tuple[Deed, ...] = (AckPress(event, outcome.say, alert=late),)
    deeds += answering.typing_after(outcome, address)
    decision = Decision.CLOSED if late else Decision.ANSWER
    return Verdict(decision, outcome.effect.value, prompt=outcome.prompt, deeds=deeds)


def _refused(event: ButtonPress, decision: Decision, reason: str, words: object) -> Verdict:
    return Verdict(decision, reason, deeds=(AckPress(event, str(words), alert=True),))


def _moved(event: ChatMoved, now: datetime) -> Verdict:
    count = sessions.move_chat(
        event.platform, event.account, event.old_chat_id, event.new_chat_id, now=now
    )
    return Verdict(Decision.IGNORED, f"the chat has a new id; {count} conversations moved along")


def _membership(event: Membership, now: datetime) -> Verdict:
    address = event.source.address
    if event.is_member:
        destinations.revive(address)
        return Verdict(Decision.IGNORED, "we are in that chat")
    destinations.bury(address, reason="we were removed or blocked", now=now)
    return Verdict(Decision.IGNORED, "we were removed or blocked")


def _ignored(event: Ignored, now: datetime) -> Verdict:  # noqa: ARG001 - one signature for all
    return Verdict(Decision.IGNORED, event.reason)


DECIDERS: dict[type[Inbound], Callable[..., Verdict]] = {
    InboundMessage: _message,
    ButtonPress: _pressed,
    EditedMessage: _edited,
    ChatMoved: _moved,
    Membership: _membership,
    Ignored: _ignored,
}
