"""A service posts its events while the site dies: each is handled once, and told of once."""

import asyncio
import json
import re
import subprocess
import sys
from datetime import UTC, datetime

import aiohttp
import pytest

from gateway.platforms.webhook import samples
from gateway.platforms.webhook.schemes import Kind, Rule
from gateway.platforms.webhook.wire import Sources
from tests.acceptance.stack import PROJECT
from tests.peers.model import Reply
from tests.peers.model.replies import last_user_text
from tests.peers.webhook import Fault, WebhookPeer
from tests.peers.webhook.peer import SECRET
from tests.services import wait_until

pytestmark = [pytest.mark.acceptance, pytest.mark.proves("W1")]
EVENTS = 200
AT_ONCE = 12
RETRY_SECONDS = 0.3


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"HERMES_WEBHOOK_ALLOW_PRIVATE": "1"}


@pytest.fixture
def receiver():
    with WebhookPeer() as peer:
        yield peer


def manage(stack, *arguments: str, given: str = "") -> str:
    """A command of this installation that reads a secret from standard input."""
    result = subprocess.run(
        [sys.executable, str(PROJECT / "manage.py"), *arguments],
        cwd=PROJECT,
        env=stack.command_environment,
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def secret_in(told: str) -> str:
    found = re.search(r"shown this once: (\S+)", told)
    assert found, told
    return found.group(1)


class Service:
    """Whoever posts events, and tries each again until it hears that it was taken."""

    def __init__(self, url: str, secret: str) -> None:
        self.url, self.secret = url, secret
        self.taken: list[tuple[int, str]] = []  # the event, and what was said of it
        self.troubles = 0
        self.is_half_way = asyncio.Event()

    async def post_all(self, at_the_middle) -> None:
        room = asyncio.Semaphore(AT_ONCE)
        async with aiohttp.ClientSession() as session:
            posts = [self._post(session, room, number) for number in range(EVENTS)]
            await asyncio.gather(*posts, self._wait_for_the_middle(at_the_middle))

    async def _wait_for_the_middle(self, at_the_middle) -> None:
        await self.is_half_way.wait()
        await asyncio.to_thread(at_the_middle)

    async def _post(self, session, room, number: int) -> None:
        body = json.dumps({"type": "build.failed", "number": number}).encode()
        async with room:
            while True:
                made = samples.request(
                    Rule(kind=Kind.STANDARD),
                    Sources(),
                    self.secret,
                    body=body,
                    event="",
                    event_id=f"build-{number}",
                    now=datetime.now(UTC),
                )
                try:
                    async with session.post(self.url, data=body, headers=made.headers) as answer:
                        if answer.status in {200, 202}:
                            self.taken.append((number, (await answer.json())["status"]))
                            if len(self.taken) >= EVENTS * 0.4:
                                self.is_half_way.set()
                            return
                except (aiohttp.ClientError, OSError):
                    pass
                self.troubles += 1
                await asyncio.sleep(RETRY_SECONDS)


def test_of_200_events_each_is_handled_once_though_the_site_dies_among_them(
    stack, model, books, receiver, tmp_path
):
    model.script(lambda request: Reply(text=f"Seen: {number_in(last_user_text(request))}"))
    template = tmp_path / "template"
    template.write_text("Build {{ number }} failed.")
    option = f"url={receiver.url}"
    manage(stack, "account", "add", "out", "webhook", "--option", option, given=SECRET)
    told = manage(
        stack,
        *("webhook", "create", "builds", "--to", "out", "--template-file", str(template)),
        *("--option", "per_minute=0"),
    )
    service = Service(f"{stack.url}/hooks/builds", secret_in(told))
    receiver.faults.add(Fault(kind="lost_ack", times=5, every=20))

    asyncio.run(service.post_all(lambda: stack.kill9("web")))

    wanted = {f"Seen: {number}" for number in range(EVENTS)}
    wait_until(lambda: len(receiver.acted_on) >= EVENTS, "all results are out", within=240)
    stack.wait_until_ready()
    assert service.troubles > 0  # it did die in the middle
    assert sorted(receiver.texts()) == sorted(wanted)
    assert {post.outcome for post in receiver.posts} <= {"ok", "again"}
    said = sorted(number_in(call.last_user_text) for call in model.requests if call.outcome == "ok")
    assert said == sorted(str(number) for number in range(EVENTS))  # each ran once
    assert books.value("SELECT count(*) FROM webhooks_receipt") == EVENTS
    turns = "SELECT count(*) FROM gateway_turn WHERE sender_id = 'webhook:builds'"
    assert books.value(turns) == EVENTS
    answered = sorted(int(post.event["data"]["in_reply_to"][6:]) for post in acted(receiver))
    assert answered == list(range(EVENTS))


def acted(receiver: WebhookPeer) -> list:
    return list(receiver.acted_on.values())


def number_in(text: str) -> str:
    found = re.search(r"Build ⟦(\d+)⟧", text)
    return found.group(1) if found else ""


SCHEMES = {
    "standard": (),
    "github": (),
    "gitlab": (),
    "bearer": (),
    "hmac": (),
    "stripes": ("timestamp_from=t=", "signature_prefix=v1=", "signature_header=Stripe-Signature"),
    "base64": ("encoding=base64", "timestamp_from=X-Time"),
    "slack": (),
}


@pytest.mark.parametrize("name", SCHEMES)
def test_the_script_that_staff_are_shown_posts_an_event_from_a_shell(stack, name):
    scheme = name if name in {kind.value for kind in Kind} else "hmac"
    given = "8f742231b10e8888abcd99yyyzzz85a5" if scheme == "slack" else ""
    flags = ["--secret-stdin"] if given else []
    for option in SCHEMES[name]:
        flags += ["--option", option]
    told = manage(stack, "webhook", "create", name, "--scheme", scheme, *flags, given=given)
    secret = given or secret_in(told)
    script = manage(stack, "webhook", "show", name).partition("in SECRET:\n")[2]

    result = subprocess.run(
        ["sh", "-e", "-c", script],
        env={**stack.env, "SECRET": secret},
        capture_output=True,
        text=True,
        check=True,
    )

    expected = "200" if scheme == "slack" else "202"
    assert result.stdout.split()[1] == expected, result.stdout
