"""A small world for turns: people who talk, workers who live and die, staff who let in and out."""

import itertools
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from clarify import questions
from clarify.models import Prompt
from clarify.questions import Answerer
from clarify.schema import normalise_clarify
from gateway import access, barring, sessions, turns
from gateway.agents import history
from gateway.errors import TurnLost
from gateway.messages import InboundMessage
from gateway.models import AllowEntry, ChatPolicy, Conversation, Turn
from gateway.roles import Role
from tests.factories import make_allow_entry, settle
from tests.integration.prompt_world import World

_words = itertools.count(1)
CAPACITY = 3
LONG = "x" * 4090  # nearly all that one message holds: more of it may come


@dataclass
class Worker:
    """Somebody who carries out one turn, and may be dead without knowing it."""

    turn: Turn
    given: list[int] = field(default_factory=list)
    steps: int = 0


@dataclass
class TurnWorld(World):
    """The same account and people, with workers that the machine moves step by step."""

    workers: list[Worker] = field(default_factory=list)
    ended: dict[int, int] = field(default_factory=dict)  # how often a worker ended each turn
    said: list[str] = field(default_factory=list)  # a word of its own for each message
    claimed_late: list[int] = field(default_factory=list)

    # --- people

    def say(self, name: str, place: str, prefix: str, is_long: bool) -> None:
        word = f"w{next(_words)}."
        text = f"{prefix}{word} {LONG}" if is_long else f"{prefix}{word}"
        source = self.source(name, place)
        event_id = f"{self.account}:{source.message_id}"
        event = InboundMessage(
            source=source, event_id=event_id, text=text, sent_at=self.clock(), mentions_bot=True
        )
        self.receive(event)
        self.said.append(word)

    def command(self, name: str, place: str, text: str) -> None:
        source = self.source(name, place)
        self.receive(
            InboundMessage(
                source=source,
                event_id=f"{self.account}:{source.message_id}",
                text=text,
                sent_at=self.clock(),
                mentions_bot=True,
            )
        )

    def wants(self, mode: str) -> None:
        ChatPolicy.objects.update_or_create(account=self.account, defaults={"busy": mode})

    def shut_out(self, name: str) -> None:
        AllowEntry.objects.filter(account=self.account, user_id=self.id_of(name)).delete()
        barring.sweep(barring.of_person("telegram", self.id_of(name)), now=self.clock())

    def let_in(self, name: str) -> None:
        mine = AllowEntry.objects.filter(account=self.account, user_id=self.id_of(name))
        if not mine.exists():
            make_allow_entry(user_id=self.id_of(name), account=self.account)

    # --- workers

    def come(self, conversation: Conversation) -> None:
        """A worker looks at a conversation and takes what is next."""
        barring.bar_next(conversation.pk, now=self.clock())
        before = list(
            Turn.objects.filter(conversation=conversation, state="queued").values_list(
                "pk", flat=True
            )
        )
        turn = turns.claim(conversation.pk, "host/1/1", now=self.clock(), capacity=CAPACITY)
        if turn is None:
            return
        if turn.pk in before and min(before) != turn.pk:
            self.claimed_late.append(turn.pk)
        assert access.judge(access.sender_of(turn)).may(Role.MEMBER)
        self.workers.append(Worker(turn))

    def step(self, worker: Worker) -> None:
        """One model call with a tool: what was said meanwhile is in it, and is stored with it."""
        joining = turns.joinable(worker.turn, now=self.clock())
        able = [one for one in joining if barring.may_go_on(one).may(Role.MEMBER)]
        messages = self._messages(worker, able, f"step {worker.steps}")
        worker.steps += 1
        try:
            turns.checkpoint(
                worker.turn,
                messages,
                spoken="",
                joined=[one.pk for one in able],
                now=self.clock(),
            )
        except TurnLost:
            self.workers.remove(worker)

    def _messages(self, worker: Worker, able: list[Turn], answer: str) -> list[dict[str, Any]]:
        _, has_begun = sessions.history(worker.turn)
        words = [] if has_begun else [worker.turn.prompt]
        words += [one.prompt for one in able]
        said = [history.user_message(word) for word in words]
        return [*said, history.assistant_message(answer)]

    def finish(self, worker: Worker) -> None:
        messages = self._messages(worker, [], "Done.")
        self.workers.remove(worker)
        with suppress(TurnLost):
            turns.finish(worker.turn, "Done.", messages, {}, now=self.clock())
            self.ended[worker.turn.pk] = self.ended.get(worker.turn.pk, 0) + 1

    def ask(self, worker: Worker) -> None:
        turn = worker.turn
        call = f"c{next(_words)}"
        ask = questions.Ask(
            kind="clarify",
            correlation=turn.correlation,
            call_id=call,
            conversation_key=turn.conversation.key,
            address=turn.conversation.address,
            asker_id=turn.sender_id,
            questions=normalise_clarify("Which?", ["a", "b"]),
        )
        self.workers.remove(worker)
        with suppress(TurnLost):
            turns.checkpoint(
                turn, self._messages(worker, [], "Which?"), spoken="", now=self.clock()
            )
            turns.begin_tool(turn, call, "clarify", {}, now=self.clock())
            turns.wait(turn, [ask], "", now=self.clock())

    def answer(self, prompt: Prompt) -> None:
        if prompt.obligation is not None:
            settle(prompt.obligation)
        by = Answerer(id=prompt.asker_id, name="", surface="telegram")
        with transaction.atomic():
            questions.answer_text(prompt, "a", by, now=self.clock())

    def die(self, worker: Worker) -> None:
        """It is killed: whatever it had in hand is taken back when that is noticed."""
        self.workers.remove(worker)
        with suppress(TurnLost):
            turns.reclaim(Turn.objects.get(pk=worker.turn.pk), now=self.clock())

    def keep(self) -> None:
        """What upkeep does, for those whose workers live."""
        questions.expire_overdue(now=self.clock())
        turns.wake_overlooked(now=self.clock(), capacity=CAPACITY)
        turns.tell_waiting(now=self.clock(), capacity=CAPACITY)
