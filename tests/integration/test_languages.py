"""[T5]: people are spoken to in the language of their app, now and later."""

import pytest

from gateway import speaking, turns
from gateway.models import Conversation
from tests.factories import make_allow_entry
from tests.integration.door import Door, fresh, said
from tests.integration.paces import claim

pytestmark = pytest.mark.django_db


@pytest.fixture
def door(db, clock):
    return Door(clock)


@pytest.mark.parametrize(
    ("code", "ours"),
    [
        ("fa", "fa"),
        ("fa-IR", "fa"),
        ("zh-CN", "zh-hans"),
        ("ZH_hans", "zh-hans"),
        ("en-GB", "en"),
        ("pt-br", ""),
        ("", ""),
    ],
)
def test_the_language_of_an_app_is_one_of_ours_or_none(code, ours) -> None:
    assert speaking.language_for(code) == ours


@pytest.mark.proves("T5")
@pytest.mark.parametrize(
    ("language", "words"), [("zh-hans", "帮|你在这里"), ("fa", "اینجا"), ("en", "What you can do")]
)
def test_help_speaks_the_language_of_the_person(door, language, words) -> None:
    door.say("/help", language=language)
    assert any(word in said()[-1] for word in words.split("|"))


@pytest.mark.proves("T5")
def test_a_notice_from_elsewhere_is_in_the_language_last_heard(door) -> None:
    turn = claim(door.say("سلام", language="fa").turn, door.clock)
    assert Conversation.objects.get().language == "fa"
    turns.reclaim(fresh(turn), now=door.clock())
    assert "کار قطع شده بود" in said()[-1]


def test_one_person_s_language_is_not_the_next_one_s(door) -> None:
    make_allow_entry(user_id="8")
    door.say("/stop", language="fa")
    door.say("/stop", chat_id="8", user_id="8")
    assert said() == ["کاری در جریان نیست.", "Nothing is running."]
