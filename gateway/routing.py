"""What becomes of an event: for each kind a chain of steps, and the first that knows decides."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import cast

from django.utils.translation import gettext as _

from clarify import questions
from clarify.errors import NotAllowed, NotYours, UnknownPrompt
from clarify.questions import Answerer, Effect, Outcome
from delivery import destinations
from gateway import (
    access,
    answering,
    beginning,
    bots,
    chats,
    commands,
    denials,
    handlers,
    inbound,
    keys,
    policy,
    sessions,
    speaking,
    strangers,
    turns,
    wording,
)
from gateway.deeds import AckPress, Deed
from gateway.handlers import Given
from gateway.heard import Heard
from gateway.inbound import Verdict
from gateway.messages import (
    ButtonPress,
    ChatMoved,
    EditedMessage,
    Form,
    Ignored,
    Inbound,
    InboundMessage,
    Membership,
)
from gateway.models import Decision
from gateway.roles import Role
from gateway.schedules import moving


def decide(event: Inbound, now: datetime) -> Verdict:
    """What becomes of `event`; whatever it changes is changed in the caller's transaction."""
    source = getattr(event, "source", None)
    with speaking.to(speaking.language_for(source.language) if source else ""):
        return DECIDERS[type(event)](event, now)


def _message(event: InboundMessage, now: datetime) -> Verdict:
    unwanted = _not_for_us(event)
    if unwanted is not None:
        return unwanted
    judged = access.judge(event.source)
    if event.source.is_bot:
        return bots.unwanted(event, judged) or _heard(event, judged, now)
    if not judged.allowed:
        return strangers.meet(event, judged, now)
    return _heard(event, judged, now)


def _heard(event: InboundMessage, judged: policy.Verdict, now: datetime) -> Verdict:
    """Control commands come first, then an open question, then everything else ([Q9])."""
    speaker = access.speaker(event.source, judged)
    heard = replace(_in_its_conversation(event, speaker, now), judged=judged)
    sessions.go_together(heard.conversation, event.source, is_linked=judged.is_linked, now=now)
    with speaking.to(heard.conversation.language):
        verdict = _decided(heard)
    verdict.conversation = heard.conversation
    return verdict


def _decided(heard: Heard) -> Verdict:
    if heard.source.is_bot:
        return bots.decide(heard)
    return (
        _as_command(heard)
        or _unless_member(heard)
        or beginning.as_fragment(heard)
        or answering.as_answer(heard)
        or answering.as_late_answer(heard)
        or answering.as_answer_of_another(heard)
        or beginning.as_album(heard)
        or _unless_addressed(heard)
        or beginning.as_stale(heard)
        or beginning.as_turn(heard)
    )


def _not_for_us(event: InboundMessage) -> Verdict | None:
    if event.command_for_other:
        return Verdict(Decision.IGNORED, "a command for another bot")
    return None


def _in_its_conversation(event: InboundMessage, speaker: Answerer, now: datetime) -> Heard:
    source = event.source
    destinations.revive(source.address)
    rules = chats.rules_for(source)
    conversation = sessions.find_or_open(
        keys.fields_of(source, rules.sharing), title=source.user_name, now=now
    )
    sessions.learn(conversation, source, speaking.language_for(source.language))
    # What is quoted may be a question of another person's conversation.
    nothing_asked = not event.reply_to and questions.nothing_lately(conversation.key, now=now)
    return Heard(event, conversation, now, nothing_asked, speaker, rules=rules)


def _as_command(heard: Heard) -> Verdict | None:
    command = commands.parse(heard.event.text)
    if command is None:
        return None
    if isinstance(command, commands.UnknownCommand):
        if not heard.is_addressed:
            return None
        heard.reply(wording.unknown_command(command))
        return Verdict(Decision.COMMAND, f"unknown: {command.name}")
    if not heard.judged.may(command.spec.role, command.spec.name):
        return _beyond_their_role(heard, command.spec)
    done = handlers.run(Given(command, heard))
    if done.say:
        heard.reply(done.say)
    return Verdict(
        Decision.COMMAND, command.spec.name, turn=done.turn, prompt=done.prompt, deeds=done.deeds
    )


