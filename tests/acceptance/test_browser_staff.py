"""[Q21]: staff find what is stuck and put it right with clicks, in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from tests.acceptance.desk import BOSS, PASSWORD, PATIENCE, PHONE

pytestmark = [pytest.mark.acceptance, pytest.mark.browser, pytest.mark.proves("Q21")]

QUESTION = "Where shall we deploy?"
SCREENS = {
    "desktop": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "phone, dark": {**PHONE, "color_scheme": "dark"},
}


@pytest.fixture(scope="module")
def stack_db() -> str:
    return "sqlite"


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"HERMES_MODEL": "demo"}


@pytest.fixture(scope="module")
def boss(stack) -> str:
    stack.manage(
        "shell",
        "-c",
        "from django.contrib.auth.models import User\n"
        f"User.objects.create_superuser({BOSS!r}, password={PASSWORD!r})",
    )
    return BOSS


@pytest.fixture(params=SCREENS.values(), ids=SCREENS)
def page(request, stack, boss, chromium):
    """The first page of the admin, with somebody logged in; the browser complains of nothing."""
    context = chromium.new_context(**request.param)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda said: complaints.append(said.text) if said.type == "error" else None,
    )
    page.goto(f"{stack.url}/admin/")
    page.fill("[name=username]", boss)
    page.fill("[name=password]", PASSWORD)
    page.press("[name=password]", "Enter")
    page.wait_for_selector("#staff-board")
    yield page
    context.close()
    assert complaints == []


@pytest.fixture
def owner(stack, person):
    """Somebody on the allowlist, who may approve what the agent wants to do for them."""
    stack.manage("allow", "add", "telegram", person.id, "--note", "Ada")
    return person


def fits(page) -> bool:
    """Whether nothing stands over the edge of the screen."""
    return page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


def deed(page, name: str) -> None:
    page.get_by_role("button", name=name).click()


def number_of(page) -> int:
    return int(re.search(r"/(\d+)/change/", page.url)[1])


def test_a_stuck_question_is_found_answered_on_behalf_and_the_run_goes_on(page, person):
    person.says("clarify")
    person.sees_buttons()
    person.says("7")
    person.sees("There is no option 7")

    page.goto(page.url)
    page.locator("#staff-board a", has_text=QUESTION).first.click()
    content = page.locator("#content")
    expect(content).to_contain_text("The last reply was not taken as an answer: There is no option")
    expect(page.locator(".fieldBox.field-heard")).to_contain_text(
        "was about a question, but did not answer"
    )
    assert fits(page)
    here = page.url

    deed(page, "Answer on behalf…")
    page.fill("[name=text]", "the second, please")
    page.locator("input[type=submit]").last.click()
    expect(page.locator(".staff-foreseen")).to_contain_text(f"{QUESTION} Production")
    assert fits(page)
    page.get_by_role("button", name="Give this answer").click()

    expect(page.locator(".messagelist")).to_contain_text("Answered: Production")
    assert page.url == here
    person.sees("You answered: Production. Thank you!")


def test_an_operation_is_denied_with_a_reason_that_reaches_the_agent(page, owner):
    owner.says("approve")
    owner.sees_buttons()

    page.goto(page.url)
    page.get_by_role("link", name="All open questions and approvals").click()
    page.locator("#result_list tbody th a").first.click()
    expect(page.locator("#content")).to_contain_text("build/old-release.tar.gz")
    expect(page.locator(".field-deciders")).to_contain_text("for whom it is asked")
    deed(page, "Deny…")
    page.fill("[name=reason]", "not on a Friday")
    page.get_by_role("button", name="Deny", exact=True).click()

    expect(page.locator("#content")).to_contain_text(f"Denied by {BOSS}: not on a Friday")
    owner.sees("It was not approved: not on a Friday. I leave it alone.")


def test_a_lasting_approval_is_revoked_and_the_next_operation_is_asked_for_again(page, owner):
    owner.says("approve a/file")
    owner.sees_buttons()
    owner.says("/approve session")
    owner.sees("Approved for this session")
    owner.says("approve a/file")
    owner.sees(lambda shown: "a/file" in shown.text and not shown.buttons)

    page.goto(page.url)
    page.get_by_role("link", name="Lasting approvals").first.click()
    page.locator("#result_list tbody th a").first.click()
    expect(page.locator(".field-standing")).to_contain_text("until")
    deed(page, "Revoke…")
    page.get_by_role("button", name="Yes, I’m sure").click()
    expect(page.locator(".field-standing")).to_contain_text(f"revoked by {BOSS}")

    count = len(owner.texts)
    owner.says("approve a/file")
    owner.sees(lambda shown: shown.buttons and len(owner.texts) > count)
