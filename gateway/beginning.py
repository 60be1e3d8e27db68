"""What was said begins a turn, or joins one that has not begun."""

from dataclasses import replace
from datetime import datetime, timedelta

from delivery.models import Kind
from gateway import turns, wording
from gateway.conf import gateway_settings
from gateway.deeds import Deed, FetchFiles, StartTyping
from gateway.heard import Heard
from gateway.inbound import Verdict
from gateway.media import shelf
from gateway.messages import InboundMessage
from gateway.models import Decision, Turn

FILES_MARGIN = timedelta(seconds=5)  # for saying that the last of them did not come


def as_album(heard: Heard) -> Verdict | None:
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


def as_stale(heard: Heard) -> Verdict | None:
    """What is so old that an answer would only surprise ([S6])."""
    if heard.now - heard.event.sent_at <= gateway_settings().max_message_age:
        return None
    heard.reply(str(wording.TOO_OLD), Kind.NOTICE)
    return Verdict(Decision.IGNORED, "it is too old to be answered")


def as_turn(heard: Heard) -> Verdict:
    """Everything else is for the agent."""
    event, source = heard.event, heard.source
    text = wording.as_prompt(event)
    if not text.strip():
        return Verdict(Decision.IGNORED, "nothing was said")
    if event.attachments and (still_open := heard.open_prompts()):
        heard.reply(wording.still_open(still_open[0].gist), Kind.NOTICE)
    turn = turns.enqueue(
        turns.NewTurn(
            conversation=heard.conversation,
            prompt=text,
            sender_id=source.user_id,
            sender_name=source.user_name,
            sender_alt=source.user_id_alt,
            is_bots=source.is_bot,
            reply_to=source.message_id,
            held_until=_held_until(heard) if event.attachments else None,
        ),
        now=heard.now,
    )
    deeds: tuple[Deed, ...] = ()
    if heard.nothing_asked or turns.at_work([turn.pk]):  # behind a question nobody is at work
        deeds = (StartTyping(source.address, turn.pk),)
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
