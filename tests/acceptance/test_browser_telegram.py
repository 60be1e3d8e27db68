"""[Q5], [Q17]: a question put to somebody on Telegram, watched by staff in the Control UI."""

import pytest
from playwright.sync_api import expect

from tests.acceptance.desk import BOSS, console_stack
from tests.acceptance.people import Person
from tests.peers.telegram import TelegramPeer

pytestmark = [pytest.mark.acceptance, pytest.mark.browser]


@pytest.fixture(scope="module")
def telegram():
    with TelegramPeer() as peer:
        yield peer


@pytest.fixture(scope="module")
def stack(tmp_path_factory, telegram):
    env = {
        "TELEGRAM_BOT_TOKEN": telegram.token,
        "TELEGRAM_API_BASE_URL": telegram.url,
        "TELEGRAM_ALLOW_ALL_USERS": "1",
    }
    with console_stack(tmp_path_factory.mktemp("telegram") / "data", env) as stack:
        yield stack


@pytest.fixture
def person(telegram):
    return Person(telegram)


@pytest.fixture
def watch(sit_down):
    """A function that seats the boss before the conversation in which something waits."""

    def look():
        desk = sit_down(BOSS)
        desk.page.locator("#sessions a:has(.asks)").first.click()
        expect(desk.panel).to_be_visible()
        return desk

    return look


@pytest.mark.proves("Q5", "Q17")
def test_what_is_answered_on_telegram_appears_in_the_stepper_and_closes_it(person, watch):
    person.says("ask 3")
    person.sees_buttons()
    desk = watch()
    expect(desk.page.locator("#composer")).to_be_hidden()
    expect(desk.panel).to_contain_text("Question 1 of 3")
    person.presses(person.sees_buttons(), "Production")
    expect(desk.panel.locator(".step.is-done")).to_have_count(1)
    expect(desk.panel.get_by_role("radio", name="Production")).to_be_checked()
    person.says("1, 3")
    expect(desk.panel.locator(".step.is-done")).to_have_count(2)
    person.says("tonight")
    expect(desk.panel).to_have_count(0)
    summary = desk.page.locator(".summary")
    expect(summary.locator(".given")).to_have_text(
        ["Production", "Unit tests", "Load test", "Tonight"]
    )
    expect(summary).to_contain_text("on Telegram")


@pytest.mark.proves("Q5", "Q17")
def test_a_button_on_telegram_closes_the_stepper(person, watch):
    person.says("clarify")
    shown = person.sees_buttons()
    desk = watch()
    person.presses(shown, "Both")
    expect(desk.panel).to_have_count(0)
    expect(desk.page.locator(".summary .given")).to_have_text(["Both"])


@pytest.mark.proves("Q5", "Q15", "Q17")
def test_an_answer_of_staff_takes_the_buttons_on_telegram(person, watch):
    person.says("clarify")
    shown = person.sees_buttons()
    desk = watch()
    expect(desk.panel).to_contain_text(f"The agent asks Person {person.id}")
    assert not desk.page.evaluate("document.activeElement.closest('.panel')"), "not by accident"
    desk.panel.get_by_role("radio", name="Both").click()
    desk.panel.get_by_role("button", name="Send answer").click()
    person.sees(lambda message: message.message_id == shown.message_id and not message.buttons)
    person.sees("You answered: Both")
    expect(desk.page.locator(".summary")).to_contain_text("by boss")


@pytest.mark.proves("Q5", "Q19b")
def test_an_approval_is_decided_in_either_place_and_closes_in_both(person, watch):
    person.says("approve")
    shown = person.sees_buttons()
    desk = watch()
    expect(desk.panel.locator(".badge-risk")).to_have_text("High risk")
    person.presses(shown, "✋ Deny")
    expect(desk.panel).to_have_count(0)
    expect(desk.page.locator(".entry.prompt .answers")).to_have_text("Denied")
    person.says("approve")
    person.sees(lambda message: message.buttons)  # what nobody has seen is taken back instead
    expect(desk.panel).to_be_visible()
    desk.panel.get_by_role("button", name="Approve once").click()
    desk.panel.get_by_role("button", name="Yes, approve").click()
    person.sees(lambda message: "Approved by staff" in message.text and not message.buttons)
