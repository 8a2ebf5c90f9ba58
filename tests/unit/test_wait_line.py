"""What `fairlane submit --wait` says while it waits, on a terminal and elsewhere."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

ID = "80f49471-4059-41f4-a09d-45535832d3d7"
WAIT = {"reason": "workers_busy", "position": 3, "text": "Number 3 in the queue.", "eta_low": 1_000, "eta_high": 1_200}
PLACE = "queued (workers_busy, number 3): Number 3 in the queue. Starts in about 1,000 to 1,200 s."


def job(
    status: str, wait: dict[str, Any] | None = None, progress: tuple[str, int, int] | None = None
) -> dict[str, Any]:
    """A job of the contract, as far as the command reads it."""
    done = {"summary": {"tests": 1_234_567, "files": 9_876}} if status == "completed" else {"summary": None}
    told = None if progress is None else dict(zip(("phase", "done", "total"), progress, strict=True))
    links = {"page": f"/analyses/{ID}"}
    return {"id": ID, "status": status, "wait": wait, "progress": told, "error": None, "links": links} | done


COURSE = [
    job("queued", WAIT),
    job("queued", WAIT | {"eta_low": 900}),
    job("queued", WAIT | {"position": 2, "text": "Number 2 in the queue.\x1b[2J", "eta_low": None}),
    job("running", None, ("fetching", 0, 0)),
    job("running", None, ("parsing", 1_000, 9_876)),
    job("running", None, ("parsing", 1_001, 9_876)),
    job("running", None, ("parsing", 9_000, 9_876)),
    job("running", None, ("saving", 0, 0)),
    job("completed"),
]


@pytest.fixture
def service() -> Iterator[str]:
    """The address of a service whose job takes its course, a step for each look."""
    course = iter(COURSE)

    class Service(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = json.dumps(next(course)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def command(service: str, *options: str) -> tuple[list[str], dict[str, str]]:
    quick = "import fairlane_client.client as c; c.POLL_SECONDS = 0.0; from app.cli.submit import submit; submit()"
    environ = os.environ | {"FAIRLANE_URL": service, "TERM": "xterm", "PYTHONWARNINGS": "default"}
    return [sys.executable, "-c", quick, "local:shop", "--wait", *options], environ


def test_a_line_tells_each_change_where_lines_are_not_rewritten(service: str) -> None:
    argv, environ = command(service)
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, timeout=240)
    assert done.stderr.splitlines() == [
        PLACE,
        "queued (workers_busy, number 2): Number 2 in the queue.\N{REPLACEMENT CHARACTER}[2J",
        "running: fetching",
        "running: parsing 1,000 of 9,876 files (10 %)",
        "running: parsing 9,000 of 9,876 files (91 %)",
        "running: saving",
    ]
    assert done.stdout.startswith("completed: 1,234,567 tests in 9,876 files\n")
    assert done.returncode == 0


def test_a_program_that_reads_json_gets_json_and_nothing_else(service: str) -> None:
    argv, environ = command(service, "--json")
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, timeout=240)
    assert json.loads(done.stdout)["status"] == "completed"
    assert done.stderr == ""


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_on_a_terminal_one_line_is_rewritten_and_gone_at_the_end(service: str, options: tuple[str, ...]) -> None:
    argv, environ = command(service, *options)
    ours, theirs = pty.openpty()
    with subprocess.Popen(argv, env=environ, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        said = everything(ours)
        assert process.stdout
        result = process.stdout.read().decode()
    os.close(ours)
    *lines, last = said.split("\r\x1b[K")[1:]
    assert "\n" not in said
    assert last == ""
    assert lines[0] == PLACE[:79], "the line is as wide as the terminal at most"
    assert lines[-3:] == [f"running: parsing {n} of 9,876 files ({p} %)" for n, p in (("1,001", 10), ("9,000", 91))] + [
        "running: saving"
    ]
    assert "\x1b" not in result
    assert result.startswith("{" if options else "completed: 1,234,567 tests")


def everything(terminal: int) -> str:
    """What was written to it until its last writer left."""
    said = b""
    while select.select([terminal], [], [], 60)[0]:
        try:
            more = os.read(terminal, 65_536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not more:
            break
        said += more
    return said.decode()
