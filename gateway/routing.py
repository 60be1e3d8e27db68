"""What becomes of an event: for each kind a chain of steps, and the first that knows decides."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import cast

from clarify import questions
from clarify.errors import NotAllowed, NotYours, UnknownPrompt
from clarify.models import Prompt
from clarify.presenting import escape
from clarify.questions import Answerer, Effect, Outcome
from clarify.states import State
from delivery import destinations, ledger
from delivery.addresses import Address
from delivery.ledger import Debt
from delivery.models import Kind
from gateway import access, commands, handlers, inbound, keys, policy, sessions, turns, wording
from gateway.conf import gateway_settings
from gateway.deeds import AckPress, Deed, FetchFiles, StartTyping
from gateway.handlers import Given
from gateway.inbound import Verdict
from gateway.media import shelf
from gateway.messages import (
    ButtonPress,
    ChatMoved,
    ChatType,
    EditedMessage,
    Ignored,
    Inbound,
    InboundMessage,
    Membership,
    Source,
)
from gateway.models import Conversation, Decision, Turn

FILES_MARGIN = timedelta(seconds=5)  # for saying that the last of them did not come


def decide(event: Inbound, now: datetime) -> Verdict:
    """What becomes of `event`; whatever it changes is changed in the caller's transaction."""
    return DECIDERS[type(event)](event, now)


@dataclass(frozen=True)
class Heard:
    """Something said in a conversation by somebody who may speak there.

    Attributes:
        nothing_asked: No question is open in the conversation or was closed minutes ago, which
            spares most messages two dear looks.
        speaker: Who said it, as somebody who answers.
    """

    event: InboundMessage
    conversation: Conversation
    now: datetime
    nothing_asked: bool
    speaker: Answerer

    @property
    def source(self) -> Source:
        """Where it was said, and by whom."""
        return self.event.source

    @property
    def is_addressed(self) -> bool:
        """Whether it is meant for us."""
        return self.event.mentions_bot or self.source.address.is_private


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
        or _as_answer(heard)
        or _as_late_answer(heard)
        or _as_answer_of_another(heard)
        or _as_album(heard)
        or _unless_addressed(heard)
        or _as_stale(heard)
        or _as_turn(heard)
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
    if source.chat_type is ChatType.DM and access.is_first_denial(source, now=now):
        _say(source, f"denied:{event.event_id}", wording.denied(source), Kind.NOTICE, now)
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
        _reply(heard, wording.unknown_command(command))
        return Verdict(Decision.COMMAND, f"unknown: {command.name}")
    done = handlers.run(Given(command, heard.event, heard.conversation, heard.speaker, heard.now))
    if done.say:
        _reply(heard, done.say)
    return Verdict(Decision.COMMAND, command.spec.name, prompt=done.prompt)


def _as_answer(heard: Heard) -> Verdict | None:
    event = heard.event
    if heard.nothing_asked or event.attachments or not event.text.strip():
        return None
    mine = _open_to(heard)
    if not mine:
        return None
    try:
        outcome = questions.answer_text(mine[0], event.text, heard.speaker, now=heard.now)
    except NotAllowed as error:
        _reply(heard, str(error))
        return Verdict(Decision.DENIED, "may not approve this", prompt=mine[0])
    if outcome.effect is Effect.NOTHING:
        return None
    if outcome.effect is Effect.TOO_LATE:
        _reply(heard, escape(outcome.say))
        return _overtaken(heard, outcome.prompt)
    if outcome.say and outcome.effect is not Effect.RESOLVED:
        _reply(heard, outcome.say)
    decision = Decision.HINT if outcome.effect is Effect.HINTED else Decision.ANSWER
    deeds = _typing_after(outcome, heard.source.address)
    return Verdict(decision, outcome.effect.value, prompt=outcome.prompt, deeds=deeds)


def _overtaken(heard: Heard, prompt: Prompt) -> Verdict | None:
    """Somebody else was quicker, and the person was told; own words go on as a message ([Q4])."""
    if heard.is_addressed and not questions.looks_like_answer(prompt, heard.event.text):
        return None
    return Verdict(Decision.CLOSED, f"the question is {prompt.state}", prompt=prompt)


