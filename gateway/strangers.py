"""What becomes of somebody who may not speak: a code to pair by, one line an hour, or silence."""

from datetime import datetime

from delivery.models import Kind
from gateway import commands, denials, policy, wording
from gateway.commands import Command
from gateway.heard import say
from gateway.identity import pairing
from gateway.identity import wording as words_of_pairing
from gateway.inbound import Verdict
from gateway.messages import ChatType, InboundMessage
from gateway.models import Decision


def meet(event: InboundMessage, judged: policy.Verdict, now: datetime) -> Verdict:
    """Deny a message, and say what a stranger may know; in a group nothing ([A2])."""
    source = event.source
    is_news = denials.note(source, "message", reason=judged.reason, now=now)
    if source.chat_type is not ChatType.DM:
        return Verdict(Decision.DENIED, judged.reason)
    code = ""
    if pairing.is_offered(source.account):
        code = pairing.offer(source, asks=_asks_to_pair(event), now=now)
    if code or is_news:
        words = words_of_pairing.offered(source, code) if code else wording.denied(source)
        say(source, f"denied:{event.event_id}", words, Kind.NOTICE, now)
    return Verdict(Decision.DENIED, judged.reason)


def _asks_to_pair(event: InboundMessage) -> bool:
    command = commands.parse(event.text)
    return isinstance(command, Command) and command.spec.name == "pair"
