"""A process that has imported a program and an application, and forks it of itself: a start costs seconds less of a processor.

`python -m durable_harness.warm FD MODULE…` answers requests over the pipe until the tests at its other end are gone.
"""

from __future__ import annotations

import gc
import os
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from durable_harness.environment import bare_environment

#: What every node imports; none of them reads settings or makes a thread before it is used.
CELERY = (
    "celery.bin.celery", "celery.bin.worker", "celery.bin.beat", "celery.apps.worker", "celery.apps.beat",
    "celery.concurrency.prefork", "celery.concurrency.solo", "celery.concurrency.thread", "celery.worker.consumer",
    "celery_durable.transport",
)  # fmt: skip
#: Read when an interpreter or a library is loaded, which has happened already.
TOO_LATE = ("LD_", "FAKETIME")
HARNESS = Path(__file__).parents[1]


class Node(NamedTuple):
    """A process to start.  arguments: of the program, a module that is run as `python -m` runs it."""

    arguments: Sequence[str]
    env: Mapping[str, str]
    folder: Path
    log: Path
    program: str = "celery"


class Forked:
    """As much of subprocess.Popen as nodes need."""

    def __init__(self, pid: int, ask: Callable[[Node | int], Any]) -> None:
        self.pid, self._ask = pid, ask
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._ask(self.pid)
        return self.returncode

    def wait(self, timeout: float = 60) -> int:
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            time.sleep(0.01)  # between two polls: only its parent could wait for it
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


class Warm:
    """The process, as the tests see it."""

    def __init__(self, modules: Sequence[str], folder: Path, early: Mapping[str, str]) -> None:
        """modules: to import.  folder: from which they are imported.  early: variables of the interpreter."""
        self._pipe, there = Pipe()
        kept = bare_environment()
        path = os.pathsep.join([str(HARNESS), *filter(None, [early.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "durable_harness.warm", str(there.fileno()), *modules],
            env=kept | early | {"PYTHONPATH": path}, cwd=folder, pass_fds=[there.fileno()],
        )  # fmt: skip
        there.close()
        self._lock = Lock()

    def start(self, node: Node) -> Forked:
        return Forked(self._ask(node), self._ask)

    def close(self) -> None:
        self._pipe.close()
        self._process.wait()

    def _ask(self, given: Node | int) -> Any:
        with self._lock:
            self._pipe.send(given if isinstance(given, int) else tuple(given))
            return self._pipe.recv()


def start(modules: Sequence[str], node: Node) -> Forked | subprocess.Popen[bytes]:
    """A node in a session of its own: forked, or from nothing if its environment counts from the first instruction.

    modules: of the application, and of a program that is not Celery.
    """
    if any(name.startswith(TOO_LATE) for name in node.env):
        with node.log.open("ab") as out:
            return subprocess.Popen(
                [sys.executable, "-m", node.program, *node.arguments],
                env=node.env, cwd=node.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
            )  # fmt: skip
    early = tuple(sorted((name, value) for name, value in node.env.items() if name.startswith("PYTHON")))
    imports = (*(CELERY if node.program == "celery" else ()), *modules)
    return _warm(imports, node.folder, early).start(node)


def end() -> None:
    """End the processes of this one, so that coverage has their figures before the run adds them up."""
    while _made:
        _made.pop().close()
    _warm.cache_clear()


_made: list[Warm] = []


@cache
def _warm(modules: tuple[str, ...], folder: Path, early: tuple[tuple[str, str], ...]) -> Warm:
    """The one of this process, started when a test needs it first."""
    _made.append(Warm(modules, folder, dict(early)))
    return _made[-1]


def serve(pipe: Connection) -> Node | None:
    """Fork and report ends; in a child, in a session of its own, returns what it is to be, and in the process itself None when the tests are over."""
    while True:
        try:
            given = pipe.recv()
        except EOFError:
            return None
        if isinstance(given, tuple):
            led, leads = os.pipe()
            if not (pid := os.fork()):
                os.setsid()
                for descriptor in (led, leads):
                    os.close(descriptor)
                pipe.close()
                return Node(*given)
            os.close(leads)
            os.read(led, 1)  # until it leads its group: who kills that group at once would meet none
            os.close(led)
            pipe.send(pid)
        else:
            pid, status = os.waitpid(given, os.WNOHANG)
            pipe.send(os.waitstatus_to_exitcode(status) if pid else None)


def become(node: Node) -> None:
    """Continue as the program."""
    os.chdir(node.folder)
    os.environ.clear()
    os.environ.update(node.env)
    log = os.open(node.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    os.close(log)
    sys.argv = [node.program, *node.arguments]
    runpy.run_module(node.program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    for name in sys.argv[2:]:
        import_module(name)
    gc.freeze()
    if (chosen := serve(Connection(int(sys.argv[1])))) is not None:
        become(chosen)
