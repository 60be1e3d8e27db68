"""[Q16], [Q19]: which tools a turn is offered."""

import pytest

from gateway import instructions
from tests.factories import make_turn

pytestmark = pytest.mark.django_db


def test_a_dangerous_tool_is_offered_because_an_approval_can_be_asked_for() -> None:
    assert "pretend_delete" in instructions.tools_for(make_turn())


def test_the_shell_is_offered_where_it_is_switched_on(settings) -> None:
    turn = make_turn()
    assert "shell" not in instructions.tools_for(turn)

    settings.GATEWAY = {**settings.GATEWAY, "SHELL_TOOL": True}

    assert "shell" in instructions.tools_for(turn)
