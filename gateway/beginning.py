"""What was said begins a turn, or joins one that has not begun."""

from dataclasses import replace
from datetime import datetime, timedelta

from delivery.content import Limit
from delivery.models import Kind
from delivery.splitting import measure
from gateway import busy, fragments, inbound, platforms, sessions, turns, wording
from gateway.busy import Open, Plan
from gateway.conf import gateway_settings
from gateway.deeds import Deed, FetchFiles, ShowHeard, StartTyping
from gateway.heard import Heard
from gateway.inbound import Verdict
from gateway.media import shelf
from gateway.messages import InboundMessage
from gateway.models import Decision, Turn
from gateway.rules import BusyMode
from gateway.states import TurnState

FILES_MARGIN = timedelta(seconds=5)  # for saying that the last of them did not come


def as_album(heard: Heard) -> Verdict | None:
    """A further piece of an album joins the turn that the first one began, mention or none."""
    event = heard.event
    turn = shelf.album(heard.conversation, heard.source.user_id, event.group_id)
    if turn is None:
        return None
    is_said = f"\n{event.text}\n" in f"\n{turn.prompt}\n"
    words = wording.as_prompt(replace(event, text="") if is_said else event)
    if not turns.extend(turn, words, held_until=_held_until(heard), now=heard.now):
        return None
    _want_files(turn, event, heard.now)
    return Verdict(Decision.TURN, "more of an album", turn=turn, deeds=(FetchFiles(turn.pk),))


def as_fragment(heard: Heard) -> Verdict | None:
    """A further piece of one long message joins the turn that the first one began ([T2]).

    The client cut it, so no piece but the first has the mention, and none is an answer or a
    command of its own.
    """
    event = heard.event
    turn = next((turn for turn in heard.ahead if _gathers(turn, heard)), None)
    if turn is None or event.attachments or not event.text:
        return None
    before = inbound.last_piece(turn)
    if before is None or not fragments.belongs(before.sent_at or heard.now, event.sent_at):
        return None
    limit = _limit(heard)
    joint = fragments.joint(_length(heard, before.text), limit)
    until = _gathers_until(heard)
    if not turns.extend(turn, event.text, joint=joint, gathers_until=until, now=heard.now):
        return None
    return Verdict(Decision.TURN, "more of a long message", turn=turn)


def _gathers(turn: Turn, heard: Heard) -> bool:
    is_theirs = turn.state == TurnState.QUEUED and turn.sender_id == heard.source.user_id
    return is_theirs and turn.gathers_until is not None and turn.gathers_until > heard.now


def as_stale(heard: Heard) -> Verdict | None:
    """What is so old that an answer would only surprise ([S6])."""
    if heard.now - heard.event.sent_at <= gateway_settings().max_message_age:
        return None
    heard.reply(str(wording.TOO_OLD), Kind.NOTICE)
    return Verdict(Decision.IGNORED, "it is too old to be answered")


def as_turn(heard: Heard) -> Verdict:
    """Everything else is for the agent, as its chat wants it."""
    text = wording.as_prompt(heard.event)
    if not text.strip():
        return Verdict(Decision.IGNORED, "nothing was said")
    if heard.event.attachments and (still_open := heard.open_prompts()):
        heard.reply(wording.still_open(still_open[0].gist), Kind.NOTICE)
        return begin(heard, text, heard.rules.busy or BusyMode.QUEUE, is_told=True)
    return begin(heard, text, heard.rules.busy or BusyMode.QUEUE)


def begin(
    heard: Heard, text: str, mode: BusyMode, *, is_told: bool = False, at_once: bool = False
) -> Verdict:
    """Let the agent have `text`: now, next, with what is in the queue, or in what runs ([T2]).

    Args:
        heard: Who said it, where.
        text: What the agent reads.
        mode: What is done with it if something is open.
        is_told: They know already that it waits.
        at_once: They are told at once that it waits, and not after a moment only.
    """
    ahead = heard.ahead
    known = [Open(turn.pk, turn.sender_id, turn.state == TurnState.QUEUED) for turn in ahead]
    plan = busy.plan(mode, known, heard.source.user_id)
    if plan is Plan.COLLECT and (joined := _collected(heard, text, ahead[-1])):
        return joined
    if plan is Plan.INTERRUPT:
        _interrupt(heard, ahead[0])
    if plan is Plan.BEGIN:
        renew(heard)
    deeds: tuple[Deed, ...] = ()
    if plan is not Plan.BEGIN and not is_told:
        deeds = _tell(heard, plan, behind=len(ahead), at_once=at_once)
        is_told = at_once or bool(deeds) or plan is not Plan.QUEUE or _sees_the_queue(heard)
    turn = _enqueue(heard, text, may_join=plan is Plan.STEER, is_told=is_told)
    if not ahead or turns.at_work([turn.pk]):  # behind a question nobody is at work
        deeds += (StartTyping(heard.source.address, turn.pk),)
    if heard.event.attachments:
        _want_files(turn, heard.event, heard.now)
        deeds += (FetchFiles(turn.pk),)
    return Verdict(Decision.TURN, REASONS[plan], turn=turn, deeds=deeds)


