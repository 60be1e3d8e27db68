"""[Q17]: answers that are given while the connection is away are neither lost nor doubled."""

import json

import pytest
from playwright.sync_api import expect

from tests.acceptance.desk import PATIENCE, console_stack

pytestmark = [pytest.mark.acceptance, pytest.mark.browser]


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with console_stack(tmp_path_factory.mktemp("offline") / "data") as stack:
        yield stack


def cut(desk):
    """Take the network away from everything this person has open."""
    desk.context.set_offline(True)
    desk.page.evaluate("hermes.connection.drop()")
    desk.until_connection(is_open=False)


def mend(desk):
    desk.context.set_offline(False)
    desk.until_connection(is_open=True)


def answer(desk, name):
    desk.panel.get_by_role("radio", name=name).click()
    desk.panel.get_by_role("button", name="Send answer").click()


def expect_one_answer(desk, words):
    expect(desk.panel).to_have_count(0, timeout=PATIENCE)
    expect(desk.page.locator(".summary .given")).to_have_text([words])
    expect(desk.told(f"You answered: {words}")).to_have_count(1)
    expect(desk.page.locator("#composer-note")).to_be_empty()
    desk.page.reload()
    desk.connected()
    expect(desk.told("You answered:")).to_have_count(1)
    expect(desk.page.locator(".entry.prompt")).to_have_count(1)


@pytest.mark.proves("Q17")
def test_an_answer_given_offline_is_sent_once_when_the_network_is_back(sit_down):
    desk = sit_down()
    desk.say("clarify")
    expect(desk.panel).to_be_visible()
    cut(desk)
    answer(desk, "Production")
    expect(desk.panel.get_by_role("alert")).to_contain_text("Your answer is kept and is sent")
    mend(desk)
    expect_one_answer(desk, "Production")


@pytest.mark.proves("Q17")
def test_an_answer_given_offline_outlives_the_reload_of_its_page(sit_down, stack):
    desk = sit_down()
    desk.say("clarify")
    expect(desk.panel).to_be_visible()
    cut(desk)
    answer(desk, "Both")
    expect(desk.panel.get_by_role("alert")).to_be_visible()
    desk.context.set_offline(False)
    desk.page.reload()
    desk.connected()
    expect_one_answer(desk, "Both")


@pytest.mark.proves("Q17")
def test_an_answer_that_is_changed_while_offline_waits_for_being_sent_again(sit_down):
    desk = sit_down()
    desk.say("clarify")
    expect(desk.panel).to_be_visible()
    cut(desk)
    answer(desk, "Production")
    expect(desk.panel.get_by_role("alert")).to_be_visible()
    desk.panel.get_by_role("radio", name="Staging").click()
    expect(desk.panel.get_by_role("alert")).to_have_count(0)
    mend(desk)
    desk.connected()
    expect(desk.panel.get_by_role("radio", name="Staging")).to_be_checked()
    desk.panel.get_by_role("button", name="Send answer").click()
    expect_one_answer(desk, "Staging (Recommended)")


@pytest.mark.proves("Q17")
def test_an_answer_whose_acknowledgement_is_lost_counts_once(sit_down):
    desk = sit_down()
    lost = []

    def connect(page_side):
        server = page_side.connect_to_server()
        pending = []

        def from_page(text):
            request = json.loads(text)
            if request["type"] == "answer" and not lost:
                pending.append(request["id"])
            server.send(text)

        def from_server(text):
            if pending and json.loads(text).get("re") in pending:
                lost.append(text)
                pending.clear()
                page_side.close()
            elif not pending:
                page_side.send(text)

        page_side.on_message(from_page)
        server.on_message(from_server)

    desk.page.route_web_socket("**/ws/console/", connect)
    desk.page.reload()
    desk.connected()
    desk.say("clarify")
    expect(desk.panel).to_be_visible()
    answer(desk, "Both")
    expect_one_answer(desk, "Both")
    assert len(lost) == 1


@pytest.mark.proves("Q17")
def test_whoever_answered_offline_and_too_late_is_told_so(sit_down):
    desk = sit_down()
    desk.say("clarify")
    expect(desk.panel).to_be_visible()
    elsewhere = sit_down(desk.name)
    expect(elsewhere.panel).to_be_visible()
    cut(desk)
    answer(desk, "Production")
    expect(desk.panel.get_by_role("alert")).to_be_visible()
    answer(elsewhere, "Both")
    expect(elsewhere.panel).to_have_count(0)
    mend(desk)
    expect(desk.panel).to_have_count(0)
    expect(desk.page.locator("#composer-note")).to_contain_text("came too late")
    expect(desk.page.locator(".summary .given")).to_have_text(["Both"])
    desk.page.fill("#composer-text", "All right")
    expect(desk.page.locator("#composer-note")).to_be_empty()


@pytest.mark.proves("Q17")
def test_what_is_skipped_offline_is_skipped_once_the_network_is_back(sit_down):
    desk = sit_down()
    desk.say("clarify")
    expect(desk.panel).to_be_visible()
    cut(desk)
    desk.panel.get_by_role("button", name="Skip").click()
    mend(desk)
    expect(desk.page.locator(".summary")).to_contain_text("Skipped")


def test_what_is_typed_before_the_page_is_connected_waits_in_the_composer(sit_down):
    desk = sit_down()
    connections = []

    def connect(page_side):
        connections.append(page_side)
        if len(connections) > 1:  # the first one is open and says nothing
            page_side.connect_to_server()

    desk.page.route_web_socket("**/ws/console/", connect)
    desk.page.reload()
    written = desk.page.locator("#composer-text")
    written.fill("typed at once")
    written.press("Enter")
    expect(written).to_have_value("typed at once")
    connections[0].close()
    desk.connected()
    expect(written).to_have_value("typed at once")
    written.press("Enter")
    expect(desk.page.locator(".said .bubble")).to_have_text("typed at once")
    expect(written).to_have_value("")