def _as_answer_of_another(heard: Heard) -> Verdict | None:
    """What quotes somebody else's question and answers it says nothing to the agent ([Q15])."""
    event = heard.event
    if not event.reply_to or event.attachments:
        return None
    quoted = questions.quoted(heard.source.address.lane, event.reply_to)
    if quoted is None or not quoted.is_open or questions.may_answer(quoted, heard.speaker):
        return None
    if not questions.looks_like_answer(quoted, event.text):
        return None
    _reply(heard, str(wording.NOT_YOURS))
    return Verdict(Decision.DENIED, "another person was asked", prompt=quoted)


def _as_album(heard: Heard) -> Verdict | None:
    """A further piece of an album joins the turn that the first one began, mention or none."""
    event = heard.event
    turn = shelf.album(heard.conversation, heard.source.user_id, event.group_id)
    if turn is None:
        return None
    is_said = f"\n{event.text}\n" in f"\n{turn.prompt}\n"
    words = wording.as_prompt(replace(event, text="") if is_said else event)
    if not turns.extend(turn, words, until=_held_until(heard), now=heard.now):
        return None
    _want_files(turn, event, heard.now)
    return Verdict(Decision.TURN, "more of an album", turn=turn, deeds=(FetchFiles(turn.pk),))


def _unless_addressed(heard: Heard) -> Verdict | None:
    if heard.is_addressed:
        return None
    return Verdict(Decision.IGNORED, "a group message that does not mention us")


def _as_late_answer(heard: Heard) -> Verdict | None:
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
    _reply(heard, escape(questions.closed_words(closed)))
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


def _as_stale(heard: Heard) -> Verdict | None:
    if heard.now - heard.event.sent_at <= gateway_settings().max_message_age:
        return None
    _reply(heard, str(wording.TOO_OLD), Kind.NOTICE)
    return Verdict(Decision.IGNORED, "it is too old to be answered")


def _as_turn(heard: Heard) -> Verdict:
    event, source = heard.event, heard.source
    text = wording.as_prompt(event)
    if not text.strip():
        return Verdict(Decision.IGNORED, "nothing was said")
    if event.attachments and (still_open := _open_to(heard)):
        _reply(heard, wording.still_open(still_open[0].gist), Kind.NOTICE)
    turn = turns.enqueue(
        turns.NewTurn(
            conversation=heard.conversation,
            prompt=text,
            sender_id=source.user_id,
            sender_name=source.user_name,
            reply_to=source.message_id,
            held_until=_held_until(heard) if event.attachments else None,
        ),
        now=heard.now,
    )
    deeds: tuple[Deed, ...] = (StartTyping(source.address, turn.pk),)
    if event.attachments:
        _want_files(turn, event, heard.now)
        deeds += (FetchFiles(turn.pk),)
    return Verdict(Decision.TURN, turn=turn, deeds=deeds)


def _held_until(heard: Heard) -> datetime:
    """When a turn begins at the latest, whatever becomes of the files that it waits for."""
    return heard.now + gateway_settings().media.wait + FILES_MARGIN


def _want_files(turn: Turn, event: InboundMessage, now: datetime) -> None:
    files = [(attachment, wording.file_label(attachment)) for attachment in event.attachments]
    shelf.want(turn, files, group_id=event.group_id, now=now)


def _open_to(heard: Heard) -> list[Prompt]:
    return questions.open_to(
        heard.conversation.key,
        heard.speaker,
        lane=heard.source.address.lane,
        quoted_message_id=heard.event.reply_to,
    )


def _typing_after(outcome: Outcome, address: Address) -> tuple[Deed, ...]:
    turn = keys.turn_of(outcome.prompt.correlation)
    if outcome.effect is not Effect.RESOLVED or turn is None:
        return ()
    return (StartTyping(address, turn),)


def _reply(heard: Heard, words: str, kind: Kind = Kind.CONTROL) -> None:
    trigger = f"event:{heard.event.event_id}"
    _say(heard.source, trigger, words, kind, heard.now, key=heard.conversation.key)


def _say(
    source: Source, trigger: str, words: str, kind: Kind, now: datetime, *, key: str = ""
) -> None:
    ledger.record(
        Debt(
            conversation_key=key,
            trigger=trigger,
            address=source.address,
            kind=kind,
            content=str(words),
            reply_to=source.anchor,
        ),
        now=now,
    )


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
        access.is_first_denial(event.source, now=now)  # which has its row in the audit log
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
    deeds += _typing_after(outcome, address)
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
