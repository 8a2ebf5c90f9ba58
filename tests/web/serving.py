"""The web as it is served: gunicorn with the service's configuration, in a process of its own."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from durable_harness import warm
from durable_harness.environment import bare_environment

from tests.nodes import ROOT, WARM

CONFIG = ("-c", "python:app.server.config")


@contextlib.contextmanager
def serving(
    url: str, home: Path, *options: str, config: Sequence[str] = CONFIG, fresh: bool = False, **settings: str
) -> Iterator[int]:
    """The port where it answers.  settings: of the service; fresh: a start from nothing, with its own command line."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    arguments = [*config, *options, "-b", f"127.0.0.1:{port}"]
    environ = bare_environment() | {"PYTHONWARNINGS": "ignore"}
    environ |= {"DATABASE_URL": url, "FAIRLANE_HOME": str(home), "RATE_LIMIT_PER_MINUTE": "100000", **settings}
    process: warm.Forked | subprocess.Popen[bytes]
    if fresh or config is not CONFIG:
        with (home / "log").open("wb") as log:
            argv = [sys.executable, "-m", "gunicorn", *arguments]
            process = subprocess.Popen(argv, cwd=ROOT, env=environ, stdout=log, stderr=log)
    else:
        process = warm.start(WARM["gunicorn"], warm.Node(arguments, environ, ROOT, home / "log", "gunicorn"))
    try:
        _wait(port, process, home / "log")
        yield port
    finally:
        process.terminate()
        process.wait(60)


def ask(port: int, method: str, path: str, body: object = None, **headers: str) -> tuple[int, str]:
    data = None if body is None else json.dumps(body)
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request(method, path, data, headers | ({"Content-Type": "application/json"} if data else {}))
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def raw(port: int, request: bytes, *, seconds: float = 60) -> bytes:
    """Send bytes as they are; everything that comes back until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        connection.sendall(request)
        answer = b""
        with contextlib.suppress(ConnectionResetError):
            while more := connection.recv(65536):
                answer += more
        return answer


def _wait(port: int, process: warm.Forked | subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError):
            if ask(port, "GET", "/readyz")[0] == 200:
                return
        time.sleep(0.05)
    raise AssertionError(log.read_text())
