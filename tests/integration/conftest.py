"""What the tests of the core share."""

from pathlib import Path

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.database import DatabaseThread


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def database():
    thread = DatabaseThread()
    yield thread
    thread.close()


@pytest.fixture
def desk(transactional_db, database, clock):
    from tests.integration.desk import Desk

    return Desk(database, clock)


@pytest.fixture
def place(tmp_path, settings) -> Path:
    """Where files are kept (`media`) and where agents find them (`rooms`)."""
    media = settings.GATEWAY["MEDIA"] | {"DIRECTORY": str(tmp_path / "media")}
    rooms = {"WORKSPACES": str(tmp_path / "rooms")}
    settings.GATEWAY = settings.GATEWAY | {"MEDIA": media} | rooms
    return tmp_path


@pytest.fixture
def ada(transactional_db):
    """Somebody who is logged in at the Control UI."""
    from tests.integration.viewing import make_user

    return make_user("ada")


@pytest.fixture
def bob(transactional_db):
    """Somebody else who is logged in at the Control UI."""
    from tests.integration.viewing import make_user

    return make_user("bob")


@pytest.fixture
def boss(transactional_db):
    """Staff who may do everything there."""
    from tests.factories import make_staff
    from tests.integration.viewing import viewer_of

    return viewer_of(make_staff())
