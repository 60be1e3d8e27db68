"""[Q5], [Q19b]: operations are approved and denied in the Control UI, in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from tests.acceptance.desk import BOSS, PHONE, console_stack

pytestmark = [pytest.mark.acceptance, pytest.mark.browser]

OPERATION = 'pretend_delete {\n  "target": "build/old-release.tar.gz"\n}'
CHANGE = """
from clarify.models import Prompt
from django.utils import timezone
row = Prompt.objects.filter(kind="approval", state="pending").latest("pk")
changes = dict(row.operation, **{changes!r})
Prompt.objects.filter(pk=row.pk).update(operation=changes, updated_at=timezone.now())
"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with console_stack(tmp_path_factory.mktemp("approvals") / "data") as stack:
        yield stack


@pytest.fixture
def asked(sit_down, stack):
    """A function that lets the agent ask for an approval, changed as is wanted."""

    def ask(name=None, changes=None, **options):
        desk = sit_down(name, **options)
        desk.say("approve")
        expect(desk.card).to_be_visible()
        if changes:
            stack.manage("shell", "-c", CHANGE.format(changes=changes))
            desk.page.reload()
            desk.connected()
            expect(desk.card).to_be_visible()
        return desk

    return ask


def button(desk, name):
    return desk.card.get_by_role("button", name=name, exact=True)


def expect_outcome(desk, words):
    expect(desk.page.locator(".entry.prompt .answers")).to_have_text(words)
    expect(desk.card).to_have_count(0)


def expect_open(desk):
    """Nothing was decided: by the page, and by the server after it was asked anew."""
    expect(desk.page.locator(".entry.prompt .answers")).to_have_count(0)
    desk.page.reload()
    desk.connected()
    expect(desk.page.locator(".entry.prompt.is-open")).to_have_count(1)


def test_the_card_shows_exactly_what_will_run_how_dangerous_it_is_and_for_whom(asked):
    desk = asked()
    expect(desk.card.locator("pre")).to_have_text(OPERATION)
    expect(desk.card.locator(".badge-risk")).to_have_text("High risk")
    expect(desk.card).to_contain_text("asked for <b>Ada</b>")
    expect(desk.card.locator(".countdown")).to_have_text(re.compile(r"0\d:\d\d"))
    expect(desk.page.locator("#composer")).to_be_hidden()


def test_a_low_risk_is_approved_by_one_press(asked):
    desk = asked(changes={"level": "low"})
    expect(desk.card.locator(".badge-risk")).to_have_text("Low risk")
    button(desk, "Approve once").click()
    expect_outcome(desk, "Approved once")
    expect(desk.told("Pretended to delete")).to_be_visible()
    expect(desk.page.locator("#composer-text")).to_be_focused()


@pytest.mark.proves("Q19b")
def test_what_can_do_harm_is_approved_in_two_steps_that_a_double_click_does_not_take(asked):
    desk = asked()
    button(desk, "Approve once").dblclick()
    expect(button(desk, "Approve once")).to_be_visible()
    button(desk, "Approve once").click()
    expect(desk.card).to_contain_text("This can do harm. Approve it?")
    expect(button(desk, "Go back")).to_be_focused()
    button(desk, "Yes, approve").click()
    expect_outcome(desk, "Approved once")


def test_no_key_that_is_pressed_blindly_approves(asked):
    desk = asked(changes={"level": "low"})
    expect(desk.card.locator("pre")).to_be_focused()
    for key in ("Enter", "Space", "1", "2", "y", "ArrowDown", "Enter"):
        desk.page.keyboard.press(key)
    expect_open(desk)


def test_holding_enter_on_the_button_never_reaches_the_second_step(asked):
    desk = asked()
    expect(button(desk, "Approve once")).to_be_enabled()
    button(desk, "Approve once").focus()
    for _ in range(9):  # a key that is held repeats
        desk.page.keyboard.down("Enter")
    desk.page.keyboard.up("Enter")
    expect(button(desk, "Go back")).to_be_focused()
    desk.page.keyboard.press("Enter")
    expect(button(desk, "Approve once")).to_be_focused()
    expect_open(desk)


def test_by_keyboard_alone_an_operation_is_read_confirmed_and_approved(asked):
    desk = asked()
    keyboard = desk.page.keyboard
    expect(desk.card.locator("pre")).to_be_focused()
    expect(button(desk, "Approve once")).to_be_enabled()
    for expected in ("deny", "reason", "longer", "approve"):
        keyboard.press("Tab")
        expect(desk.page.locator(f'[data-focus="{expected}"]')).to_be_focused()
    keyboard.press("Enter")
    expect(button(desk, "Go back")).to_be_focused()
    keyboard.press("Shift+Tab")
    keyboard.press("Enter")
    expect_outcome(desk, "Approved once")


def test_a_denial_carries_its_reason_to_the_agent_and_into_the_summary(asked):
    desk = asked()
    desk.card.get_by_label("Reason, if denied").fill("Not on a Friday")
    desk.page.keyboard.press("Enter")
    expect_outcome(desk, "DeniedNot on a Friday")
    expect(desk.told("It was not approved: Not on a Friday")).to_be_visible()


def test_enter_without_a_reason_denies_nothing_and_one_press_denies(asked):
    desk = asked()
    desk.card.get_by_label("Reason, if denied").press("Enter")
    expect(desk.card).to_be_visible()
    button(desk, "Deny").click()
    expect_outcome(desk, "Denied")


