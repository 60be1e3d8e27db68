"""[Q17]: questions on touch screens and in narrow windows, as cards in the timeline."""

import pytest
from playwright.sync_api import expect

from tests.acceptance.desk import PHONE, TABLET, console_stack

pytestmark = [pytest.mark.acceptance, pytest.mark.browser]


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with console_stack(tmp_path_factory.mktemp("touch") / "data") as stack:
        yield stack


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


@pytest.mark.proves("Q17")
def test_on_a_touch_screen_questions_are_stacked_however_wide_it_is(sit_down):
    desk = sit_down(**TABLET)
    desk.say("ask 2")
    card = desk.page.locator("#timeline .panel")
    expect(card.locator(".question")).to_have_count(2)
    expect(desk.page.locator("#composer")).to_be_visible()
    card.get_by_role("radio", name="Production").tap()
    card.get_by_role("checkbox", name="Load test").tap()
    card.get_by_role("button", name="Send answers").tap()
    expect(desk.page.locator(".given")).to_have_text(["Production", "Load test"])


@pytest.mark.proves("Q17")
def test_in_a_narrow_window_the_stacked_card_works_by_keyboard_alone(sit_down):
    desk = sit_down(viewport={"width": 390, "height": 844})
    desk.say("ask 2")
    card = desk.page.locator("#timeline .panel")
    radio = card.get_by_role("radio", name="Staging")
    expect(radio).to_be_visible()
    radio.focus()
    keyboard = desk.page.keyboard
    keyboard.press("ArrowDown")
    expect(card.get_by_role("radio", name="Production")).to_be_checked()
    keyboard.press("Tab")
    expect(card.get_by_label("Your own answer").first).to_be_focused()
    keyboard.press("Tab")
    keyboard.press("Space")
    expect(card.get_by_role("checkbox", name="Unit tests")).to_be_checked()
    for _ in range(5):  # two more boxes, own words, Skip, Send
        keyboard.press("Tab")
    keyboard.press("Enter")
    expect(desk.page.locator(".given")).to_have_text(["Production", "Unit tests"])
