"""Buttons in Telegram, from the person's side: ticked, stepped through, and after a power cut."""

import pytest

from tests.acceptance.books import Books
from tests.acceptance.people import Person

pytestmark = pytest.mark.acceptance
AT_ONCE = 5  # seconds
SLOTS = 2  # turns that may run at once in this installation
APPROVE = "✅ Approve once"


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"HERMES_MODEL": "demo", "HERMES_MAX_CONCURRENT_SESSIONS": str(SLOTS)}


@pytest.fixture
def owner(stack, person) -> Person:
    """Somebody on the allowlist, who may approve what the agent wants to do for them."""
    stack.manage("allow", "add", "telegram", person.id)
    return person


def with_label(person: Person, label: str):
    """Wait until a message with such a button is shown; the latest."""
    person.sees(lambda shown: label in shown.labels)
    return [shown for shown in person.seen if label in shown.labels][-1]


def tap(person: Person, button: str) -> str:
    """Press a button that is on the screen, once it is there; what the person reads of it."""
    message = with_label(person, button)
    callback = person.telegram.press(person.id, message.message_id, button, person.id)
    telegram = person.telegram
    return telegram.wait_for(lambda: telegram.answers_to(callback), AT_ONCE)[0].text


def asking(person: Person) -> list[int]:
    """The messages that have ever had buttons, told by those that have some now."""
    return [shown.message_id for shown in person.seen if shown.buttons]


@pytest.mark.proves("Q14", "Q5")
def test_several_answers_are_ticked_and_submitted_on_one_message(person, books, telegram):
    person.says("multi")
    first = person.sees_buttons()
    assert first.labels == (
        "☐ Cheese",
        "☐ Mushrooms",
        "☐ Olives",
        "☐ Chili",
        "Submit",
        "Other…",
        "Skip",
    )

    tap(person, "☐ Olives")
    tap(person, "☐ Cheese")
    tap(person, "☐ Chili")
    tap(person, "☑ Olives")  # off again
    assert with_label(person, "Submit (2)").message_id == first.message_id
    tap(person, "Submit (2)")

    result = person.sees("You answered:", within=AT_ONCE)
    assert "toppings: Cheese, Chili" in result.text
    books.wait_until_settled(telegram)
    closed = [shown for shown in person.seen if shown.message_id == first.message_id]
    assert [(shown.edited, shown.buttons) for shown in closed] == [(True, ())]
    assert "Cheese, Chili" in closed[0].text
    assert asking(person) == []


@pytest.mark.proves("Q13", "Q14")
def test_three_questions_are_stepped_through_back_and_forth_with_own_words(person, books, telegram):
    person.says("ask 3")
    shown = with_label(person, "Production").message_id

    tap(person, "Production")
    assert with_label(person, "‹ Back").message_id == shown
    tap(person, "‹ Back")
    tap(person, "Staging (Recommended)")
    tap(person, "☐ Load test")
    tap(person, "Submit (1)")
    with_label(person, "Tonight")
    tap(person, "Other…")
    invitation = person.sees(lambda one: one.force_reply, within=AT_ONCE)
    person.says("after the football match", reply_to=invitation.message_id)

    result = person.sees("You answered:", within=AT_ONCE).text
    assert "target: Staging (Recommended)" in result
    assert "checks: Load test" in result
    assert "when: after the football match" in result
    books.wait_until_settled(telegram)
    assert asking(person) == []
    assert len([text for text in person.texts if text.startswith("You answered:")]) == 1


@pytest.mark.proves("Q6")
def test_what_the_agent_says_meanwhile_never_touches_the_question(person, books, telegram):
    """B021: the question is a message of its own, whatever streams before and after it."""
    person.says("ask 2")
    shown = with_label(person, "Production")
    others = [one for one in person.seen if one.message_id != shown.message_id]

    assert "Where shall we deploy?" in shown.text
    assert all("Where shall we deploy?" not in one.text for one in others)
    books.wait_until_settled(telegram)
    (now,) = [one for one in person.seen if one.message_id == shown.message_id]
    assert now == shown


@pytest.mark.proves("Q2", "Q19")
def test_an_approval_outlives_a_power_cut_and_its_tool_runs_once(stack, owner, books, telegram):
    owner.says("approve old-release")
    shown = with_label(owner, APPROVE)
    assert "old-release" in shown.text
    books.wait_until_settled(telegram)

    stack.kill9_all()
    stack.start()
    assert tap(owner, APPROVE) == "Approved"

    owner.sees("Pretended to delete old-release", within=30)
    books.wait_until_settled(telegram)
    results = [text for text in owner.texts if "Pretended to delete" in text]
    (closed,) = [one for one in owner.seen if one.message_id == shown.message_id]
    assert len(results) == 1
    assert closed.buttons == ()
    assert "Approved by" in closed.text
    assert approvals_of(books, owner) == [("answered", "done")]


@pytest.mark.proves("Q19")
def test_an_approval_is_taken_at_once_while_every_worker_is_busy(
    stack, owner, books, telegram, somebody
):
    owner.says("approve old-release")
    shown = with_label(owner, APPROVE)
    books.wait_until_settled(telegram)
    busy = [somebody() for _ in range(SLOTS)]
    for person in busy:
        person.says("slow 300")
        person.sees("I count slowly", within=30)

    owner.says("/approve")

    owner.sees("Approved", within=AT_ONCE)
    closed = owner.sees(lambda one: one.message_id == shown.message_id and not one.buttons)
    assert "Approved by" in closed.text
    assert approvals_of(books, owner) == [("answered", "permitted")]
    assert not [text for text in owner.texts if "Pretended to delete" in text]
    for person in busy:
        person.says("/stop")
    owner.sees("Pretended to delete old-release", within=30)
    assert approvals_of(books, owner) == [("answered", "done")]


@pytest.mark.proves("Q14")
def test_a_press_is_acknowledged_in_time_while_every_worker_is_busy(
    person, books, telegram, somebody
):
    person.says("clarify")
    with_label(person, "Production")
    books.wait_until_settled(telegram)
    busy = [somebody() for _ in range(SLOTS)]
    for other in busy:
        other.says("slow 300")
        other.sees("I count slowly", within=30)

    assert "Production" in tap(person, "Production")  # within five seconds

    for other in busy:
        other.says("/stop")
    person.sees("You answered: Production", within=30)


def approvals_of(books: Books, person: Person) -> list[tuple[str, str]]:
    """The approvals a person was asked for, and the calls that waited for them."""
    return books.rows(
        "SELECT p.state, c.state FROM clarify_prompt p JOIN gateway_toolcall c"
        " ON c.call_id = p.call_id AND CAST(c.turn_id AS varchar(64)) = p.correlation"
        " WHERE p.kind = 'approval' AND p.asker_id = ?",
        str(person.id),
    )
