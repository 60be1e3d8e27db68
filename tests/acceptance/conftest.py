import pytest

from tests.acceptance.stack import Stack


@pytest.fixture(params=["sqlite", "postgres"])
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
