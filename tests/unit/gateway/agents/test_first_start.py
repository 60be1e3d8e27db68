"""The first runs of a process, which find the agent library not yet imported."""

import subprocess
import sys

TOGETHER = """
import sys, threading
sys.setswitchinterval(1e-6)
from gateway.agents.events import Finished
from gateway.agents.requests import ModelConfig, RunRequest
from gateway.agents.runtime import AgentRuntime

runtime, ready, ends = AgentRuntime(ModelConfig()), threading.Barrier(8), []

def first(number):
    ready.wait()
    if number == 0:
        return runtime.warm_up()
    for event in runtime.start(RunRequest(prompt="hello", model="demo")):
        ends.append(type(event) is Finished)

threads = [threading.Thread(target=first, args=(n,), daemon=True) for n in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join(60)
print(sum(ends))
"""


def test_threads_that_import_the_agent_library_together_all_get_their_answer():
    done = subprocess.run(
        [sys.executable, "-c", TOGETHER], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("7", "")
