"""Nothing goes out that the ledger does not know: there are three ways, and each asks it first.

The other half is in the integration tests: their transport asks the ledger about each call it gets
(`FakeTransport.knows`).
"""

import ast
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
WAYS_OUT = {
    "delivery/calling.py": {"send", "edit"},  # what is owed, after it was claimed
    "delivery/previews.py": {"send", "edit"},  # what may be lost, after it was noted
    "delivery/replacing.py": {"edit"},  # a noted preview, once its answer is there
}
SENDS = {"send", "edit", "send_file", "send_media"}
OTHER_SENDS = {
    "gateway/agents/tap.py",  # an HTTP client's, in front of a model
    "gateway/console/consumers.py",  # a WebSocket's
    "gateway/media/sending.py",  # itself a transport, made of the account's own
}


def sending_calls(path: Path) -> set[str]:
    """The awaited calls in a file that would send something."""
    awaited = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Await)]
    calls = [node.value for node in awaited if isinstance(node.value, ast.Call)]
    return {
        call.func.attr
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr in SENDS
    }


@pytest.mark.proves("D3")
def test_a_platform_is_sent_to_from_three_places_alone() -> None:
    found = {}
    for app in ("hermes_site", "gateway", "clarify", "delivery"):
        for path in sorted((PROJECT / app).rglob("*.py")):
            name = path.relative_to(PROJECT).as_posix()
            if not name.startswith("gateway/platforms/") and (calls := sending_calls(path)):
                found[name] = calls

    assert {name: calls for name, calls in found.items() if name not in OTHER_SENDS} == WAYS_OUT


@pytest.mark.proves("D3")
def test_only_the_outbox_is_handed_the_transport() -> None:
    service = (PROJECT / "gateway/runner/service.py").read_text()
    assert "self.adapter.send" not in service
    assert "self.adapter.edit" not in service
