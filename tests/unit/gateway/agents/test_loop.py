import subprocess
import sys
import threading

import pytest

from gateway.agents.loop import EdgeLoop

LIGHT = ["events", "history", "requests", "tools", "runtime", "sse", "demo_script"]

IMPORT = """
import sys
import gateway.agents.{module}
heavy = {{"pydantic_ai", "openai", "mcp", "django", "celery"}} & set(sys.modules)
sys.exit(", ".join(sorted(heavy)) or 0)
"""

FORK = """
import os
from gateway.agents.requests import ModelConfig, RunRequest
from gateway.agents.runtime import AgentRuntime

runtime = AgentRuntime(ModelConfig())
answer = lambda: [*runtime.start(RunRequest(prompt="hello"))][-1].text.split()[-1]
answer()
child = os.fork()
if not child:
    os._exit(0 if answer() == "you." else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), answer())
runtime.close()
"""


async def name_of_thread():
    return threading.current_thread().name


def test_the_loop_starts_at_first_use_and_stays():
    edge = EdgeLoop(name="edge-of-test")
    first = edge.loop()

    assert edge.submit(name_of_thread()).result(10) == "edge-of-test"
    assert edge.loop() is first
    edge.stop()


def test_a_stopped_loop_starts_again():
    edge = EdgeLoop()
    edge.loop()
    edge.stop()
    edge.stop()

    assert edge.submit(name_of_thread()).result(10) == "agent-edge"
    edge.stop()


def test_a_forked_process_gets_a_loop_of_its_own():
    done = subprocess.run(
        [sys.executable, "-c", FORK], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.split() == ["0", "you."]


@pytest.mark.parametrize("module", LIGHT)
def test_the_light_modules_import_nothing_heavy(module):
    done = subprocess.run(
        [sys.executable, "-c", IMPORT.format(module=module)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.stderr.strip(), done.returncode) == ("", 0)
