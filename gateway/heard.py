"""Something said in a conversation, and how it is replied to at once."""

from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from clarify import questions
from clarify.models import Prompt
from clarify.questions import Answerer
from delivery import ledger, registry
from delivery.ledger import Debt
from delivery.models import Kind
from gateway import policy, turns
from gateway.messages import InboundMessage, Source
from gateway.models import Conversation, Turn
from gateway.rules import Rules

NOBODY = policy.Verdict(allowed=False, reason="nobody has judged it")


@dataclass(frozen=True)
class Heard:
    """Something said in a conversation by somebody who may speak there.

    Attributes:
        nothing_asked: No question is open in the conversation or was closed minutes ago, which
            spares most messages two dear looks.
        speaker: Who said it, as somebody who answers.
        rules: What is set for the place.
        judged: What they may do; nothing, unless it is said.
    """

    event: InboundMessage
    conversation: Conversation
    now: datetime
    nothing_asked: bool
    speaker: Answerer
    rules: Rules
    judged: policy.Verdict = NOBODY

    @property
    def source(self) -> Source:
        """Where it was said, and by whom."""
        return self.event.source

    @property
    def is_addressed(self) -> bool:
        """Whether it is meant for us."""
        is_to_us = self.event.mentions_bot or self.source.address.is_private
        return is_to_us or self._is_talk_of_ours

    @property
    def _is_talk_of_ours(self) -> bool:
        """Whether it stands in a thread that hangs on a message, and in which we were asked."""
        if not self.source.thread_id or not registry.outlet(self.source.platform).threads_hang:
            return False
        return Turn.objects.filter(conversation=self.conversation).exists()

    @cached_property
    def ahead(self) -> list[Turn]:
        """The open turns of the conversation when it was said, the active one in front."""
        return turns.open_of(self.conversation.pk)

    def open_prompts(self) -> list[Prompt]:
        """The questions that wait for this person here, the one that is meant in front."""
        return questions.open_to(
            self.conversation.key,
            self.speaker,
            lane=self.source.address.lane,
            quoted_message_id=self.event.reply_to,
        )

    def prompts_nearby(self) -> list[Prompt]:
        """The questions that wait for this person elsewhere in the chat ([Q27]).

        Where threads hang on messages, a word below a question answers it, and so does one at the
        top of a private chat in a thread of which it was asked.
        """
        address, quoted = self.source.address, self.event.reply_to
        if not registry.outlet(self.source.platform).threads_hang:
            return []
        top = replace(address, thread_id="").lane
        if address.thread_id:
            meant = questions.quoted(top, quoted) if quoted else None
            is_theirs = meant is not None and questions.may_answer(meant, self.speaker)
            return [meant] if meant is not None and meant.is_open and is_theirs else []
        return questions.open_below(top, self.speaker) if address.is_private else []

    def reply(self, words: str, kind: Kind = Kind.CONTROL, *, occasion: str = "") -> None:
        """Owe the person `words`, once for this message and `occasion`."""
        trigger = f"event:{self.event.event_id}{occasion and ':'}{occasion}"
        say(self.source, trigger, words, kind, self.now, key=self.conversation.key)


def say(
    source: Source, trigger: str, words: str, kind: Kind, now: datetime, *, key: str = ""
) -> None:
    """Owe `words` to whoever is at `source`, once for each `trigger`."""
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
