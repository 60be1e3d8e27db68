"""[Q17]: questions in the Control UI, in a real browser, clause by clause."""

import re

import pytest
from playwright.sync_api import expect

from tests.acceptance.desk import console_stack

pytestmark = [pytest.mark.acceptance, pytest.mark.browser]

TIME_LEFT = """
from datetime import timedelta
from clarify.models import Prompt
from django.utils import timezone
now = timezone.now()
Prompt.objects.filter(pk={prompt}).update(
    expires_at=now + timedelta(seconds={seconds}), updated_at=now
)
"""
ONE_MORE = """
from clarify import questions
from clarify.models import Prompt
from clarify.schema import normalise_clarify
from django.db import transaction
from django.utils import timezone
row = Prompt.objects.get(pk={prompt})
ask = questions.Ask(
    kind="clarify", correlation=row.correlation, call_id="one more",
    conversation_key=row.conversation_key, address=row.destination,
    asker_id=row.asker_id, asker_name=row.asker_name,
    questions=normalise_clarify("And then?", ["Sleep", "Dance"]),
)
with transaction.atomic():
    questions.ask(ask, now=timezone.now())
"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with console_stack(tmp_path_factory.mktemp("questions") / "data") as stack:
        yield stack


@pytest.mark.proves("Q17")
def test_three_questions_are_answered_with_the_keyboard_alone(sit_down):
    desk = sit_down()
    desk.say("ask 3")
    expect(desk.panel).to_contain_text("Question 1 of 3")
    expect(desk.page.locator("#composer")).to_be_hidden()
    keyboard = desk.page.keyboard
    keyboard.press("ArrowDown")
    expect(desk.panel.get_by_role("radio", name="Production")).to_be_checked()
    keyboard.press("1")
    expect(desk.panel.get_by_role("radio", name="Staging")).to_be_checked()
    expect(desk.panel.get_by_role("radio", name="Production")).not_to_be_checked()
    keyboard.press("Enter")
    expect(desk.panel).to_contain_text("Question 2 of 3")
    keyboard.press("1")
    keyboard.press("3")
    keyboard.press("Enter")
    expect(desk.panel).to_contain_text("Question 3 of 3")
    keyboard.press("4")
    keyboard.type("When the moon is full")
    keyboard.press("Enter")
    expect(desk.panel).to_have_count(0)
    summary = desk.page.locator(".entry.prompt .summary")
    expect(summary.locator(".given")).to_have_text(
        ["Staging (Recommended)", "Unit tests", "Load test", "When the moon is full"]
    )
    expect(desk.told("You answered")).to_contain_text("When the moon is full")
    expect(desk.page.locator("#composer-text")).to_be_focused()


def test_whoever_just_begins_to_write_writes_an_answer_of_their_own(sit_down):
    desk = sit_down()
    desk.say("clarify")
    expect(desk.panel.get_by_role("radio", name="Staging")).to_be_focused()
    desk.page.keyboard.type("on the moon")
    expect(desk.panel.get_by_role("radio", name="Staging")).not_to_be_checked()
    desk.page.keyboard.press("Enter")
    expect(desk.told("You answered")).to_contain_text("on the moon")


def test_the_hint_about_keys_counts_the_rows(sit_down):
    desk = sit_down()
    desk.say("ask 3")
    hint = desk.panel.locator(".keys")
    expect(hint).to_have_text("1–3 choose · Enter goes on · Esc collapses")
    desk.page.keyboard.press("1")
    desk.page.keyboard.press("Enter")
    rows = desk.panel.locator(".option").count()
    expect(hint).to_contain_text(f"1–{rows} choose")


def test_what_is_answered_by_a_message_is_counted(sit_down):
    desk = sit_down()
    desk.say("ask 3")
    expect(desk.panel).to_be_visible()
    desk.page.keyboard.press("Escape")
    slim = desk.page.locator(".slim")
    expect(slim).to_contain_text("3 questions are unanswered")
    desk.say("1b 2a")
    expect(slim).to_contain_text("1 question is unanswered")
    expect(desk.told("One question is left").locator(".meta").last).to_be_in_viewport()
    desk.page.reload()
    desk.connected()
    expect(slim).to_contain_text("1 question is unanswered")
    slim.click()
    expect(desk.panel.get_by_role("radio", name="Production")).to_be_checked()
    expect(desk.panel.locator(".step.is-done")).to_have_count(2)


@pytest.mark.proves("Q17")
def test_drafts_outlive_collapsing_reloading_and_a_killed_server(sit_down, stack):
    desk = sit_down()
    desk.say("ask 3")
    desk.panel.get_by_role("radio", name="Production").click()
    expect(desk.panel).to_contain_text("Question 2 of 3")
    desk.panel.get_by_label("Your own answer").fill("smoke tests")
    desk.page.keyboard.press("Escape")
    slim = desk.page.locator(".slim")
    expect(slim).to_contain_text("1 question is unanswered")
    expect(desk.page.locator("#composer-text")).to_be_focused()
    desk.page.reload()
    desk.connected()
    slim.click()
    stack.kill9("web")
    desk.until_connection(is_open=False)
    expect(desk.panel.get_by_label("Your own answer")).to_have_value("smoke tests")
    desk.until_connection(is_open=True)
    expect(desk.panel).to_contain_text("Question 2 of 3")
    expect(desk.panel.get_by_label("Your own answer")).to_have_value("smoke tests")
    expect(desk.panel.locator(".countdown")).to_have_text(re.compile(r"1[0-4]:\d\d"))
    desk.panel.get_by_role("button", name="Back").click()
    expect(desk.panel.get_by_role("radio", name="Production")).to_be_checked()


@pytest.mark.proves("Q5", "Q17")
def test_a_question_answered_in_one_tab_closes_in_the_other(sit_down):
    desk = sit_down()
    other = desk.tab()
    desk.connected(other)
    desk.say("clarify")
    expect(other.locator("#stepper .panel")).to_be_visible()
    desk.page.bring_to_front()
    desk.panel.get_by_role("radio", name="Both").click()
    desk.panel.get_by_role("button", name="Send answer").click()
    expect(other.locator("#stepper .panel")).to_have_count(0)
    expect(other.locator(".summary .given")).to_have_text(["Both"])
    expect(desk.told("You answered: Both", other)).to_be_visible()


def test_a_question_is_skipped_or_answered_by_a_message(sit_down):
    desk = sit_down()
    desk.say("multi")
    desk.panel.get_by_role("checkbox", name="Olives").click()
    desk.panel.get_by_role("button", name="Skip").click()
    expect(desk.page.locator(".summary")).to_contain_text("Skipped")
    expect(desk.told("No answer")).to_be_visible()
    desk.say("clarify")
    expect(desk.panel).to_be_visible()
    desk.page.keyboard.press("Escape")
    desk.say("2")
    expect(desk.page.locator(".summary .given")).to_have_text(["Production"])
    expect(desk.page.locator(".slim")).to_have_count(0)
    expect(desk.page.locator(".said", has_text="taken as an answer")).to_be_visible()


def number_of(desk):
    """The number of the prompt that is open."""
    return desk.page.locator(".entry.prompt.is-open").last.get_attribute("data-id").split(":")[1]


@pytest.mark.proves("Q17")
def test_the_stepper_takes_the_place_of_the_composer_and_shows_one_question_at_a_time(sit_down):
    desk = sit_down()
    composer = desk.page.locator("#composer").bounding_box()
    desk.say("ask 3")
    expect(desk.panel.locator(".question")).to_have_count(1)
    expect(desk.page.locator("#composer")).to_be_hidden()
    desk.panel.evaluate("node => Promise.all(node.getAnimations().map(each => each.finished))")
    box = desk.panel.bounding_box()
    assert box["x"] == composer["x"]
    assert box["width"] == composer["width"]
    assert round(box["y"] + box["height"]) == round(composer["y"] + composer["height"])
    expect(desk.page.locator(".entry.prompt.is-open")).to_be_hidden()
    follow = desk.panel.get_by_role("button", name="Next", exact=True)
    expect(follow).to_be_disabled()
    expect(desk.panel.get_by_role("button", name="Back")).to_have_count(0)
    desk.page.keyboard.press("2")
    follow.click()
    expect(desk.panel).to_contain_text("Question 2 of 3")
    expect(desk.panel.locator(".question")).to_have_count(1)
    desk.panel.get_by_role("button", name="Back").click()
    expect(desk.panel).to_contain_text("Question 1 of 3")
    expect(desk.panel.get_by_role("radio", name="Production")).to_be_checked()


@pytest.mark.proves("Q17")
def test_number_keys_choose_up_to_four_options_and_the_next_one_is_for_own_words(sit_down):
    desk = sit_down()
    desk.say("multi")
    expect(desk.panel).to_be_visible()
    for key in ("1", "2", "3", "4", "2"):
        desk.page.keyboard.press(key)
    for name, is_on in {"Cheese": True, "Mushrooms": False, "Olives": True, "Chili": True}.items():
        expect(desk.panel.get_by_role("checkbox", name=name)).to_be_checked(checked=is_on)
    desk.page.keyboard.press("6")
    desk.page.keyboard.press("5")
    expect(desk.panel.get_by_label("Your own answer")).to_be_focused()
    desk.page.keyboard.type("basil")
    desk.page.keyboard.press("Enter")
    expect(desk.page.locator(".given")).to_have_text(["Cheese", "Olives", "Chili", "basil"])


@pytest.mark.proves("Q17")
def test_several_prompts_are_paged_and_each_keeps_its_draft(sit_down):
    desk = sit_down()
    desk.say("both")
    expect(desk.panel).to_contain_text("1 of 2")
    desk.panel.get_by_label("Your own answer").fill("On the moon")
    desk.panel.get_by_role("button", name="Next", exact=True).click()
    expect(desk.panel).to_contain_text("Approval needed")
    expect(desk.panel).to_contain_text("2 of 2")
    desk.panel.get_by_role("button", name="Previous").click()
    expect(desk.panel.get_by_label("Your own answer")).to_have_value("On the moon")
    desk.page.keyboard.press("Escape")
    slim = desk.page.locator(".slim")
    expect(slim).to_contain_text("1 approval is waiting")
    slim.click()
    desk.panel.get_by_role("button", name="Send answer").click()
    expect(desk.panel).to_contain_text("Approval needed")
    expect(desk.panel.locator(".pager")).to_have_count(0)
    expect(desk.panel.locator("pre")).to_be_focused()
    desk.panel.get_by_role("button", name="Deny").click()
    expect(desk.panel).to_have_count(0)
    expect(desk.told("You answered: On the moon")).to_be_visible()


@pytest.mark.proves("Q17")
def test_a_question_that_comes_beside_another_disturbs_nobody_who_is_typing(sit_down, stack):
    desk = sit_down()
    desk.say("clarify")
    own = desk.panel.get_by_label("Your own answer")
    own.fill("at the end")
    own.press("Home")
    stack.manage("shell", "-c", ONE_MORE.format(prompt=number_of(desk)))
    expect(desk.panel).to_contain_text("1 of 2")
    expect(own).to_be_focused()
    expect(desk.page.locator("#announce")).to_have_text("The agent asks: And then?")
    desk.page.keyboard.type("Not ")
    expect(own).to_have_value("Not at the end")


@pytest.mark.proves("Q17")
def test_a_draft_outlives_a_look_at_another_conversation(sit_down):
    desk = sit_down()
    desk.say("ask 2")
    expect(desk.panel).to_be_visible()
    desk.page.keyboard.press("2")
    desk.page.keyboard.press("Enter")
    desk.panel.get_by_role("checkbox", name="Load test").click()
    desk.page.click("#new-chat")
    expect(desk.page.locator("#empty h2")).to_be_visible()
    expect(desk.panel).to_have_count(0)
    expect(desk.page.locator("#composer-text")).to_be_focused()
    desk.page.locator("#sessions a", has_text="ask 2").click()
    expect(desk.panel).to_contain_text("Question 2 of 2")
    expect(desk.panel.get_by_role("checkbox", name="Load test")).to_be_checked()
    desk.panel.get_by_role("button", name="Back").click()
    expect(desk.panel.get_by_role("radio", name="Production")).to_be_checked()


@pytest.mark.proves("Q17")
def test_the_countdown_warns_and_the_question_closes_when_its_time_is_over(sit_down, stack):
    desk = sit_down()
    desk.say("clarify")
    clock = desk.panel.get_by_role("timer")
    expect(clock).to_have_text(re.compile(r"0\d:\d\d"))
    expect(clock).not_to_have_class(re.compile("is-short"))
    prompt = number_of(desk)
    stack.manage("shell", "-c", TIME_LEFT.format(prompt=prompt, seconds=50))
    expect(clock).to_have_class(re.compile("is-short"), timeout=20_000)
    stack.manage("shell", "-c", TIME_LEFT.format(prompt=prompt, seconds=-1))
    expect(desk.panel).to_have_count(0, timeout=30_000)
    expect(desk.page.locator(".summary")).to_contain_text("Not answered in time")


@pytest.mark.proves("Q17")
def test_a_screen_reader_is_told_what_is_asked_by_roles_and_names(sit_down):
    desk = sit_down()
    desk.say("ask 3")
    expect(desk.panel).to_match_aria_snapshot("""
      - region "The agent asks":
        - text: The agent asks Question 1 of 3
        - timer "Time left"
        - button "Collapse"
        - paragraph: Where shall we deploy?
        - radiogroup "Where shall we deploy?":
          - radio "Staging (Recommended) Nobody notices a mistake"
          - radio "Production Everybody does"
          - textbox "Your own answer"
        - button "Skip"
        - button "Next" [disabled]
    """)
    desk.page.keyboard.press("2")
    desk.page.keyboard.press("Enter")
    expect(desk.panel).to_match_aria_snapshot("""
      - region "The agent asks":
        - paragraph: Which checks shall run first?
        - paragraph: Choose any that apply
        - group "Which checks shall run first?":
          - checkbox "Unit tests"
          - checkbox "Browser tests"
          - checkbox "Load test"
          - textbox "Your own answer"
        - button "Skip"
        - button "Back"
        - button "Next" [disabled]
    """)
    desk.page.keyboard.press("Escape")
    slim = desk.page.get_by_role("button", name="2 questions are unanswered")
    expect(slim).to_have_attribute("aria-expanded", "false")


@pytest.mark.proves("Q17")
def test_from_right_to_left_the_stepper_is_mirrored_and_its_keys_work(sit_down):
    desk = sit_down(locale="fa")
    desk.say("ask 3")
    expect(desk.panel).to_contain_text("پرسش ۱ از ۳")
    desk.page.keyboard.press("ArrowDown")
    expect(desk.panel.get_by_role("radio", name="Production")).to_be_checked()
    desk.page.keyboard.press("Enter")
    expect(desk.panel).to_contain_text("پرسش ۲ از ۳")
    skip, follow = (
        desk.panel.locator(f'[data-focus="{name}"]').bounding_box() for name in ("skip", "next")
    )
    assert skip["x"] > follow["x"]
    desk.page.keyboard.press("Escape")
    expect(desk.page.locator(".slim")).to_contain_text("۲")


def test_escape_that_ends_a_composition_collapses_nothing(sit_down):
    desk = sit_down()
    desk.say("clarify")
    own = desk.panel.get_by_label("Your own answer")
    own.fill("你好")
    own.dispatch_event("keydown", {"key": "Escape", "isComposing": True, "bubbles": True})
    expect(own).to_have_value("你好")
    expect(desk.panel).to_be_visible()
