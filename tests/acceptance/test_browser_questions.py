"""[Q17]: questions in the Control UI, in a real browser, clause by clause."""

import re

import pytest
from playwright.sync_api import expect

from tests.acceptance.desk import PHONE, console_stack

pytestmark = [pytest.mark.acceptance, pytest.mark.browser]


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


@pytest.mark.proves("Q17")
def test_on_a_phone_questions_are_a_card_in_the_timeline_and_the_list_a_drawer(sit_down):
    desk = sit_down(**PHONE)
    desk.say("ask 2")
    card = desk.page.locator("#timeline .panel")
    expect(card.locator(".question")).to_have_count(2)
    expect(desk.page.locator("#composer")).to_be_visible()
    expect(desk.page.locator("#stepper .panel")).to_have_count(0)
    send = card.get_by_role("button", name="Send answers")
    card.get_by_role("radio", name="Staging").tap()
    expect(send).to_be_disabled()
    card.get_by_role("checkbox", name="Load test").tap()
    send.tap()
    expect(desk.page.locator(".summary .given")).to_have_text(
        ["Staging (Recommended)", "Load test"]
    )
    sidebar = desk.page.locator("#sidebar")
    expect(sidebar).not_to_be_visible()
    desk.page.tap("#menu")
    expect(sidebar).to_be_visible()
    desk.page.keyboard.press("Escape")
    expect(sidebar).not_to_be_visible()
    width = desk.page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390


def test_on_a_phone_the_timeline_follows_again_once_a_question_is_answered_elsewhere(sit_down):
    desk = sit_down(**PHONE)
    desk.say("long")
    expect(desk.told("This is the end of the long answer.")).to_be_visible()
    other = desk.tab()
    desk.connected(other)
    desk.say("ask 3")
    latest = desk.page.locator("#latest")
    expect(latest).to_be_visible()
    row, card = latest.bounding_box(), desk.page.locator("#scroller").bounding_box()
    assert row["y"] >= card["y"] + card["height"]
    desk.say("1b 2a", other)
    expect(desk.told("One question is left")).to_be_visible()
    desk.say("3: a", other)
    expect(desk.told("You answered")).to_be_in_viewport()
    desk.say("time", other)
    expect(desk.told("current_time")).to_be_in_viewport()
    expect(latest).to_be_hidden()
