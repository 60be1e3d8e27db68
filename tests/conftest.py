"""Starts the servers that the tests need, before Django reads its settings.

TEST_DATABASE chooses the database: `sqlite` (the default) or `postgres`. PostgreSQL is started
once and shared by parallel workers, each with a test database of its own; every worker has its own
broker, so that one test's channel messages never reach another's. Nothing is started when only
unit tests are asked for.
"""

import os

# First of all: whatever imports the site must find the settings for tests.
os.environ["DJANGO_SETTINGS_MODULE"] = "hermes_site.settings.test"

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.services import POSTGRES_URL_VARIABLE, PostgresService, Server, ValkeyService

SERVERLESS = ("unit", "contract")
HERE = Path(__file__).resolve().parent
running: list[Server] = []
scratch: list[Path] = []


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="also run the long repetitions")


def pytest_configure(config):
    if config.getoption("help", default=False):
        return
    # The ordinary run tries the same examples everywhere, so that a change is judged by itself; a
    # full run looks for new ones. No example fails for being slow: the machine may be busy.
    settings.register_profile(
        "ordinary", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.register_profile("full", settings.get_profile("ordinary"), derandomize=False)
    settings.load_profile("full" if config.getoption("full") else "ordinary")
    database = os.environ.get("TEST_DATABASE", "sqlite")
    if database not in {"sqlite", "postgres"}:
        raise pytest.UsageError(f"TEST_DATABASE is sqlite or postgres, not {database}")
    directory = Path(tempfile.mkdtemp(prefix="hermes-test-data-"))
    scratch.append(directory)
    os.environ["HERMES_DATA_DIR"] = str(directory)
    os.environ["DATABASE_URL"] = f"sqlite:///{directory / 'hermes.sqlite3'}"
    if needs_servers(config):
        start_servers(database)
    load_settings(directory)
    if config.getoption("numprocesses", default=None):
        # Workers inherit this environment, and would load the settings before their own broker.
        del os.environ["DJANGO_SETTINGS_MODULE"]


def start_servers(database: str) -> None:
    if database == "postgres":
        if POSTGRES_URL_VARIABLE not in os.environ:
            os.environ[POSTGRES_URL_VARIABLE] = start(PostgresService()).url
        os.environ["DATABASE_URL"] = os.environ[POSTGRES_URL_VARIABLE]
    os.environ["REDIS_URL"] = start(ValkeyService()).url


def start(server):
    running.append(server)
    server.start()
    return server


def load_settings(directory: Path) -> None:
    from django.conf import settings

    default = settings.DATABASES["default"]
    if "sqlite" in default["ENGINE"]:
        # A file, not memory: only a file has the locks that production has.
        default.setdefault("TEST", {})["NAME"] = str(directory / "test.sqlite3")


def needs_servers(config) -> bool:
    """Whether anything but unit tests may run."""
    roots = [HERE / name for name in SERVERLESS]
    places = [Path(argument.partition("::")[0]).resolve() for argument in config.args]
    return not all(any(place.is_relative_to(root) for root in roots) for place in places)


def pytest_unconfigure():
    for server in reversed(running):
        server.close()
    running.clear()
    for directory in scratch:
        shutil.rmtree(directory, ignore_errors=True)
    scratch.clear()


def pytest_collection_modifyitems(config, items):
    if config.getoption("--full"):
        return
    long_ones = [item for item in items if item.get_closest_marker("full")]
    if long_ones:
        config.hook.pytest_deselected(items=long_ones)
        items[:] = [item for item in items if item not in long_ones]


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """A real browser; bin/test installs one where it can."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next((path for path in map(shutil.which, names) if path), None)
    if found is None:
        pytest.skip("no Chromium on this machine; bin/test says how to get it")
    return found


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker):
    """As the plugin's; before PostgreSQL drops the database, nobody may be in it any more.

    Threads that a test of pages started keep their connection for the next request.
    """
    yield
    from django.db import connection

    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


def pytest_report_header():
    return f"database: {os.environ.get('TEST_DATABASE', 'sqlite')}"


@pytest.fixture(autouse=True)
def _language_of_its_own():
    """A page in another language leaves that language behind in its thread; no test inherits it."""
    from django.utils import translation

    translation.deactivate()
    yield
    translation.deactivate()
