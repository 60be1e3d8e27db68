"""Files that come in: fetched while the turn waits, kept for a while, and laid before the agent."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import transaction

from delivery.errors import NetworkDown, RateLimited
from delivery.means import Ambience
from gateway import intake, turns, upkeep
from gateway.conf import gateway_settings
from gateway.deeds import FetchFiles
from gateway.fetching.errors import FetchError, NoSuchFile, TooLarge, Unavailable
from gateway.fetching.limits import Limits, Meter
from gateway.media import arrivals, desk, shelf
from gateway.media.arrivals import Arrivals
from gateway.media.store import MediaStore
from gateway.messages import Attachment, ChatType, InboundMessage, Source
from gateway.models import InboundEvent, MediaFile, Turn
from tests.factories import make_account, make_allow_entry, make_conversation, make_file, make_turn

pytestmark = pytest.mark.django_db(transaction=True)

DAY = 86_400  # seconds
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF\0" + b"\0" * 300
PAGE = b"<!DOCTYPE html><html><title>Log in</title></html>"


@dataclass
class Files:
    """An adapter that has files, or errors in their place."""

    files: dict[str, bytes | Exception | list] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def fetch(self, file_id: str, meter: Meter, limits: Limits) -> None:
        self.asked.append(file_id)
        found = self.files[file_id]
        if isinstance(found, list):
            found = found.pop(0)
        if isinstance(found, Exception):
            raise found
        if found == b"":
            return
        meter.take(found)


class World:
    """An account through which files come, and the process that fetches them."""

    def __init__(self, database, clock) -> None:
        self.ambience, self.clock, self.number = Ambience(database, clock, lambda: 0.0), clock, 0
        make_account("telegram")
        make_allow_entry(user_id="7")
        self.files = Files()
        self.arrivals = Arrivals(self.files, self.ambience, turns.let_begin)

    def say(self, *attachments: Attachment, text: str = "", group: str = "", **source):
        self.number += 1
        facts = {"chat_type": ChatType.DM, "chat_id": "7", "user_id": "7"} | source
        event = InboundMessage(
            source=Source(
                platform="telegram", account="telegram", message_id=str(self.number), **facts
            ),
            event_id=str(self.number),
            text=text,
            sent_at=self.clock(),
            group_id=group,
            attachments=attachments,
            mentions_bot="@bot" in text,
        )
        return intake.take("telegram", event, now=self.clock())

    def gather(self, turn: Turn) -> None:
        asyncio.run(self.arrivals.gather(turn.pk))

    def claim(self) -> Turn | None:
        turn = Turn.objects.order_by("id").last()
        return turns.claim(turn.conversation_id, "host/1/1", now=self.clock(), capacity=9)

    def prompt(self) -> str:
        turn = self.claim()
        assert turn is not None, "it does not begin"
        return desk.prompt_of(turn)


@pytest.fixture
def world(place, database, clock, monkeypatch) -> World:
    monkeypatch.setattr(arrivals, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(arrivals, "ALBUM", timedelta(seconds=0.05))
    return World(database, clock)


def limit(settings, **changes) -> None:
    settings.GATEWAY = settings.GATEWAY | {"MEDIA": settings.GATEWAY["MEDIA"] | changes}


def photo(file_id: str = "f1", **facts) -> Attachment:
    return Attachment(kind="photo", file_id=file_id, mime_type="image/jpeg", **facts)


def room_of(turn: Turn, place: Path) -> Path:
    return place / "rooms" / str(turn.session_id)


# --- fetched while the turn waits ----------------------------------------------------------------


@pytest.mark.proves("D17")
def test_the_agent_reads_where_the_file_of_a_message_lies(world, place):
    world.files.files["f1"] = JPEG
    deeds = world.say(photo(name="cat.png"), text="what is this?")
    turn = Turn.objects.get()

    assert FetchFiles(turn.pk) in deeds
    assert world.claim() is None, "it waits for its file"
    world.gather(turn)
    prompt = world.prompt()

    # A jpeg that calls itself png keeps its name; what it is is told.
    assert prompt == "what is this?\n[photo: cat.png — inbox/cat.png, image/jpeg, 311 bytes]"
    assert (room_of(turn, place) / "inbox" / "cat.png").read_bytes() == JPEG
    assert turn.prompt == "what is this?\n[photo: cat.png]"


@pytest.mark.proves("D17")
@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (NoSuchFile("Telegram does not have the file any more."), "any more."),
        (TooLarge("It is larger than 20 MB."), "20 MB."),
        (PAGE, "A web page came instead"),
        (b"", "It is empty."),
        (FetchError("The address leads to this very machine."), "this very machine."),
    ],
)
def test_a_file_that_cannot_be_had_is_told_as_missing_and_why(world, place, trouble, told):
    world.files.files["f1"] = trouble
    world.say(photo(), text="look")
    world.gather(Turn.objects.get())
    prompt = world.prompt()

    assert prompt.startswith("look\n[photo — missing. ")
    assert told in prompt
    assert [each for each in (place / "media").rglob("*") if each.is_file()] == []
    assert world.files.asked == ["f1"], "there is no use in asking again"


def test_a_fault_that_may_pass_is_tried_again(world):
    world.files.files["f1"] = [
        NetworkDown("no route"),
        Unavailable("It broke off."),
        RateLimited(retry_after=0.001),
        JPEG,
    ]
    world.say(photo())
    world.gather(Turn.objects.get())

    assert "inbox/photo.jpg" in world.prompt()
    assert len(world.files.asked) == 4


@pytest.mark.proves("D17")
def test_the_turn_begins_in_time_whatever_becomes_of_its_files(world, settings):
    limit(settings, WAIT=timedelta(seconds=0.05))
    world.files.files["f1"] = NetworkDown("no route")
    world.say(photo(), text="look")
    world.gather(Turn.objects.get())

    assert world.prompt() == "look\n[photo — missing. It did not come in time.]"


@pytest.mark.proves("D17")
def test_the_turn_begins_even_if_the_process_that_fetches_is_dead(world, clock):
    world.say(photo(), text="look")
    turn = Turn.objects.get()
    clock.advance(seconds=30)
    assert turns.wake_overlooked(now=clock(), capacity=9) == 0
    clock.advance(seconds=40)
    assert turns.wake_overlooked(now=clock(), capacity=9) == 1

    assert world.prompt() == "look\n[photo — missing. It did not come in time.]"
    assert turn.state == "queued"


def test_the_next_process_fetches_what_the_last_one_left(world):
    world.files.files["f1"] = JPEG
    world.say(photo())
    asyncio.run(world.arrivals.resume("telegram"))
    asyncio.run(world.arrivals.resume("another"))

    assert "inbox/photo.jpg" in world.prompt()
    assert world.files.asked == ["f1"]


def test_a_platform_without_files_says_so(world):
    world.say(photo())
    asyncio.run(Arrivals(object(), world.ambience, turns.let_begin).gather(Turn.objects.get().pk))

    assert "cannot be fetched yet" in world.prompt()


def test_a_message_without_files_waits_for_nothing(world):
    world.say(text="hello")

    assert world.prompt() == "hello"


# B136: a voice message is not dropped for having no words
def test_a_voice_message_is_told_as_one(world):
    world.files.files["v"] = b"OggS\0\x02" + b"\0" * 22 + b"\x01\x13OpusHead" + b"\0" * 20
    world.say(Attachment(kind="voice", file_id="v", mime_type="audio/ogg"))
    world.gather(Turn.objects.get())

    assert world.prompt() == "[voice — inbox/voice.ogg, audio/ogg, 58 bytes]"


# B142
def test_two_files_of_one_name_are_both_kept_and_no_name_leads_out(world, place):
    name = "../../../root/.ssh/authorized_keys"
    world.files.files |= {"a": b"one", "b": b"two"}
    world.say(
        Attachment(kind="document", file_id="a", name=name),
        Attachment(kind="document", file_id="b", name=name),
    )
    turn = Turn.objects.get()
    world.gather(turn)
    prompt = world.prompt()

    inbox = room_of(turn, place) / "inbox"
    assert {each.name: each.read_bytes() for each in inbox.iterdir()} == {
        "authorized_keys.txt": b"one",
        "authorized_keys-2.txt": b"two",
    }
    assert prompt.index("inbox/authorized_keys.txt") < prompt.index("inbox/authorized_keys-2.txt")


def test_an_inbox_that_the_agent_made_a_link_leads_nowhere(world, place):
    world.files.files["f1"] = JPEG
    world.say(photo())
    turn = Turn.objects.get()
    world.gather(turn)
    outside = place / "outside"
    outside.mkdir()
    room_of(turn, place).mkdir(parents=True)
    (room_of(turn, place) / "inbox").symlink_to(outside)

    assert "inbox/photo.jpg" in world.prompt()
    assert list(outside.iterdir()) == []


def test_a_file_on_another_host_is_told_as_missing(world, place):
    world.files.files["f1"] = JPEG
    world.say(photo())
    world.gather(Turn.objects.get())
    MediaStore(place / "media").remove(MediaFile.objects.get().pk)

    assert "another host" in world.prompt()


def test_words_that_were_changed_keep_their_files(world):
    world.files.files["f1"] = JPEG
    world.say(photo(), text="look")
    turn = Turn.objects.get()
    turns.reword(turn.pk, "look here", now=world.clock())
    world.gather(turn)

    assert world.prompt().startswith("look here\n[photo — inbox/photo.jpg")


# --- albums --------------------------------------------------------------------------------------


# B138
@pytest.mark.proves("D17")
def test_an_album_is_one_message_with_each_caption_at_its_picture(world, clock):
    world.files.files |= {"a": JPEG, "b": JPEG, "c": JPEG}
    for file_id, caption in (("a", "before"), ("b", "after"), ("c", "before")):
        world.say(photo(file_id), text=caption, group="g1")
    turn = Turn.objects.get()
    world.gather(turn)
    clock.advance(seconds=1)
    world.gather(turn)
    lines = [line.partition(" (")[0] for line in world.prompt().splitlines()]

    assert [line.partition(",")[0] for line in lines] == [
        "before",
        "[photo — inbox/photo.jpg",
        "after",
        "[photo — inbox/photo-2.jpg",
        "[photo — inbox/photo-3.jpg",
    ]
    assert set(InboundEvent.objects.values_list("turn", flat=True)) == {turn.pk}


def test_the_pieces_of_an_album_need_no_mention_of_their_own(world):
    group = {"chat_type": ChatType.GROUP, "chat_id": "-5"}
    world.say(photo("a"), text="@bot look", group="g1", **group)
    world.say(photo("b"), group="g1", **group)
    world.say(photo("c"), group="g2", **group)

    assert Turn.objects.get().prompt.count("[photo") == 2
    assert MediaFile.objects.count() == 2


def test_an_album_of_somebody_else_is_another_message(world):
    make_allow_entry(user_id="8")
    world.say(photo("a"), group="g1")
    world.say(photo("b"), group="g1", user_id="8")

    assert Turn.objects.count() == 2


def test_the_turn_waits_until_no_further_piece_comes(world, clock):
    world.files.files |= {"a": JPEG, "b": JPEG}
    world.say(photo("a"), group="g1")
    turn = Turn.objects.get()
    world.gather(turn)  # the clock stands still: for all it knows, more may come
    assert world.claim() is None

    world.say(photo("b"), group="g1")
    clock.advance(seconds=2)
    world.gather(turn)
    assert world.prompt().count("inbox/") == 2


# --- limits, quotas and expiry -------------------------------------------------------------------


@pytest.mark.proves("D17")
@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"MAX_FILE": 310}, "at most 310 bytes"),
        ({"ACCOUNT_QUOTA": 400}, "no room left"),
        ({"TOTAL_QUOTA": 400}, "no room left"),
    ],
)
@pytest.mark.parametrize("size", [0, 311])
def test_what_is_too_much_is_not_kept(world, settings, limits, told, size):
    world.files.files |= {"a": b"x" * 100, "b": JPEG}
    world.say(photo("a"))
    world.gather(Turn.objects.get())
    limit(settings, **limits)
    world.say(photo("b", size=size))
    second = Turn.objects.order_by("id").last()
    world.gather(second)

    file = MediaFile.objects.get(turn=second)
    assert (file.state, told in file.reason) == ("missing", True)
    assert MediaFile.objects.filter(state="kept").count() == 1


@pytest.mark.proves("D17")
def test_files_are_let_go_when_their_time_is_over(world, place, clock):
    world.files.files |= {"a": JPEG, "b": JPEG}
    world.say(photo("a"))
    world.gather(Turn.objects.get())
    clock.advance(6 * DAY)
    world.say(photo("b"))
    world.gather(Turn.objects.order_by("id").last())
    clock.advance(2 * DAY)
    upkeep.housekeeping(now=clock())
    assert {file.state for file in MediaFile.objects.all()} == {"kept"}  # its turn is open
    Turn.objects.update(state="finished")
    upkeep.housekeeping(now=clock())

    first, second = MediaFile.objects.order_by("id")
    assert (first.state, second.state) == ("gone", "kept")
    assert [each.name for each in (place / "media").rglob("*") if each.is_file()] == [
        str(second.pk)
    ]
    clock.advance(60 * DAY)
    upkeep.housekeeping(now=clock())
    upkeep.housekeeping(now=clock())
    assert MediaFile.objects.count() == 0


def test_a_file_that_expires_while_it_is_fetched_leaves_nothing(world, place, clock):
    file = make_file(make_turn(make_conversation(), state="queued"), expires_at=clock())
    shelf.expire(MediaStore(place / "media"), now=clock())
    world.files.files[file.remote_id] = JPEG

    class Late(Files):
        async def fetch(self, file_id, meter, limits):
            meter.take(JPEG)

    late = Arrivals(Late(), world.ambience, turns.let_begin)
    asyncio.run(late._settle(file))

    assert MediaFile.objects.get().state == "gone"
    assert [each for each in (place / "media").rglob("*") if each.is_file()] == []


def test_a_file_is_wanted_only_if_its_message_is_stored(world):
    def say_and_fail() -> None:
        with transaction.atomic():
            world.say(photo())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        say_and_fail()

    assert MediaFile.objects.count() == 0


def test_the_settings_of_files_are_read(settings):
    limit(settings, MAX_FILE=7)

    assert gateway_settings().media.max_file == 7
