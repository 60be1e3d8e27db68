"""Messages of bots: passed over, unless an entry lets one speak; and never without end ([A3])."""

from datetime import timedelta

from gateway import beginning, commands, denials, policy
from gateway.heard import Heard
from gateway.inbound import Verdict
from gateway.messages import InboundMessage, Source
from gateway.models import Account, Decision, Turn
from gateway.roles import Role

MOST_IN_A_ROW = 3  # turns that bots begin in one chat until a person speaks
FORGOTTEN = timedelta(hours=1)  # after so long they begin to count anew
SAID_IT = "a bot said it"
LOOP = f"bots began the last {MOST_IN_A_ROW} turns here: a person must speak first"


def unwanted(event: InboundMessage, judged: policy.Verdict) -> Verdict | None:
    """Why a bot's message goes no further; None if an entry lets this one speak."""
    if not judged.may(Role.MEMBER) or _is_ourselves(event.source):
        return Verdict(Decision.IGNORED, SAID_IT)
    if isinstance(commands.parse(event.text), commands.Command):
        return Verdict(Decision.IGNORED, "a bot gives no commands")
    return None


def decide(heard: Heard) -> Verdict:
    """What becomes of the message of a bot that may speak: a turn, if it is meant for us.

    It answers no question, for a bot is nobody ([Q15]).
    """
    if not heard.is_addressed:
        return Verdict(Decision.IGNORED, "a bot's message that does not mention us")
    if policy.is_loop(_begun_by_bots(heard), most=MOST_IN_A_ROW):
        denials.note(heard.source, "bot", reason=LOOP, now=heard.now)
        return Verdict(Decision.IGNORED, LOOP)
    return beginning.as_stale(heard) or beginning.as_turn(heard)


def _begun_by_bots(heard: Heard) -> list[bool]:
    """Whether bots began the last turns of the chat, the latest first."""
    address = heard.source.address
    lately = Turn.objects.filter(
        conversation__account=address.account,
        conversation__chat_id=address.chat_id,
        created_at__gt=heard.now - FORGOTTEN,
    )
    return list(lately.order_by("-id").values_list("is_bots", flat=True)[:MOST_IN_A_ROW])


def _is_ourselves(source: Source) -> bool:
    """Whether the account itself said it: nothing may let that in."""
    ours = Account.objects.filter(slug=source.account, bot_id=source.user_id)
    return not source.user_id or ours.exists()
