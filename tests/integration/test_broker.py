"""The queue is a hint: what a worker was given is in its hands only, and costs no list."""

import pytest
from django.conf import settings
from kombu import Connection, Queue
from redis import Redis

from tests.services import ValkeyService

TURNS = Queue("turns")


@pytest.fixture(scope="module")
def valkey():
    with ValkeyService() as running:
        yield running


@pytest.fixture
def connect(valkey):
    with Redis.from_url(valkey.url) as client:
        client.flushall()

    def make() -> Connection:
        options = settings.CELERY_BROKER_TRANSPORT_OPTIONS
        return Connection(
            valkey.url, transport="hermes_site.broker:Transport", transport_options=options
        )

    return make


def keys(valkey):
    with Redis.from_url(valkey.url) as client:
        return {key for key in client.scan_iter() if not key.startswith(b"_kombu.binding")}


def give(connection, *bodies):
    producer = connection.Producer()
    for body in bodies:
        producer.publish(body, routing_key="turns", declare=[TURNS])


def test_what_was_given_out_is_not_kept_in_the_broker(valkey, connect):
    with connect() as connection:
        give(connection, {"conversation": 1})
        message = connection.SimpleQueue(TURNS).get(timeout=5)

        assert message.payload == {"conversation": 1}
        assert keys(valkey) == set()
        message.ack()

    assert keys(valkey) == set()


def test_what_a_worker_has_not_done_when_it_ends_is_not_put_back(valkey, connect):
    with connect() as connection:
        give(connection, {"conversation": 1}, {"conversation": 2})
        connection.SimpleQueue(TURNS).get(timeout=5)

    with connect() as connection:
        left = connection.SimpleQueue(TURNS).get(timeout=5)

    assert left.payload == {"conversation": 2}
    assert keys(valkey) == set()
