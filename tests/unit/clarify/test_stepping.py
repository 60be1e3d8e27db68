"""[Q14]: several questions and several answers on one message with buttons."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarify import stepping
from clarify.buttons import from_button
from clarify.schema import Option, Question, QuestionSet
from clarify.stepping import Move, Press, PressEffect, Progress
from delivery.content import ButtonStyle

ENV = Question("env", "Env", "Where to?", (Option("Staging"), Option("Production")))
TESTS = Question(
    "tests", "Tests", "Which?", (Option("Unit"), Option("Load"), Option("Chaos")), multi_select=True
)
SIZE = Question("size", "Size", "How big?", (Option("S"), Option("L")))
SET = QuestionSet((ENV, TESTS, SIZE), 900)
QUESTIONS = SET.questions
TOKEN = "t" * 16


def after(*presses: Press, questions=QUESTIONS, start=Progress()):  # noqa: B008 - frozen
    progress = start
    for pressed in presses:
        change = stepping.press(questions, progress, pressed)
        progress = change.progress
    return change


def captions(progress, question_set=SET):
    rows = stepping.controls(question_set, progress, TOKEN).rows
    return [[button.label for button in row] for row in rows]


def test_picking_an_option_answers_and_shows_the_next_question():
    change = after(Press(Move.PICK, 0, 1))

    assert change.effect is PressEffect.MOVED
    assert change.progress.answers == {"env": ("Production",)}
    assert change.progress.current(QUESTIONS) == 1


def test_toggles_answer_nothing_until_they_are_submitted():
    change = after(Press(Move.PICK, 0, 0), Press(Move.PICK, 1, 2), Press(Move.PICK, 1, 0))

    assert change.effect is PressEffect.MOVED
    assert change.progress.answers == {"env": ("Staging",)}
    assert stepping.picked_of(change.progress, TESTS) == (0, 2)

    change = after(Press(Move.SUBMIT, 1), start=change.progress)

    assert change.progress.answers["tests"] == ("Unit", "Chaos")


def test_a_toggle_pressed_twice_is_off_again():
    change = after(Press(Move.PICK, 0), Press(Move.PICK, 1, 2), Press(Move.PICK, 1, 2))

    assert stepping.picked_of(change.progress, TESTS) == ()


def test_submitting_nothing_is_told_and_changes_nothing():
    before = after(Press(Move.PICK, 0)).progress

    assert stepping.press(QUESTIONS, before, Press(Move.SUBMIT, 1)) == stepping.Change(
        PressEffect.EMPTY, before
    )


def test_the_last_answer_completes_the_set():
    change = after(
        Press(Move.PICK, 0), Press(Move.PICK, 1, 1), Press(Move.SUBMIT, 1), Press(Move.PICK, 2, 1)
    )

    assert change.effect is PressEffect.COMPLETE
    assert change.progress.answers == {"env": ("Staging",), "tests": ("Load",), "size": ("L",)}


def test_back_shows_what_was_answered_and_it_can_be_changed():
    there = after(Press(Move.PICK, 0), Press(Move.BACK, 1)).progress

    assert there.current(QUESTIONS) == 0
    assert captions(there)[:2] == [["✓ Staging"], ["Production"]]

    change = after(Press(Move.PICK, 0, 1), start=there)

    assert change.progress.answers["env"] == ("Production",)
    assert change.progress.current(QUESTIONS) == 1


def test_back_to_toggles_shows_what_was_submitted():
    there = after(
        Press(Move.PICK, 0), Press(Move.PICK, 1, 1), Press(Move.SUBMIT, 1), Press(Move.BACK, 2)
    ).progress

    assert captions(there)[:3] == [["☐ Unit"], ["☑ Load"], ["☐ Chaos"]]


def test_the_first_question_has_no_way_back():
    assert not any("‹ Back" in row for row in captions(Progress()))
    assert stepping.press(QUESTIONS, Progress(), Press(Move.BACK, 0)).effect is PressEffect.UNKNOWN


def test_a_button_of_an_earlier_view_changes_nothing():
    there = after(Press(Move.PICK, 0, 1)).progress

    assert stepping.press(QUESTIONS, there, Press(Move.PICK, 0, 0)) == stepping.Change(
        PressEffect.STALE, there
    )


@pytest.mark.parametrize(
    "pressed", [Press(Move.PICK, 0, 2), Press(Move.PICK, 7), Press(Move.SUBMIT, 0)]
)
def test_a_button_that_was_never_there_is_unknown(pressed):
    assert stepping.press(QUESTIONS, Progress(), pressed).effect is PressEffect.UNKNOWN


def test_words_after_other_join_the_toggles():
    there = after(Press(Move.PICK, 0), Press(Move.PICK, 1, 0), Press(Move.OTHER, 1)).progress

    assert stepping.with_toggles(TESTS, there, ("Smoke",)) == ("Unit", "Smoke")
    assert stepping.with_toggles(TESTS, there, ("Unit",)) == ("Unit",)


def test_words_without_other_are_the_whole_answer():
    there = after(Press(Move.PICK, 0), Press(Move.PICK, 1, 0)).progress

    assert stepping.with_toggles(TESTS, there, ("Smoke",)) == ("Smoke",)


def test_the_count_of_toggles_stands_on_submit():
    there = after(Press(Move.PICK, 0), Press(Move.PICK, 1, 0), Press(Move.PICK, 1, 1)).progress

    assert captions(there)[3:] == [["‹ Back", "Submit (2)"], ["Other…", "Skip"]]
    submit = stepping.controls(SET, there, TOKEN).rows[3][1]
    assert submit.style is ButtonStyle.PRIMARY


def test_the_text_says_where_one_is_and_what_was_answered():
    there = after(Press(Move.PICK, 0, 1)).progress

    text = stepping.present(SET, there)

    assert text.startswith("✓ Env: **Production**")
    assert "Question 2 of 3" in text
    assert "Choose any, then press Submit" in text


def test_an_open_question_invites_to_type():
    asked = QuestionSet((Question("answer", "", "Why?"),), 600)

    controls = stepping.controls(asked, Progress(), TOKEN)

    assert controls.force_reply
    assert not controls.rows


def test_progress_survives_its_column():
    there = after(Press(Move.PICK, 0), Press(Move.PICK, 1, 2), Press(Move.OTHER, 1)).progress

    assert Progress.from_dict(there.as_dict(), there.answers) == there
    assert Progress.from_dict({}, {}) == Progress()


PRESSES = st.builds(Press, st.sampled_from(Move), st.integers(0, 9), st.integers(0, 9))


@given(PRESSES)
def test_what_a_button_carries_is_read_back(pressed):
    assert stepping.decoded(pressed.encoded()) == pressed
    assert len(pressed.encoded().encode("ascii")) <= 5


@given(st.text(max_size=8))
def test_no_text_breaks_the_reading_of_a_button(text):
    pressed = stepping.decoded(text)

    assert pressed is None or pressed.encoded() == text


@given(st.lists(PRESSES, max_size=30))
def test_whatever_is_pressed_the_view_stays_whole(presses):
    progress = Progress()
    for pressed in presses:
        change = stepping.press(QUESTIONS, progress, pressed)
        progress = change.progress
        if change.effect in {PressEffect.COMPLETE, PressEffect.DECLINED}:
            break
        assert not progress.is_complete(QUESTIONS) or progress.step
        assert stepping.present(SET, progress)
        for row in stepping.controls(SET, progress, TOKEN).rows:
            for button in row:
                assert len(button.data.encode()) <= 64
                _token, choice = from_button(button.data)
                shown = stepping.decoded(choice)
                assert shown.question == progress.current(QUESTIONS)
                effect = stepping.press(QUESTIONS, progress, shown).effect
                assert effect not in {PressEffect.STALE, PressEffect.UNKNOWN}
    for key, values in progress.answers.items():
        question = next(q for q in QUESTIONS if q.key == key)
        assert values
        assert set(values) <= set(question.labels)
        assert question.multi_select or len(values) == 1
