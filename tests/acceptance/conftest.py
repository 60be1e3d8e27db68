from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import sync_playwright

from tests.acceptance.books import Books
from tests.acceptance.desk import FLAGS, PEOPLE, Desk
from tests.acceptance.people import Person
from tests.acceptance.stack import Stack
from tests.peers.model import ModelPeer, by_keyword
from tests.peers.telegram import TelegramPeer


@pytest.fixture(params=["sqlite", "postgres"], scope="module")
def stack_db(request) -> str:
    """Both ways to run an installation: all embedded, and with servers of its own."""
    return request.param


@pytest.fixture
def make_stack(tmp_path, stack_db):
    """A function that starts an installation; all of them are ended after the test."""
    stacks = []

    def make(env=None, **changes):
        name = f"data{len(stacks)}"
        stack = Stack(tmp_path / name, env, **{"db": stack_db, **changes})
        stacks.append(stack)
        stack.start()
        return stack

    yield make
    for stack in stacks:
        stack.close()


# --- one installation for all tests of a module; each test has people of its own ------------------


@pytest.fixture(scope="module")
def telegram(stack_db) -> Iterator[TelegramPeer]:
    with TelegramPeer() as peer:
        yield peer


@pytest.fixture(scope="module")
def model(stack_db) -> Iterator[ModelPeer]:
    with ModelPeer(script=by_keyword) as peer:
        yield peer


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    """What else stands in the environment of the installation; a module may say otherwise."""
    return {}


@pytest.fixture(scope="module")
def arguments() -> tuple[str, ...]:
    """More arguments of `manage.py up`; a module may say otherwise."""
    return ()


@pytest.fixture(scope="module")
def stack(tmp_path_factory, stack_db, telegram, model, environment, arguments) -> Iterator[Stack]:
    """An installation on Telegram whose agent is the model peer; everybody may speak to it."""
    env = {
        "TELEGRAM_BOT_TOKEN": telegram.token,
        "TELEGRAM_API_BASE_URL": telegram.url,
        "TELEGRAM_ALLOW_ALL_USERS": "1",
        "OPENAI_BASE_URL": model.url,
        "OPENAI_API_KEY": "nothing",
        "HERMES_MODEL": "peer",
        **environment,
    }
    data_dir = tmp_path_factory.mktemp("installation") / "data"
    with Stack(data_dir, env, db=stack_db, arguments=arguments) as running:
        yield running


@pytest.fixture(params=[1, *(pytest.param(n, marks=pytest.mark.full) for n in range(2, 6))])
def time(request) -> int:
    """Which time it is: once in an ordinary run, five times in a full one."""
    return request.param


@pytest.fixture
def books(stack) -> Books:
    return Books(stack)


@pytest.fixture
def somebody(telegram) -> Callable[[], Person]:
    """A function that gives a person nobody has heard of before."""
    return lambda: Person(telegram)


@pytest.fixture
def person(somebody) -> Person:
    return somebody()


# --- people at browsers, for modules whose installation has people who may log in -----------------


@pytest.fixture(scope="module")
def chromium(chromium_path):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def names() -> Iterator[str]:
    return iter(f"person{number}" for number in range(PEOPLE))


@pytest.fixture
def sit_down(stack, chromium, names):
    """A function that seats a new person at a new browser; nothing may complain in the end."""
    desks = []

    def seat(name=None, **options) -> Desk:
        desk = Desk(chromium, stack.url, name or next(names), **options)
        desks.append(desk)
        return desk

    yield seat
    complaints = [line for desk in desks for line in desk.complaints]
    for desk in desks:
        desk.context.close()
    assert complaints == []


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """A failure shows what the processes had to say."""
    report = (yield).get_result()
    running = getattr(item, "funcargs", {}).get("stack")
    if report.failed and running is not None:
        for name in ("gateway", "worker", "web", "supervisor"):
            report.sections.append((f"log of {name}", running.logs(name)[-4000:]))
