"""A question is put, changed, answered and closed in the language of whoever is asked ([T5])."""

import gettext
from pathlib import Path

import pytest
from django.conf import settings
from django.db import transaction
from django.utils import translation
from django.utils.translation import to_locale

import clarify
from clarify import buttons, questions, staff, tongue
from clarify.models import Prompt
from clarify.wording import ENGLISH
from delivery.models import Kind, Obligation
from tests.factories import (
    choice_question,
    make_answerer,
    make_conversation,
    make_turn,
    settle,
    several_questions,
)

pytestmark = pytest.mark.django_db
LOCALE = Path(clarify.__file__).parent / "locale"
LANGUAGES = [code for code, _ in settings.LANGUAGES if code != "en"]
FA = tongue.words("fa")


def asked(clock, question_set=None) -> Prompt:
    conversation = make_conversation(chat_id="7", now=clock())
    turn = make_turn(conversation, state="waiting", sender_id="7", now=clock())
    request = questions.Ask(
        kind="clarify",
        correlation=turn.correlation,
        call_id="c1",
        conversation_key=conversation.key,
        address=conversation.address,
        asker_id="7",
        questions=question_set or choice_question(),
        language="fa",
    )
    with transaction.atomic():
        return questions.ask(request, now=clock())


def test_what_is_asked_speaks_the_language_of_the_person(clock) -> None:
    with translation.override("zh-hans"):
        prompt = asked(clock)
    shown = prompt.obligation
    assert FA.by_button in shown.content
    assert FA.skip in str(shown.controls)
    assert ENGLISH.by_button not in shown.content


def test_a_hint_to_what_was_typed_does_too(clock) -> None:
    prompt = asked(clock)
    with transaction.atomic():
        outcome = questions.answer_text(prompt, "99", make_answerer(), now=clock())
    assert outcome.say == FA.hints["out_of_range"].format(said="99", first="1", last="2")


def test_a_press_and_what_is_left_of_the_question_do_too(clock) -> None:
    prompt = asked(clock, several_questions())
    with transaction.atomic():
        data = buttons.button_data(prompt.token, "o0.0")
        outcome = questions.press(data, lane=prompt.lane, answerer=make_answerer(), now=clock())
    assert outcome.say == FA.type_your_answer
    invited = Obligation.objects.get(kind=Kind.CONTROL)
    assert invited.content.startswith(FA.type_your_answer)


def test_staff_who_work_in_another_language_close_it_in_the_persons_own(clock) -> None:
    prompt = asked(clock)
    settle(prompt.obligation, at=clock())
    with translation.override("en"):
        staff.cancel(prompt, actor="root", surface="admin", now=clock())
    summary = Obligation.objects.get(kind=Kind.RETIRE)
    assert FA.closed_who["cancelled"] in summary.content
    assert FA.staff in summary.content


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_there_in_every_language_and_used(language) -> None:
    found = gettext.translation("django", LOCALE, [to_locale(language)])
    words = tongue.words(language)
    missing = []
    for name in vars(ENGLISH):
        english, said = getattr(ENGLISH, name), getattr(words, name)
        pairs = (
            [(english, said)]
            if isinstance(english, str)
            else zip(english.values(), said.values(), strict=True)
        )
        missing += [text for text, told in pairs if told == text or found.gettext(text) == text]
    assert missing == [], f"write these into {LOCALE}, then msgfmt"
