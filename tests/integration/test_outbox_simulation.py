"""An hour of an account's life in a second or few: the real outbox, time that jumps, a platform
that counts and fails, and a ledger in memory.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta

import pytest

from delivery import ledger as real_ledger
from delivery.addresses import Address
from delivery.errors import NetworkDown, OutcomeUnknown
from delivery.means import Ambience
from delivery.models import Kind, Obligation, Part
from delivery.outbox import MOST_LANES, Outbox
from delivery.ports import Certainty, Outlet, Rate, Rates, Receipt
from delivery.scheduling import Schedule
from delivery.traffic import Traffic
from tests.factories import make_conversation
from tests.fakes import virtual
from tests.fakes.ledger import MemoryLedger
from tests.fakes.platform import PlainDialect, RoughPlatform
from tests.integration.desk import ACCOUNT, parts_of

RATES = Rates(account=Rate(30, 1.0), private=Rate(20, 20.0), group=Rate(20, 60.0))
HOUR = 3600.0


class NoPreviews:
    async def take_over(self, key: str, chat_id: str = "") -> list[str]:
        return []


class World:
    """One account with its outbox, whatever process it runs in."""

    def __init__(self, *, seed: int = 1, trouble: float = 0.0, rates: Rates = RATES) -> None:
        self.ledger = MemoryLedger()
        self.platform = RoughPlatform(rates, seed, trouble)
        self.chance = self.platform.chance
        self.outlet = Outlet(
            dialect=PlainDialect(),
            certainty=Certainty.UNCERTAIN,
            supports_editing=True,
            supports_buttons=True,
            typing_period=timedelta(seconds=4),
            minimum_edit_interval=timedelta(seconds=1),
            group_edit_interval=timedelta(seconds=3),
            rates=rates,
        )
        self.dropped = self.shown = 0
        self.background: list[asyncio.Task[None]] = []

    @property
    def now(self) -> float:
        return asyncio.get_running_loop().time()

    async def begin(self) -> None:
        """A process takes the account over."""
        ambience = Ambience(self.ledger, virtual.clock, self.chance.random)
        self.traffic = Traffic(Schedule(self.outlet.rates), virtual.clock)
        self.outbox = Outbox(
            *("sim", self.ledger.take_over(), self.platform, self.outlet, NoPreviews(), ambience),
            self.traffic,
        )
        self.stopping = asyncio.Event()
        self.outbox.open()
        self.running = asyncio.create_task(self.outbox.run(self.stopping))

    async def crash(self) -> None:
        """The process is gone in the middle of everything, and another one comes."""
        lanes = list(self.outbox._lanes.values())
        for task in (*lanes, self.running):
            task.cancel()
        await asyncio.gather(*lanes, self.running, return_exceptions=True)
        await asyncio.sleep(RATES.group.seconds)  # which knows nothing of what was sent before
        await self.begin()

    async def end(self, within: float = 900.0) -> None:
        """Let everything come to its end."""
        deadline = self.now + within
        while self.ledger.open and self.now < deadline:  # noqa: ASYNC110 - virtual seconds
            await asyncio.sleep(1.0)
        for task in self.background:
            task.cancel()
        self.stopping.set()
        await self.running

    def owe(self, chat: str, *texts: str, **facts) -> Obligation:
        owed = self.ledger.owe(chat_of(chat), list(texts), now=virtual.clock(), **facts)
        self.outbox.wake()
        return owed

    # --- what is true of any life ---------------------------------------------------------------

    def check(self) -> None:
        """What must be true, whatever happened."""
        assert self.platform.complaints == []
        assert self.platform.most_at_once <= MOST_LANES + 1  # and a preview
        assert self.ledger.open == []
        copies = self.copies()
        for owed in self.ledger.rows.values():
            if owed.state == "abandoned":
                assert owed.chat_id in self.ledger.dead, owed.reason
                continue
            for part in self.ledger.parts[owed.pk]:
                told = copies[part.idempotency_key]
                assert told, f"{owed} was lost"
                assert owed.edits_id or sum(not one.is_marked for one in told) <= 1
        self.check_order()

    def copies(self) -> dict[str, list]:
        copies = defaultdict(list)
        for one in self.platform.accepted:
            copies[one.key].append(one)
        return copies

    def check_order(self) -> None:
        """In each chat the last copy of everything stands in the order of recording."""
        expected: dict[str, list[str]] = defaultdict(list)
        for owed in self.ledger.rows.values():
            if owed.state == "delivered" and not owed.edits_id:
                keys = [part.idempotency_key for part in self.ledger.parts[owed.pk]]
                expected[owed.chat_id] += keys
        told: dict[str, dict[str, float]] = defaultdict(dict)
        for one in self.platform.accepted:
            told[one.chat][one.key] = one.at
        for chat, keys in expected.items():
            assert sorted(keys, key=lambda key, chat=chat: told[chat][key]) == keys


def chat_of(name: str) -> Address:
    """A private chat; with a minus before its name a group."""
    kind = "group" if name.startswith("-") else "dm"
    return Address(platform="sim", account="sim", chat_id=name, chat_type=kind)


def waited(world: World, owed: Obligation) -> float:
    """Seconds from being recorded to being delivered."""
    return (owed.settled_at - owed.created_at).total_seconds()


def play(world: World, scene: Callable[[World], object]) -> None:
    async def run() -> None:
        await world.begin()
        await scene(world)
        await world.end()

    virtual.run(run())


# --- an hour


async def chatter(world: World) -> None:
    """Hundreds of chats, of every kind of message, for an hour."""
    chance = world.chance
    chats = [str(number) for number in range(250)] + [f"-{number}" for number in range(50)]
    asked: list[Obligation] = []
    kinds = [Kind.FINAL] * 6 + [Kind.PROMPT, Kind.NOTICE, Kind.NOTICE, Kind.CHANGE]
    while world.now < HOUR:
        await asyncio.sleep(chance.expovariate(1.0))
        kind = chance.choice(kinds)
        if kind is Kind.CHANGE:
            done = [one for one in asked[-20:] if one.state == "delivered"]
            if done:
                one = chance.choice(done)
                world.owe(one.chat_id, "changed", kind=kind, edits=one)
            continue
        parts = chance.choice([1, 1, 1, 1, 1, 1, 2, 5])
        owed = world.owe(chance.choice(chats), *[f"part {n}" for n in range(parts)], kind=kind)
        if kind is Kind.PROMPT and parts == 1:
            asked.append(owed)


async def previews(world: World) -> None:
    """Somebody who would show progress in a chat five times a second, if only they were let."""
    while True:
        await asyncio.sleep(0.2)
        address = chat_of(f"-{world.chance.randrange(5)}")
        if not world.traffic.has_room(address, "edit"):
            world.dropped += 1
            continue
        world.shown += 1
        world.traffic.ended(address, "edit")


async def trials(world: World) -> None:
    """Everything that happens to an account, one after the other."""
    platform = world.platform
    await asyncio.sleep(300)
    platform.floods.update({str(number): 10 for number in range(0, 250, 10)})
    await asyncio.sleep(300)
    platform.global_flood = 3
    await asyncio.sleep(300)
    for number in range(200):
        world.owe(str(number), "the daily news", kind=Kind.CRON)
    await asyncio.sleep(300)
    world.outbox.close()
    platform.is_away = True
    await asyncio.sleep(90)
    platform.is_away = False
    world.outbox.open()
    await asyncio.sleep(300)
    platform.dead.update({"7", "-7"})
    await asyncio.sleep(300)
    platform.refuses_us = True
    await asyncio.sleep(60)
    platform.refuses_us = False
    world.outbox.open()
    await asyncio.sleep(300)
    await world.crash()


@pytest.mark.proves("D8", "D9", "D10")
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(n, marks=pytest.mark.full) for n in range(2, 12))]
)
def test_an_hour_of_everything_loses_nothing_and_breaks_no_limit(seed) -> None:
    world = World(seed=seed, trouble=0.04)

    async def scene(world: World) -> None:
        world.background.append(asyncio.create_task(previews(world)))
        await asyncio.gather(chatter(world), trials(world))

    play(world, scene)
    world.check()
    assert len(world.ledger.rows) > 3000
    assert world.platform.limited > 200
    assert world.shown
    assert world.dropped


# --- one thing at a time


@pytest.mark.proves("D9")
def test_questions_go_before_what_is_waiting_and_nothing_starves() -> None:
    world, asked = World(), []

    async def scene(world: World) -> None:
        for number in range(600):
            world.owe(f"f{number}", "an answer")
        await asyncio.sleep(2)
        asked.extend(world.owe(f"q{number}", "a question", kind=Kind.PROMPT) for number in range(9))
        world.owe("n", "a notice", kind=Kind.NOTICE)

    play(world, scene)
    world.check()
    assert max(waited(world, owed) for owed in asked) < 3
    assert 20 <= max(waited(world, owed) for owed in world.ledger.rows.values()) < 40


@pytest.mark.proves("D9")
def test_what_goes_last_goes_all_the_same_while_more_is_owed_than_may_be_sent() -> None:
    world, asked = World(rates=Rates(account=Rate(5, 1.0))), []

    async def scene(world: World) -> None:
        for second in range(80):
            for number in range(6):  # and the platform takes five
                world.owe(f"f{second}-{number}", "an answer")
            if second == 1:
                world.owe("n", "a notice", kind=Kind.NOTICE)
            if second % 20 == 10:
                asked.append(world.owe(f"q{second}", "a question", kind=Kind.PROMPT))
            await asyncio.sleep(1)

    play(world, scene)
    world.check()
    (notice,) = [owed for owed in world.ledger.rows.values() if owed.kind == Kind.NOTICE]
    assert 30 < waited(world, notice) < 40
    assert max(waited(world, owed) for owed in asked) < 3


@pytest.mark.proves("D8")
def test_a_chat_with_a_long_queue_holds_up_no_other() -> None:
    world, others = World(), []

    async def scene(world: World) -> None:
        for number in range(150):
            world.owe("-busy", f"number {number}")
        await asyncio.sleep(5)
        others.extend(world.owe(str(number), "hello") for number in range(40))

    play(world, scene)
    world.check()
    assert max(waited(world, owed) for owed in others) < 3


# B067: what waits is not overtaken by what comes after it in its chat. B077: and nobody else waits.
@pytest.mark.proves("D8", "D10")
def test_ten_refusals_in_a_row_delay_one_chat_alone_and_keep_its_order() -> None:
    world, others = World(), []

    async def scene(world: World) -> None:
        world.platform.floods["x"] = 10
        for number in range(3):
            world.owe("x", f"m{number}")
        others.extend(world.owe(str(number), "n1") for number in range(20))

    play(world, scene)
    world.check()
    assert world.platform.limited == 10
    assert max(waited(world, owed) for owed in others) < 2


# B075: a group gets twenty messages in any minute, what is owed before progress, and a private
# chat does not wait for it.
@pytest.mark.proves("D10")
def test_sixty_messages_to_a_group_pass_at_its_pace_and_a_private_chat_does_not_wait() -> None:
    world, private = World(), []

    async def scene(world: World) -> None:
        for number in range(60):
            world.owe("-1001", f"progress {number}")
        private.extend(world.owe("42", f"to you {number}") for number in range(3))

    play(world, scene)
    world.check()
    assert max(waited(world, owed) for owed in private) < 4
    assert 120 <= max(waited(world, owed) for owed in world.ledger.rows.values()) < 140


def test_a_long_answer_that_must_wait_for_a_limit_is_not_sent_twice_by_a_crash() -> None:
    world = World()

    async def scene(world: World) -> None:
        owed = world.owe("-1", *[f"part {number}" for number in range(25)])
        await asyncio.sleep(30)
        assert owed.state == "pending"
        await world.crash()

    play(world, scene)
    world.check()
    assert not any(one.is_marked for one in world.platform.accepted)


# B090: nothing gets through for a minute, and then it does.
@pytest.mark.proves("D11")
def test_after_a_minute_of_refusals_everything_is_out_within_half_a_minute() -> None:
    world = World()

    async def scene(world: World) -> None:
        world.platform.is_away = True
        for number in range(100):
            world.owe(str(number), "answer")
        await asyncio.sleep(60)
        world.platform.is_away = False

    play(world, scene)
    world.check()
    assert max(waited(world, owed) for owed in world.ledger.rows.values()) < 90


# --- the ledger in memory is held to the real one


class Twins:
    """The same debts in the real ledger and in the one in memory."""

    def __init__(self, desk) -> None:
        chat, other = make_conversation(chat_id="1"), make_conversation(chat_id="2")
        self.desk, self.memory, self.now = desk, MemoryLedger(), desk.clock()
        self.rows = [desk.owe("a", conversation=chat), desk.owe("b", conversation=chat)]
        self.rows.append(desk.owe("c", conversation=other, kind=Kind.PROMPT))
        self.twins = [
            self.memory.owe(row.destination, [row.content], now=self.now, kind=Kind(row.kind))
            for row in self.rows
        ]
        self.take_over()

    def take_over(self) -> None:
        self.desk.restart()
        self.fences = {real_ledger: self.desk.fence, self.memory: self.memory.take_over()}

    def each(self, act: Callable[..., None]) -> None:
        """Claim what is due from both, do the same with it, and compare them."""
        for books, fence in self.fences.items():
            later = self.now + timedelta(hours=1)
            for work in books.claim_due(fence, ACCOUNT, now=later):
                act(books, work, work.parts[0])
        for row in self.rows:
            row.refresh_from_db()
        real = [facts(row, parts_of(row)) for row in self.rows]
        assert real == [facts(twin, self.memory.parts[twin.pk]) for twin in self.twins]


def facts(owed: Obligation, parts: list[Part]) -> tuple:
    of_parts = [(part.state, part.was_lost, part.attempts) for part in parts]
    return owed.state, owed.attempts, owed.recoveries, of_parts


@pytest.mark.django_db
def test_the_ledger_in_memory_keeps_the_rules_of_the_real_one(desk) -> None:
    twins = Twins(desk)
    now = twins.now
    told = {"operation": "send", "now": now}
    twins.each(lambda books, work, part: None)
    twins.take_over()
    for error in (NetworkDown(), OutcomeUnknown()):
        twins.each(
            lambda books, work, part, error=error: books.postpone(
                work, part, error, until=now, **told
            )
        )
    twins.each(
        lambda books, work, part: books.accept(work, part, Receipt("1"), marked=False, **told)
    )
    twins.each(
        lambda books, work, part: books.abandon(work, part, OutcomeUnknown(), reason="", **told)
    )
    assert [row.state for row in twins.rows] == ["delivered", "abandoned", "delivered"]
