"""Driving a peer over HTTP, as a benchmark does from another process."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.peers.control import ControlledModel, ControlledTelegram

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    with httpx.Client(trust_env=False, timeout=30) as client:
        yield client


def test_a_chat_is_driven_and_read(http: httpx.Client) -> None:
    with ControlledTelegram() as peer:
        control, bot = f"{peer.origin}/control", f"{peer.url}/bot{peer.token}"
        http.post(f"{control}/say", json={"text": "hello", "chat": 7, "user": 7})
        button = {"text": "Yes", "callback_data": "y"}
        markup = {"inline_keyboard": [[button]]}
        http.post(f"{bot}/sendMessage", json={"chat_id": 7, "text": "?", "reply_markup": markup})
        pressed = http.post(
            f"{control}/press", json={"chat": 7, "message_id": 2, "button": "Yes", "user": 7}
        )
        shown = http.get(f"{control}/messages", params={"chat": 7}).json()
        calls = http.get(f"{control}/calls", params={"method": "sendMessage"}).json()
        updates = http.get(f"{bot}/getUpdates").json()["result"]

    assert [(m["text"], m["by_bot"]) for m in shown] == [("hello", False), ("?", True)]
    assert [call["outcome"] for call in calls] == ["ok"]
    assert updates[1]["callback_query"]["id"] == pressed.json()["callback_id"]


def test_faults_come_and_go(http: httpx.Client) -> None:
    with ControlledTelegram() as peer:
        me = f"{peer.url}/bot{peer.token}/getMe"
        http.post(f"{peer.origin}/control/faults", json={"kind": "502html"})
        during = http.get(me).status_code
        http.delete(f"{peer.origin}/control/faults")

        assert (during, http.get(me).status_code) == (502, 200)


def test_a_wrong_order_is_explained(http: httpx.Client) -> None:
    with ControlledTelegram() as peer:
        control = f"{peer.origin}/control"

        assert http.post(f"{control}/faults", json={"kind": "gremlins"}).status_code == 400
        assert "POST say" in http.get(f"{control}/dance").json()["error"]


def test_a_models_journal_is_read(http: httpx.Client) -> None:
    with ControlledModel() as peer:
        asked = {"model": "peer", "messages": [{"role": "user", "content": "hello"}]}
        http.post(f"{peer.url}/chat/completions", json=asked)
        journal = http.get(f"{peer.origin}/control/requests").json()

    assert journal["count"] == 1
    assert journal["requests"][0]["said"] == "hello"


@pytest.mark.parametrize("kind", ["telegram", "model"])
def test_a_peer_runs_by_itself_until_it_is_told_to_end(kind: str) -> None:
    command = [sys.executable, "-m", "tests.peers", kind]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)

    assert first.startswith(f"{kind} peer on http://127.0.0.1:")
    assert process.returncode == 0