def _beyond_their_role(heard: Heard, spec: commands.CommandSpec) -> Verdict:
    """One who may not give a command is told what it takes, and who can grant it ([A6])."""
    reason = f"/{spec.name} needs the role {spec.role}"
    denials.note(heard.source, f"/{spec.name}", reason=reason, now=heard.now)
    if heard.is_addressed:
        heard.reply(wording.needs_role(f"`/{spec.name}`", spec.role, heard.judged.role(spec.name)))
    return Verdict(Decision.DENIED, reason)


def _unless_member(heard: Heard) -> Verdict | None:
    """Whoever only reads how things stand begins no turn and answers nothing."""
    if heard.judged.may(Role.MEMBER):
        return None
    if not heard.is_addressed:
        return Verdict(Decision.IGNORED, "a group message that does not mention us")
    role = heard.judged.role()
    reason = f"only {role}: reads, and begins no turn" if role else "only some commands are theirs"
    if denials.note(heard.source, "turn", reason=reason, now=heard.now):
        heard.reply(wording.needs_role(_("Writing to the agent"), Role.MEMBER, role))
    return Verdict(Decision.DENIED, reason)


def _unless_addressed(heard: Heard) -> Verdict | None:
    if heard.is_addressed:
        return None
    return Verdict(Decision.IGNORED, "a group message that does not mention us")


def _edited(event: EditedMessage, now: datetime) -> Verdict:
    original = inbound.not_begun(event.source)
    if original is None or not access.judge(event.source).may(Role.MEMBER):
        return Verdict(Decision.IGNORED, "the message was edited after it was handled")
    words = inbound.prompt_of(original, edited=event.text)
    if not turns.reword(cast("int", original.turn_id), words, now=now):
        return Verdict(Decision.IGNORED, "the message was edited while it was taken up")
    inbound.reword(original, event.text)
    return Verdict(Decision.EDITED, "a waiting message was changed", turn=original.turn)


def _pressed(event: ButtonPress, now: datetime) -> Verdict:
    """A press is acknowledged whatever becomes of it."""
    judged = access.judge(event.source)
    if not judged.may(Role.MEMBER):
        denials.note(event.source, "press", reason=judged.reason, now=now)
        return _refused(event, Decision.DENIED, judged.reason, wording.NOT_YOURS)
    address = event.source.address
    try:
        outcome = questions.press(
            event.data,
            lane=address.lane,
            answerer=access.speaker(event.source, judged),
            now=now,
            chosen=event.chosen,
        )
    except UnknownPrompt:
        return _refused(event, Decision.IGNORED, "no such button", wording.UNKNOWN_BUTTON)
    except NotYours:
        return _refused(event, Decision.DENIED, "another person was asked", wording.NOT_YOURS)
    except NotAllowed as error:
        return _refused(event, Decision.DENIED, "may not approve this", error)
    late = outcome.effect is Effect.TOO_LATE
    is_echo = outcome.effect is Effect.RESOLVED
    ack = AckPress(event, outcome.say, alert=late, is_echo=is_echo, form=_form(outcome))
    deeds: tuple[Deed, ...] = (ack,)
    deeds += answering.typing_after(outcome, address)
    decision = Decision.CLOSED if late else Decision.ANSWER
    return Verdict(decision, outcome.effect.value, prompt=outcome.prompt, deeds=deeds)


def _form(outcome: Outcome) -> Form | None:
    """The form in which own words are asked for, if they are."""
    words = outcome.prompt.words
    if not outcome.asks:
        return None
    return Form(
        title=str(words.your_answer),
        label=outcome.asks,
        placeholder=str(words.your_answer),
        submit=str(words.submit),
        cancel=str(words.back),
    )


def _refused(event: ButtonPress, decision: Decision, reason: str, words: object) -> Verdict:
    return Verdict(decision, reason, deeds=(AckPress(event, str(words), alert=True),))


def _moved(event: ChatMoved, now: datetime) -> Verdict:
    count = sessions.move_chat(
        event.platform, event.account, event.old_chat_id, event.new_chat_id, now=now
    )
    moving.move_chat(event.account, event.old_chat_id, event.new_chat_id)
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
