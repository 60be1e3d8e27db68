"""What the tests of the core share."""

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