REASONS = {
    Plan.BEGIN: "",
    Plan.QUEUE: "behind what is open",
    Plan.COLLECT: "behind what is open",
    Plan.STEER: "for the running turn",
    Plan.INTERRUPT: "in place of the running turn",
}


def renew(heard: Heard) -> None:
    """Begin another session first, if the current one is suspended or over by its time ([S4])."""
    reason = sessions.renew_if_over(heard.conversation, heard.rules, now=heard.now)
    if reason is not None:
        words = wording.renewed(reason, heard.rules)
        heard.reply(words, Kind.NOTICE, occasion="renewed")


def _collected(heard: Heard, text: str, last: Turn) -> Verdict | None:
    files = bool(heard.event.attachments)
    added = turns.extend(
        last,
        text,
        joint="\n\n",
        held_until=_held_until(heard) if files else None,
        gathers_until=_gathers_until(heard),
        now=heard.now,
    )
    if not added:
        return None
    deeds = _tell(heard, Plan.COLLECT, behind=1, at_once=True)
    if files:
        _want_files(last, heard.event, heard.now)
        deeds += (FetchFiles(last.pk),)
    return Verdict(Decision.TURN, "collected with what waits", turn=last, deeds=deeds)


def _interrupt(heard: Heard, turn: Turn) -> None:
    turn.conversation = heard.conversation
    turns.interrupt(turn, by=heard.speaker, now=heard.now)


def _enqueue(heard: Heard, text: str, *, may_join: bool, is_told: bool) -> Turn:
    source = heard.source
    return turns.enqueue(
        turns.NewTurn(
            conversation=heard.conversation,
            prompt=text,
            sender_id=source.user_id,
            sender_name=source.user_name,
            sender_alt=source.user_id_alt,
            is_bots=source.is_bot,
            reply_to=source.message_id,
            held_until=_held_until(heard) if heard.event.attachments else None,
            gathers_until=_gathers_until(heard),
            may_join=may_join,
            told_at=heard.now if is_told else None,
        ),
        now=heard.now,
    )


def _tell(heard: Heard, plan: Plan, *, behind: int, at_once: bool) -> tuple[Deed, ...]:
    """What becomes of a message that waits, where people do not see it anyway ([T2]).

    A sign on the message itself says that it waits, where there are such; words would be one more
    message for each. What is done otherwise with it is said. Where there are no signs, whoever is
    next in line is told after a moment (`turns.tell_waiting`): most are answered by then.
    """
    able = platforms.get(heard.source.platform).capabilities
    if able.shows_queue:
        return ()
    if able.reactions and heard.source.message_id and plan in {Plan.QUEUE, Plan.COLLECT}:
        return (ShowHeard(heard.source.address, heard.source.message_id),)
    if at_once or plan is not Plan.QUEUE:
        heard.reply(wording.busy(plan, behind=behind), Kind.NOTICE, occasion="busy")
    return ()


def _sees_the_queue(heard: Heard) -> bool:
    return platforms.get(heard.source.platform).capabilities.shows_queue


def _limit(heard: Heard) -> Limit:
    return platforms.get(heard.source.platform).capabilities.limit


def _length(heard: Heard, text: str) -> int:
    return measure(text, _limit(heard).unit)


def _gathers_until(heard: Heard) -> datetime | None:
    """How long more pieces of the same message are waited for; None if it is whole."""
    text, limit = heard.event.text, _limit(heard)
    is_whole = heard.event.attachments or not fragments.may_go_on(_length(heard, text), limit)
    return None if is_whole else heard.now + fragments.PATIENCE


def _held_until(heard: Heard) -> datetime:
    """When a turn begins at the latest, whatever becomes of the files that it waits for."""
    return heard.now + gateway_settings().media.wait + FILES_MARGIN


def _want_files(turn: Turn, event: InboundMessage, now: datetime) -> None:
    files = [(attachment, wording.file_label(attachment)) for attachment in event.attachments]
    shelf.want(turn, files, group_id=event.group_id, now=now)
