import pytest

from gateway.agents.loop import EdgeLoop
from gateway.agents.requests import ModelConfig
from gateway.agents.runtime import AgentRuntime
from tests.peers.model import ModelPeer
from tests.unit.gateway.agents.driving import Caller, config_for, never_wait


@pytest.fixture(scope="session")
def edge():
    loop = EdgeLoop()
    yield loop
    loop.stop()


@pytest.fixture
def demo(edge):
    return Caller(AgentRuntime(ModelConfig(), edge=edge, wait=never_wait))


@pytest.fixture
def peer():
    with ModelPeer() as running:
        yield running


@pytest.fixture
def make_caller(peer, edge):
    made = []

    def make(*, tools=None, wait=never_wait, **config):
        runtime = AgentRuntime(config_for(peer.url, **config), tools=tools, edge=edge, wait=wait)
        made.append(runtime)
        return Caller(runtime)

    yield make
    for runtime in made:
        runtime.disconnect()
