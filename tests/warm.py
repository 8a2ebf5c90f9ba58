"""A process that has imported Celery and the service, and forks nodes of itself: a start costs a second less of a processor.

`python -m tests.warm FD` answers requests over the pipe until the tests at its other end are gone.
"""

from __future__ import annotations

import atexit
import gc
import os
import runpy
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from threading import Lock
from typing import Any

#: What a node imports; none of them reads settings or makes a thread before it is used.
MODULES = (
    "celery.bin.celery", "celery.bin.worker", "celery.bin.beat", "celery.apps.worker", "celery.apps.beat",
    "celery.concurrency.prefork", "tasks.celery", "tasks.analysis", "tasks.specification", "tasks.maintenance",
    "tasks.lending", "tasks.pools", "tasks.schema", "tasks.alive", "tasks.scheduler",
)  # fmt: skip
#: Read when an interpreter or a library is loaded, which has happened already.
TOO_LATE = ("LD_", "PYTHON", "FAKETIME")
WARNINGS = {"PYTHONWARNINGS": "ignore"}


@dataclass(frozen=True)
class Node:
    """arguments: of Celery's command."""

    arguments: tuple[str, ...]
    env: Mapping[str, str]
    folder: Path
    log: Path


class Forked:
    """As much of subprocess.Popen as nodes need."""

    def __init__(self, pid: int, ask: Callable[..., Any]) -> None:
        self.pid, self._ask = pid, ask
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._ask(self.pid)
        return self.returncode

    def wait(self, timeout: float) -> int:
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("celery", timeout)
            time.sleep(0.01)
        return code


class Warm:
    """The process, as the tests see it."""

    def __init__(self, root: Path) -> None:
        self._pipe, there = Pipe()
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        argv = [sys.executable, "-m", "tests.warm", str(there.fileno())]
        self._process = subprocess.Popen(argv, env=kept | WARNINGS, cwd=root, pass_fds=[there.fileno()])
        there.close()
        self._lock = Lock()

    def start(self, node: Node) -> Forked:
        return Forked(self._ask(node), self._ask)

    def close(self) -> None:
        self._pipe.close()
        self._process.wait()

    def _ask(self, given: Node | int) -> Any:
        with self._lock:
            self._pipe.send(given)
            return self._pipe.recv()


@cache
def warm(root: Path) -> Warm:
    """The one of this process, started when a test needs it first."""
    made = Warm(root)
    atexit.register(made.close)
    return made


def can_be_forked(argv: Sequence[str], env: Mapping[str, str]) -> bool:
    """Whether a command is a node whose environment may come after its start."""
    early = {name: value for name, value in env.items() if name.startswith(TOO_LATE)}
    return list(argv[:3]) == [sys.executable, "-m", "celery"] and early == WARNINGS


def serve(pipe: Connection) -> Node | None:
    """Fork and tell of ends; in a child returns what it is to be, and in the process itself None when the tests are over."""
    while True:
        try:
            given = pipe.recv()
        except EOFError:
            return None
        if isinstance(given, Node):
            if not (pid := os.fork()):
                pipe.close()
                return given
            pipe.send(pid)
        else:
            pid, status = os.waitpid(given, os.WNOHANG)
            pipe.send(os.waitstatus_to_exitcode(status) if pid else None)


def become(node: Node) -> None:
    """Go on as Celery's command in a session of its own."""
    os.setsid()
    os.chdir(node.folder)
    os.environ.clear()
    os.environ.update(node.env)
    log = os.open(node.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    os.close(log)
    sys.argv = ["celery", *node.arguments]
    runpy.run_module("celery", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    from tests.warm import serve as _serve  # whose Node the other end sends

    for name in MODULES:
        import_module(name)
    gc.freeze()
    if (chosen := _serve(Connection(int(sys.argv[1])))) is not None:
        become(chosen)
