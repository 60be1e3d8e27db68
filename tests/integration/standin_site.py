"""An installation of stand-ins, run by the real supervisor.

    python -m tests.integration.standin_site --data-dir D --port P [...]

Each stand-in writes its name to `<data dir>/ended` when it is asked to stop, so that a test can
read the order. STANDIN_BROKEN names one that ends at once; STANDIN_DEAF one that ignores SIGTERM;
STANDIN_BROKER puts the real embedded broker below them; STANDIN_EXAMINED has the environment looked
at first, for real; STANDIN_QUIET lets them say nothing; STANDIN_SLOW lets the site never be ready;
STANDIN_PREPARATION is printed by a preparation that fails.
"""

import os
import sys
from functools import partial
from pathlib import Path

from hermes_site.supervisor import plan as real
from hermes_site.supervisor.checks import refuse_an_unfit_environment as real_examiner
from hermes_site.supervisor.main import main
from hermes_site.supervisor.probes import site_is_ready
from hermes_site.supervisor.services import Plan, Service

PROJECT = Path(__file__).resolve().parent.parent.parent
STANDIN = """
import os, signal, sys, threading, http.server
name, ended, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
def say(*words):
    if not os.environ.get("STANDIN_QUIET"):
        print("2026-01-01T00:00:00", *words, flush=True)
done = threading.Event()
def stop(number, frame):
    if os.environ.get("STANDIN_DEAF") == name:
        return
    with open(ended, "a") as file:
        file.write(name + "\\n")
    done.set()
signal.signal(signal.SIGTERM, stop)
say("WARNING stand-in: hello from", name)
if os.environ.get("STANDIN_BROKEN") == name:
    say("ERROR stand-in: cannot work")
    if os.environ.get("STANDIN_QUIET"):
        threading.Event().wait()
    sys.exit(3)
class Ready(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        broken = os.environ.get("STANDIN_BROKEN") or os.environ.get("STANDIN_SLOW")
        body = b"{}" if not broken else (
            '{"parts": {"%s": "no beat seen", "database": "ok"}}' % broken).encode()
        self.send_response(503 if broken else 200)
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *arguments):
        pass
if name == "web":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Ready)
    threading.Thread(target=server.serve_forever, daemon=True).start()
done.wait()
"""


def standin(name, ended, port, **changes):
    command = (sys.executable, "-c", STANDIN, name, str(ended), str(port))
    return Service(**{"name": name, "command": command, "grace_seconds": 5.0, **changes})


def preparation():
    said = os.environ.get("STANDIN_PREPARATION")
    program = "import sys; print(sys.argv[1]); sys.exit('Traceback\\n  line\\nlast words')"
    return (sys.executable, "-c", program, said) if said else ()


def plan_of_standins(options, home, environment, *, port):
    ended = home.root / "ended"

    async def is_up():
        return (home.logs / "base.log").exists()

    return Plan(
        url=f"http://127.0.0.1:{port}",
        directory=PROJECT,
        environment={**environment, "PYTHONUNBUFFERED": "1"},
        facts={"port": port},
        data_plane=(standin("base", ended, port, answers=is_up),),
        preparation=preparation(),
        apps=tuple(
            standin(name, ended, port, grace_seconds=1.0 if name == "beat" else 5.0)
            for name in ("web", "worker", "beat")
        ),
        readiness=partial(site_is_ready, "127.0.0.1", port, named="127.0.0.1"),
    )


def plan_with_the_real_broker(options, home, environment, *, port):
    plan = plan_of_standins(options, home, environment, port=port)
    endpoints = real.Endpoints(options, home, environment)
    return Plan(**{**vars(plan), "data_plane": endpoints.services, "facts": endpoints.facts})


if __name__ == "__main__":
    planner = plan_with_the_real_broker if os.environ.get("STANDIN_BROKER") else plan_of_standins
    examiner = real_examiner if os.environ.get("STANDIN_EXAMINED") else lambda *_, **__: None
    sys.exit(main(sys.argv[1:], planner=planner, examiner=examiner))
