"""Run one peer by itself: `python -m tests.peers telegram --port 8081`.

For benchmarks, which want it in another process, and for trying the gateway without an account
anywhere. How to drive it is told in `tests/peers/control.py`, and printed at the start.
"""

import argparse
import signal
import sys
import threading

from tests.peers.control import ControlledModel, ControlledSlack, ControlledTelegram
from tests.peers.model.scripts import by_keyword, echo
from tests.peers.slack import DM, PERSON
from tests.peers.telegram.peer import TOKEN

_SCRIPTS = {"keywords": by_keyword, "echo": echo}


def main(arguments: list[str]) -> int:
    """Run until SIGINT or SIGTERM."""
    options = _parser().parse_args(arguments)
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    peer: ControlledTelegram | ControlledSlack | ControlledModel
    if options.kind == "telegram":
        peer = ControlledTelegram(options.port, token=options.token)
    elif options.kind == "slack":
        peer = ControlledSlack(options.port)
    else:
        peer = ControlledModel(options.port, script=_SCRIPTS[options.script])
    with peer:
        print(f"{options.kind} peer on {peer.url}", flush=True)
        for line in _hints(options, peer):
            print(line, flush=True)
        over.wait()
    return 0


def _slack_hints(peer: ControlledSlack) -> list[str]:
    here = f"{peer.origin}/control"
    tokens = f"SLACK_BOT_TOKEN={peer.token} SLACK_APP_TOKEN={peer.app_token}"
    body = f'{{"text": "hello", "chat": "{DM}"}}'
    return [
        f"SLACK_API_BASE_URL={peer.url} {tokens} SLACK_ALLOWED_USERS={PERSON}",
        f"say something:  curl -s {here}/say -d '{body}'",
        f"read the chat:  curl -s '{here}/messages?chat={DM}'",
    ]


def _hints(
    options: argparse.Namespace, peer: "ControlledTelegram | ControlledSlack | ControlledModel"
) -> list[str]:
    if isinstance(peer, ControlledModel):
        return [f"OPENAI_BASE_URL={peer.url} OPENAI_API_KEY=any HERMES_MODEL=openai-chat:peer"]
    if isinstance(peer, ControlledSlack):
        return _slack_hints(peer)
    here = f"{peer.origin}/control"
    fault = '{"kind": "lost_ack", "method": "sendMessage", "times": 1}'
    body = '{"text": "hello", "chat": 1001}'
    button = '{"chat": 1001, "message_id": 5, "button": "Production"}'
    return [
        f"TELEGRAM_API_BASE_URL={peer.url} TELEGRAM_BOT_TOKEN={options.token}",
        f"say something:  curl -s {here}/say -d '{body}'",
        f"read the chat:  curl -s '{here}/messages?chat=1001'",
        f"press a button: curl -s {here}/press -d '{button}'",
        f"make it fail:   curl -s {here}/faults -d '{fault}'",
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.peers", description=__doc__)
    parser.add_argument("kind", choices=["telegram", "slack", "model"])
    parser.add_argument("--port", type=int, default=0, help="0 takes any free one (default)")
    parser.add_argument("--token", default=TOKEN, help="telegram: the bot's token")
    parser.add_argument(
        "--script", choices=sorted(_SCRIPTS), default="keywords", help="model: what it answers"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
