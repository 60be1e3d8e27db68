from collections.abc import Callable, Iterator

import pytest

from tests.acceptance.books import Books
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


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """A failure shows what the processes had to say."""
    report = (yield).get_result()
    running = getattr(item, "funcargs", {}).get("stack")
    if report.failed and running is not None:
        for name in ("gateway", "worker", "web", "supervisor"):
            report.sections.append((f"log of {name}", running.logs(name)[-4000:]))
