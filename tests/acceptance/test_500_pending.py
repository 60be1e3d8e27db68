"""Five hundred people are asked something and take their time; the next one is served at once."""

import pytest

pytestmark = pytest.mark.acceptance
PENDING = 500


@pytest.mark.proves("Q3", "T11")
def test_five_hundred_open_questions_hold_nobody_up(stack, telegram, model, books, somebody):
    people = [somebody() for _ in range(PENDING)]
    for person in people:
        person.says("ask: Tea or coffee? | Tea | Coffee")
    for person in people:
        person.sees("Tea or coffee?", within=120)
    books.wait_until_settled(telegram)

    newcomer = somebody()
    newcomer.says("hello")
    newcomer.sees("You said: hello", within=5)

    assert books.value("SELECT count(*) FROM clarify_prompt WHERE state = 'pending'") == PENDING
    assert books.value("SELECT count(*) FROM gateway_turn WHERE state = 'waiting'") == PENDING
    assert books.value("SELECT count(*) FROM gateway_turn WHERE owner <> ''") == 0
    assert model.in_flight == 0

    first, middle, last = people[0], people[PENDING // 2], people[-1]
    first.says("coffee")
    middle.presses(middle.sees_buttons(), "Tea")
    last.says("2")
    assert "Coffee" in first.sees("Result:", within=5).text
    assert "Tea" in middle.sees("Result:", within=5).text
    assert "Coffee" in last.sees("Result:", within=5).text
