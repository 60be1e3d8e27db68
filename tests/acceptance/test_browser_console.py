"""The Control UI in a real browser, against everything that really runs."""

import re

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.acceptance.stack import Stack
from tests.services import wait_until

pytestmark = [pytest.mark.acceptance, pytest.mark.browser]

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PASSWORD = "correct horse battery"
PEOPLE = 24
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
PATIENCE = 15_000  # milliseconds


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("console") / "data") as stack:
        stack.manage(
            "shell",
            "-c",
            "from django.contrib.auth.models import User\n"
            f"for number in range({PEOPLE}):\n"
            f"    User.objects.create_user(f'person{{number}}', password={PASSWORD!r},"
            " first_name='<b>Ada</b>')",
        )
        yield stack


@pytest.fixture(scope="module")
def chromium(chromium_path):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def names():
    return iter(f"person{number}" for number in range(PEOPLE))


class Desk:
    """One person at one browser, who may have several tabs."""

    def __init__(self, browser, url, name, **options) -> None:
        self.url, self.name = url, name
        self.complaints: list[str] = []
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.tab()
        self.page.fill("[name=username]", name)
        self.page.fill("[name=password]", PASSWORD)
        self.page.press("[name=password]", "Enter")
        self.connected()

    def tab(self):
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._overhear)
        page.goto(self.url)
        return page

    def _overhear(self, message) -> None:
        if message.type == "error" and "WebSocket" not in message.text:
            self.complaints.append(message.text)

    def connected(self, page=None) -> None:
        (page or self.page).wait_for_selector("[data-state=connected]", state="attached")

    def until_connection(self, *, is_open) -> None:
        # Not the browser's own waiting: that evaluates text, which the page's policy forbids.
        def is_so() -> bool:
            self.page.wait_for_timeout(20)
            return self.page.evaluate("hermes.connection.isOpen") is is_open

        wait_until(is_so, f"the connection is open: {is_open}", within=15)

    def say(self, text, page=None) -> None:
        page = page or self.page
        page.fill("#composer-text", text)
        page.press("#composer-text", "Enter")

    def told(self, text, page=None):
        return (page or self.page).locator(".told:not(.is-live)", has_text=text)

    @property
    def panel(self):
        return self.page.locator("#stepper .panel")


@pytest.fixture
def sit_down(stack, chromium, names):
    """A function that seats a new person at a new browser; nothing may complain in the end."""
    desks = []

    def seat(**options):
        desk = Desk(chromium, stack.url, next(names), **options)
        desks.append(desk)
        return desk

    yield seat
    complaints = [line for desk in desks for line in desk.complaints]
    for desk in desks:
        desk.context.close()
    assert complaints == []


@pytest.mark.proves("U1")
def test_an_answer_is_streamed_formatted_and_ticked(sit_down):
    desk = sit_down()
    desk.say("markdown")
    answer = desk.told("A formatted answer")
    expect(answer.locator("table td").first).to_have_text("Telegram")
    expect(answer.locator(".code pre")).to_contain_text("Hello, {name} & <friends>!")
    expect(answer.locator(".tick.good")).to_have_attribute("title", "Delivered")
    expect(desk.page.locator(".said.mine .bubble")).to_have_text("markdown")
    desk.page.reload()
    desk.connected()
    expect(desk.page.locator(".entry")).to_have_count(2)


def test_a_live_text_becomes_the_final_one_in_place(sit_down):
    desk = sit_down()
    desk.say("slow 3")
    live = desk.page.locator(".told.is-live", has_text="2 of 6")
    live.evaluate("node => { node.wasHere = true; }")
    answer = desk.told("6 of 6")
    expect(answer).to_contain_text("Done.")
    assert answer.evaluate("node => node.wasHere")
    expect(desk.page.locator(".told")).to_have_count(1)
    expect(desk.page.locator("#strip")).to_be_hidden()


def test_a_running_turn_is_stopped_by_its_button(sit_down):
    desk = sit_down()
    desk.say("slow 60")
    expect(desk.page.locator(".is-live")).to_contain_text("1 of 120")
    desk.page.click("#stop")
    expect(desk.page.locator(".entry.stopped")).to_be_visible()
    expect(desk.page.locator(".is-live")).to_have_count(0)
    expect(desk.page.locator("#strip")).to_be_hidden()


def test_what_was_read_of_a_stopped_turn_stays_and_the_stop_is_told_once(sit_down):
    desk = sit_down()
    desk.say("slow 60")
    expect(desk.page.locator(".is-live")).to_contain_text("1 of 120")
    desk.say("/stop")
    expect(desk.told("Stopped")).to_be_visible()
    expect(desk.page.locator(".is-live")).to_have_count(0)
    expect(desk.told("1 of 120")).to_be_visible()
    expect(desk.page.locator(".entry", has_text="Stopped")).to_have_count(1)
    desk.page.reload()
    desk.connected()
    expect(desk.told("1 of 120")).to_be_visible()
    expect(desk.page.locator(".entry", has_text="Stopped")).to_have_count(1)


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


