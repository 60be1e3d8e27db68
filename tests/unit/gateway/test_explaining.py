"""The life of a message, told from plain values; and which layer is named as holding it."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from clarify.standing import Standing, is_shown, why_open
from gateway import explaining
from gateway.holding import Layer, held_by
from gateway.states import FailureKind
from gateway.story import (
    Alive,
    Asked,
    Called,
    Connection,
    Owed,
    Parted,
    Replied,
    Said,
    Story,
    Tried,
    Turned,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return NOW - timedelta(minutes=minutes)


def said(**changes) -> Said:
    facts = {
        "row": 5,
        "event_id": "u1",
        "kind": "message",
        "decision": "turn",
        "decided": "began or joined a turn",
        "received_at": at(10),
        "message_id": "41",
        "sender": "Ada",
        "sender_id": "7",
        "place": "telegram dm 7",
        "lane": "lane",
        "text": "Deploy it",
        "turn": 12,
    }
    return Said(**(facts | changes))


def turned(**changes) -> Turned:
    facts = {
        "id": 12,
        "state": "finished",
        "conversation": "agent:x",
        "session": 1,
        "created_at": at(10),
        "updated_at": at(1),
        "started_at": at(9),
        "finished_at": at(1),
    }
    return Turned(**(facts | changes))


def standing(**changes) -> Standing:
    facts = {"expires_at": at(-10), "asker": "Ada", "questions": 1, "shown": "delivered"}
    return Standing(**(facts | changes))


def asked(**changes) -> Asked:
    facts = {
        "id": 3,
        "kind": "clarify",
        "state": "pending",
        "text": "Where?",
        "asker": "Ada",
        "asker_id": "7",
        "lane": "lane",
        "created_at": at(8),
        "expires_at": at(-10),
        "standing": standing(),
        "shown": "aaaaaa",
        "shown_at": at(7.5),
    }
    return Asked(**(facts | changes))


def owed(**changes) -> Owed:
    facts = {
        "delivery_id": "bbbbbb",
        "kind": "final",
        "state": "pending",
        "created_at": at(1),
        "next_attempt_at": at(1),
        "parts": (Parted(position=0, state="pending"),),
    }
    return Owed(**(facts | changes))


def story(**changes) -> Story:
    facts = {
        "subject": "41: message 41",
        "now": NOW,
        "said": (said(),),
        "turn": turned(),
        "connection": Connection(account="bot", platform="telegram", state="ready"),
    }
    return Story(**(facts | changes))


WAITING = {"state": "waiting", "finished_at": None}
RUNNING = {"state": "running", "finished_at": None, "lease_expires_at": at(-1)}
QUEUED = {"state": "queued", "started_at": None, "finished_at": None, "updated_at": NOW}
ARRIVED = owed(
    state="delivered",
    settled_at=at(0.5),
    parts=(Parted(position=0, state="delivered", message_id="99"),),
)
BLIND = Standing(expires_at=at(-10), asker="Ada", questions=1, shown="failed", shown_error="away")


@pytest.mark.proves("Q21")
@pytest.mark.parametrize(
    ("facts", "layer", "words"),
    [
        # access
        (
            {"about": said(decision="denied", reason="not on the allowlist"), "turn": None},
            Layer.ACCESS,
            "not on the allowlist",
        ),
        (
            {"about": said(decision="ignored", reason="a bot said it"), "turn": None},
            Layer.ACCESS,
            "a bot said it",
        ),
        (
            {"about": said(decision="poison", reason="KeyError"), "turn": None},
            Layer.ACCESS,
            "could not be handled",
        ),
        # question
        ({"turn": turned(**WAITING), "asked": (asked(),)}, Layer.QUESTION, "Nobody has replied"),
        (
            {
                "turn": turned(**WAITING),
                "asked": (
                    asked(standing=standing(reply_outcome="hinted", reply_detail="No option 7")),
                ),
            },
            Layer.QUESTION,
            "not taken as an answer: No option 7",
        ),
        (
            {
                "turn": turned(**WAITING),
                "asked": (asked(standing=standing(reply_outcome="refused")),),
            },
            Layer.QUESTION,
            "only Ada may answer",
        ),
        (
            {"turn": turned(**WAITING), "asked": (asked(standing=standing(expires_at=at(5))),)},
            Layer.QUESTION,
            "deadline has passed",
        ),
        (
            {"about": said(decision="closed", reason="the question is expired")},
            Layer.QUESTION,
            "too late: the question is expired",
        ),
        # turn
        ({"turn": turned(**QUEUED)}, Layer.TURN, "about to be taken up"),
        ({"turn": turned(**QUEUED), "alive": Alive(worker=False)}, Layer.TURN, "No worker"),
        ({"turn": turned(**QUEUED, behind="turn:11")}, Layer.TURN, "waits behind turn:11"),
        ({"turn": turned(**QUEUED, held_until=at(-1))}, Layer.PLATFORM, "waits for the files"),
        ({"turn": turned(**QUEUED, held_until=at(0))}, Layer.TURN, "about to be taken up"),
        ({"turn": turned(**(QUEUED | {"updated_at": at(5)}))}, Layer.TURN, "all seem to be busy"),
        ({"turn": turned(**(RUNNING | {"lease_expires_at": at(1)}))}, Layer.TURN, "is gone"),
        (
            {
                "turn": turned(**RUNNING),
                "called": (Called(name="note", state="started", started_at=at(2)),),
            },
            Layer.TURN,
            "The tool note runs since 11:58:00",
        ),
        ({"turn": turned(**WAITING)}, Layer.TURN, "no open question"),
        # model call
        ({"turn": turned(**RUNNING)}, Layer.MODEL, "asked 60 s ago"),
        (
            {
                "turn": turned(
                    state="failed",
                    failure=FailureKind.MODEL_UNREACHABLE,
                    error="The model is away.",
                ),
                "owed": (ARRIVED,),
            },
            Layer.MODEL,
            "The model is away.",
        ),
        # delivery
        ({"owed": (owed(),)}, Layer.DELIVERY, "about to be sent"),
        ({"owed": (owed(state="attempting", owner="host/1"),)}, Layer.DELIVERY, "sent by host/1"),
        ({"owed": (owed(behind="cccccc"),)}, Layer.DELIVERY, "waits behind cccccc"),
        (
            {"owed": (owed(state="abandoned", reason="gone", settled_at=at(0)),)},
            Layer.DELIVERY,
            "given up: gone",
        ),
        (
            {"owed": (owed(state="failed", last_error="no answer", error_kind="OutcomeUnknown"),)},
            Layer.DELIVERY,
            "no answer",
        ),
        (
            {
                "owed": (owed(),),
                "connection": Connection(
                    account="bot", platform="telegram", state="ready", is_served=False
                ),
            },
            Layer.DELIVERY,
            "no gateway process serves bot",
        ),
        # platform
        (
            {"owed": (owed(state="failed", last_error="no route", error_kind="NetworkDown"),)},
            Layer.PLATFORM,
            "no route",
        ),
        (
            {
                "owed": (owed(),),
                "connection": Connection(
                    account="bot", platform="telegram", state="auth_failed", error="token refused"
                ),
            },
            Layer.PLATFORM,
            "token refused",
        ),
        (
            {
                "owed": (owed(),),
                "connection": Connection(
                    account="bot", platform="telegram", state="disabled", is_enabled=False
                ),
            },
            Layer.PLATFORM,
            "is disabled",
        ),
        (
            {
                "owed": (owed(),),
                "connection": Connection(
                    account="bot", platform="telegram", state="ready", closed_chat="blocked"
                ),
            },
            Layer.PLATFORM,
            "closed to us (blocked)",
        ),
        (
            {
                "turn": turned(**WAITING),
                "asked": (asked(standing=BLIND),),
                "owed": (
                    owed(
                        delivery_id="aaaaaa",
                        kind="prompt",
                        state="failed",
                        last_error="away",
                        error_kind="NetworkDown",
                    ),
                ),
            },
            Layer.PLATFORM,
            "did not arrive",
        ),
        # nobody
        ({"owed": (ARRIVED,)}, Layer.NOBODY, "delivered as message 99"),
        ({"turn": turned(state="stopped")}, Layer.NOBODY, "was stopped"),
        ({"turn": None}, Layer.NOBODY, "nothing is owed"),
    ],
)
def test_the_layer_that_holds_a_message_is_named(facts, layer, words):
    held = held_by(story(**facts))

    assert (held.layer, words in held.says) == (layer, True), held
    assert held.todo


def test_a_closed_question_whose_message_was_given_up_does_not_hold_a_finished_turn():
    withdrawn = owed(kind="prompt", state="abandoned", reason="resolved before it was shown")

    assert held_by(story(owed=(withdrawn, ARRIVED))).layer is Layer.NOBODY


def test_an_open_turn_is_named_before_what_is_still_owed_for_it():
    waiting = story(turn=turned(**WAITING), asked=(asked(),), owed=(owed(kind="retire"),))

    assert held_by(waiting).layer is Layer.QUESTION


def test_the_entries_are_in_order_of_time():
    told = explaining.explain(
        story(
            asked=(asked(state="answered", resolved_at=at(2), answers="Staging"),),
            owed=(ARRIVED,),
            called=(Called(name="clarify", state="done", started_at=at(8), finished_at=at(2)),),
        )
    )

    times = [entry.at for entry in told.entries]
    assert times == sorted(times)
    assert {entry.layer for entry in told.entries} >= {
        Layer.ACCESS,
        Layer.TURN,
        Layer.QUESTION,
        Layer.DELIVERY,
    }


def all_words(told) -> str:
    return "\n".join(entry.says for entry in told.entries)


def test_a_reply_that_was_not_taken_is_told_with_its_reason():
    reply = Replied(
        at=at(5), by="7", surface="telegram", outcome="hinted", text="7", detail="No option 7."
    )

    told = all_words(explaining.explain(story(asked=(asked(replies=(reply,)),))))

    assert "“7” from [7] on telegram was not taken as an answer (hinted): No option 7." in told


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"sender_id": "8"}, "only Ada was asked"),
        ({"lane": "other"}, "it was said in another thread"),
        ({"received_at": at(7.9)}, "the question had not reached the chat yet"),
        ({"decision": "command"}, "it was a command"),
        ({"decision": "denied"}, "its sender may not speak"),
        ({}, "it was meant for something else"),
    ],
)
def test_a_message_beside_a_question_is_told_with_why_it_was_no_answer(changes, why):
    beside = replace(said(received_at=at(5), prompt=None), **changes)

    told = all_words(explaining.explain(story(asked=(asked(ignored=(beside,)),))))

    assert f"was not taken as an answer to question 3: {why}" in told


def test_every_try_is_told_with_what_the_platform_said():
    tries = (
        Tried(at=at(0.9), number=1, operation="send", outcome="unknown", detail="no answer"),
        Tried(at=at(0.6), number=2, operation="send", outcome="accepted", marked=True),
    )
    part = Parted(position=0, state="delivered", message_id="99", tries=tries)

    told = all_words(explaining.explain(story(owed=(replace(ARRIVED, parts=(part,)),))))

    assert "try 1 to send part 1 of bbbbbb: unknown: no answer" in told
    assert "accepted as message 99, marked as a possible duplicate" in told


def test_the_explanation_is_plain_json():
    told = explaining.explain(story(owed=(owed(),)))

    copy = json.loads(json.dumps(told.as_dict()))
    assert copy["held_by"] == {
        "layer": "delivery",
        "says": "The final message bbbbbb is about to be sent.",
        "todo": "Wait a moment.",
    }
    assert copy["entries"][0]["id"] == "event:5"


def test_the_text_ends_with_who_holds_it_and_what_to_do():
    lines = explaining.explain(story(owed=(ARRIVED,))).as_text().splitlines()

    assert lines[0] == "41: message 41"
    assert lines[-3:] == [
        "Held by: nobody",
        "It is over: delivered as message 99.",
        "What to do: There is nothing to do.",
    ]


def test_long_and_broken_words_are_quoted_on_one_short_line():
    quoted = explaining.quote("a\n" * 500)

    assert "\n" not in quoted
    assert len(quoted) <= explaining.LONGEST_QUOTE + 2


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"shown": ""}, "It is not shown yet: an earlier question of the conversation is open."),
        ({"shown": "pending"}, "Its message has not reached the platform."),
        ({"shown": "abandoned", "shown_error": "blocked"}, "Its message was given up: blocked"),
        (
            {"reply_outcome": "kept", "answered": 1, "questions": 3},
            "1 of 3 questions are answered so far.",
        ),
    ],
)
def test_an_open_question_says_what_it_waits_for(changes, why):
    assert why_open(standing(**changes), now=NOW) == why


def test_a_message_that_may_have_arrived_counts_as_shown():
    assert is_shown(standing(shown="failed", may_be_seen=True))
    assert not is_shown(standing(shown="failed"))
