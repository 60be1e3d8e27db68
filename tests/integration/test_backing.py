"""Whether the database and the broker serve: the same words for pages, doctor and bin/up."""

import os
import socket
from types import SimpleNamespace

import pytest

from gateway import backing
from tests.services import ValkeyService

PASSWORD = "pa55"


class PostgresAt:
    """A connection of Django's to a PostgreSQL at a place of our choice."""

    vendor = "postgresql"

    def __init__(self, port: int) -> None:
        from django.db.backends.postgresql import base

        self.Database = base.Database
        self._port = port

    def get_connection_params(self) -> dict[str, object]:
        here = {"host": "127.0.0.1", "port": self._port, "dbname": "x"}
        return {**here, "user": "u", "password": PASSWORD, "pool": {"timeout": 20}}


def test_a_postgresql_that_is_not_there_is_named_without_the_password():
    said = backing.refusal_of(PostgresAt(1))

    assert said.startswith("PostgreSQL at 127.0.0.1:1 does not let us in: Connection refused")
    assert PASSWORD not in said
    assert "\n" not in said


def test_a_postgresql_that_takes_a_connection_and_says_nothing_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]

        assert backing.refusal_of(PostgresAt(port)).startswith(f"PostgreSQL at 127.0.0.1:{port} ")


@pytest.mark.django_db
def test_the_database_of_the_tests_answers_and_is_up_to_date():
    assert backing.database_refusal() == ""
    assert backing.missing_migrations() == 0


def test_a_sqlite_file_is_always_there():
    assert backing.refusal_of(SimpleNamespace(vendor="sqlite")) == ""


def test_a_broker_that_answers_is_not_refused():
    assert backing.broker_refusal(os.environ["REDIS_URL"]) == ""


@pytest.mark.parametrize(
    "url", [f"redis://:{PASSWORD}@127.0.0.1:1/0", "unix:///nonexistent/x.sock"]
)
def test_a_broker_that_is_not_there_is_named_without_the_password(url):
    said = backing.broker_refusal(url)

    assert said.startswith("the broker at ")
    assert PASSWORD not in said


def test_a_broker_that_died_is_noticed_and_one_that_is_back_is_too():
    with ValkeyService() as broker:
        broker.kill9()
        assert "does not answer" in backing.broker_refusal(broker.url)

        broker.start()
        assert backing.broker_refusal(broker.url) == ""