def test_a_message_written_while_the_server_is_away_arrives_once(sit_down, stack):
    desk = sit_down()
    stack.kill9("web")
    desk.until_connection(is_open=False)
    desk.say("Are you there?")
    expect(desk.page.locator(".said.is-sending")).to_have_text(re.compile("Are you there"))
    expect(desk.told("You said: Are you there?")).to_be_visible(timeout=PATIENCE)
    expect(desk.page.locator(".said")).to_have_count(1)
    expect(desk.page.locator(".said.is-sending")).to_have_count(0)
    desk.page.reload()
    desk.connected()
    expect(desk.page.locator(".said")).to_have_count(1)


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


def test_on_a_phone_a_long_chat_keeps_its_header(sit_down):
    desk = sit_down(**PHONE)
    desk.say("long")
    expect(desk.told("This is the end of the long answer.")).to_be_visible()
    desk.say("ask 3")
    expect(desk.page.locator("#timeline .panel")).to_be_visible()
    frame = desk.page.evaluate(
        "[scrollY, document.documentElement.scrollHeight, document.documentElement.clientHeight]"
    )
    assert frame == [0, 844, 844]
    assert desk.page.locator("#menu").bounding_box()["y"] >= 0


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


def test_what_people_write_is_never_markup(sit_down):
    desk = sit_down()
    attack = "<img src=x onerror='window.pwned=1'><script>window.pwned=1</script>"
    desk.say(attack)
    expect(desk.page.locator(".said .bubble")).to_have_text(attack)
    expect(desk.told("You said:")).to_contain_text("<img src=x")
    desk.say("clarify")
    desk.panel.get_by_label("Your own answer").fill(attack)
    desk.page.keyboard.press("Enter")
    expect(desk.page.locator(".summary .given")).to_have_text([attack])
    expect(desk.page.locator(".viewer")).to_have_text("<b>Ada</b>")
    assert desk.page.evaluate("window.pwned") is None
    assert desk.page.locator("#timeline img, #timeline script").count() == 0


def test_enter_that_ends_a_composition_sends_nothing(sit_down):
    desk = sit_down()
    desk.page.fill("#composer-text", "你好")
    desk.page.locator("#composer-text").dispatch_event(
        "keydown", {"key": "Enter", "isComposing": True, "bubbles": True, "cancelable": True}
    )
    expect(desk.page.locator("#composer-text")).to_have_value("你好")
    expect(desk.page.locator(".said")).to_have_count(0)
    desk.page.press("#composer-text", "Shift+Enter")
    expect(desk.page.locator("#composer-text")).to_have_value("你好\n")


def test_chats_are_apart_and_each_keeps_its_draft(sit_down):
    desk = sit_down()
    desk.say("first things")
    expect(desk.told("You said: first things")).to_be_visible()
    desk.page.fill("#composer-text", "unfinished")
    desk.page.click("#new-chat")
    expect(desk.page.locator("#empty h2")).to_be_visible()
    expect(desk.page.locator("#composer-text")).to_have_value("")
    desk.say("second things")
    expect(desk.told("You said: second things")).to_be_visible()
    desk.page.locator("#sessions a", has_text="first things").click()
    expect(desk.told("You said: first things")).to_be_visible()
    expect(desk.told("You said: second things")).to_have_count(0)
    expect(desk.page.locator("#composer-text")).to_have_value("unfinished")
    desk.page.go_back()
    expect(desk.told("You said: second things")).to_be_visible()


def test_what_is_being_read_stays_where_it_is_when_something_new_comes(sit_down):
    desk = sit_down()
    desk.say("long")
    expect(desk.told("This is the end of the long answer.")).to_be_visible()
    scroller = desk.page.locator("#scroller")
    scroller.evaluate("node => { node.scrollTop = 200; }")
    latest = desk.page.locator("#latest")
    expect(latest).to_be_visible()
    other = desk.tab()
    desk.connected(other)
    desk.say("time", other)
    expect(desk.told("current_time", other)).to_be_visible()
    expect(desk.page.locator(".said", has_text="time")).to_be_attached()
    assert scroller.evaluate("node => node.scrollTop") == 200
    desk.page.bring_to_front()
    latest.click()
    expect(latest).to_be_hidden()


def test_a_page_in_persian_runs_from_right_to_left(sit_down):
    desk = sit_down(locale="fa")
    assert desk.page.evaluate("document.documentElement.dir") == "rtl"
    sidebar = desk.page.locator("#sidebar").bounding_box()
    main = desk.page.locator("#main").bounding_box()
    assert sidebar["x"] > main["x"]
    expect(desk.page.locator("#new-chat")).to_have_text("گفت‌وگوی تازه")
    expect(desk.page.locator("#connection")).to_have_text("متصل")
    desk.say("clarify")
    expect(desk.panel).to_be_visible()
    desk.page.locator(":focus").dispatch_event("keydown", {"key": "۲", "bubbles": True})
    expect(desk.panel.get_by_role("radio", name="Production")).to_be_checked()


def test_the_page_can_be_dark_and_stays_so(sit_down):
    desk = sit_down(color_scheme="light")
    desk.page.click("#theme")
    desk.page.reload()
    desk.connected()
    assert desk.page.evaluate("document.documentElement.dataset.theme") == "dark"
    color = desk.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert color == "rgb(23, 25, 26)"