def test_a_lasting_approval_says_what_it_covers_and_for_how_long(asked):
    desk = asked()
    opener = button(desk, "Approve for longer")
    expect(opener).to_have_attribute("aria-expanded", "false")
    opener.click()
    expect(desk.card).to_contain_text("A lasting approval covers: exactly this call")
    button(desk, "For this session (12 hours)").click()
    expect(desk.card).to_contain_text("This can do harm. Approve it? For this session (12 hours).")
    button(desk, "Yes, approve").click()
    expect_outcome(desk, "Approved for this session")
    desk.say("approve")
    expect(desk.told("Pretended to delete")).to_have_count(2)
    expect(desk.page.locator(".entry.prompt")).to_have_count(1)


@pytest.mark.proves("Q17")
def test_escape_collapses_an_approval_to_a_bar_and_the_reason_is_kept(asked):
    desk = asked()
    desk.card.get_by_label("Reason, if denied").fill("Wrong server")
    desk.page.keyboard.press("Escape")
    expect(desk.page.locator(".slim")).to_contain_text("1 approval is waiting")
    expect(desk.page.locator("#composer-text")).to_be_focused()
    desk.page.reload()
    desk.connected()
    desk.page.locator(".slim").click()
    expect(desk.card.get_by_label("Reason, if denied")).to_have_value("Wrong server")
    expect(desk.card.locator("pre")).to_be_focused()


@pytest.mark.proves("Q5")
def test_a_decision_of_staff_closes_the_card_of_the_person_and_stays_in_the_timeline(
    asked, sit_down
):
    desk = asked(changes={"level": "critical"})
    expect(desk.card).to_contain_text("You may deny this, not approve it.")
    expect(button(desk, "Approve once")).to_have_count(0)
    boss = sit_down(BOSS)
    path = desk.page.url.removeprefix(desk.url)
    boss.page.goto(boss.url + path)
    boss.connected()
    expect(boss.card.locator(".badge-risk")).to_have_text("Critical risk")
    button(boss, "Approve once").click()
    expect(boss.card).to_contain_text("great harm")
    button(boss, "Yes, approve").click()
    expect_outcome(desk, "Approved once")
    summary = desk.page.locator(".entry.prompt .summary")
    expect(summary).to_contain_text("by staff")
    expect(boss.page.locator(".entry.prompt .summary")).to_contain_text("by boss")
    desk.page.reload()
    desk.connected()
    expect(summary.locator("pre")).to_have_text(OPERATION)
    expect(summary.locator(".badge-risk")).to_have_text("Critical risk")


def test_a_long_operation_is_shown_whole_wraps_and_scrolls_from_left_to_right(asked):
    lines = [f"curl -X DELETE https://storage.example/{'x' * 300}/{n}" for n in range(80)]
    desk = asked(changes={"level": "medium", "detail": "\n".join(lines)}, locale="fa")
    assert desk.page.evaluate("document.documentElement.dir") == "rtl"
    block = desk.card.locator("pre")
    expect(block).to_have_text("\n".join(lines))
    expect(block).to_have_css("direction", "ltr")
    shape = block.evaluate("n => [n.scrollWidth <= n.clientWidth, n.scrollHeight > n.clientHeight]")
    assert shape == [True, True]
    expect(desk.card.locator('[data-focus="approve"]')).to_be_in_viewport()
    expect(desk.card.locator(".badge-risk")).to_have_text("خطر متوسط")


def test_on_a_phone_an_approval_is_a_card_in_the_timeline(asked):
    desk = asked(**PHONE)
    card = desk.page.locator("#timeline .panel")
    expect(card.locator("pre")).to_have_text(OPERATION)
    expect(desk.page.locator("#composer")).to_be_visible()
    card.get_by_role("button", name="Approve once").tap()
    card.get_by_role("button", name="Go back").tap()
    card.get_by_role("button", name="Approve once").tap()
    card.get_by_role("button", name="Yes, approve").tap()
    expect_outcome(desk, "Approved once")
    assert desk.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_what_waits_is_told_to_a_screen_reader_by_role_and_name(asked):
    desk = asked()
    expect(button(desk, "Approve once")).to_be_enabled()
    expect(desk.card).to_match_aria_snapshot("""
      - 'region "Approval needed: High risk"':
        - text: Approval needed High risk
        - timer "Time left"
        - button "Collapse"
        - paragraph: Call pretend_delete
        - paragraph: /pretend_delete · asked for/
        - region "Exactly what will run"
        - button "Deny"
        - textbox "Reason, if denied"
        - button "Approve for longer"
        - button "Approve once"
    """)
    button(desk, "Approve once").click()
    expect(desk.card.get_by_role("group")).to_match_aria_snapshot("""
      - group "This can do harm. Approve it?":
        - paragraph: This can do harm. Approve it?
        - button "Yes, approve"
        - button "Go back"
    """)


def test_an_approval_that_meets_no_connection_decides_nothing(asked):
    desk = asked(changes={"level": "low"})
    expect(button(desk, "Approve once")).to_be_enabled()
    desk.page.evaluate(
        "() => { hermes.connection.request = () => Promise.reject(new Error('lost')); }"
    )
    button(desk, "Approve once").click()
    expect(desk.card.get_by_role("alert")).to_contain_text("decide again")
    expect_open(desk)


@pytest.mark.proves("Q24")
def test_a_yes_in_the_chat_approves_nothing(asked):
    desk = asked()
    desk.page.keyboard.press("Escape")
    expect(desk.page.locator("#composer-text")).to_have_attribute("placeholder", "Write a message")
    desk.say("yes")
    expect(desk.page.locator("#strip")).to_contain_text("1 more in the queue")
    expect_open(desk)
