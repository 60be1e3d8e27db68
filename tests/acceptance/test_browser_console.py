"""The Control UI in a real browser, against everything that really runs."""

import re

import pytest
from playwright.sync_api import expect

from tests.acceptance.desk import PATIENCE, PHONE, console_stack

pytestmark = [pytest.mark.acceptance, pytest.mark.browser]


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with console_stack(tmp_path_factory.mktemp("console") / "data") as stack:
        yield stack


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
