"""pytest-celery's nodes as local processes: its API for workers, without a container engine."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil
from durable_harness import warm
from durable_harness.environment import bare_environment
from durable_harness.waiting import PATIENCE_SECONDS, wait_for
from pytest_celery import CeleryTestWorker, CeleryWorkerCluster

ROOT = Path(__file__).parent.parent
#: What a node of the service imports beside Celery.
IMPORTS = (
    "tasks.celery", "tasks.analysis", "tasks.specification", "tasks.maintenance", "tasks.webhooks", "tasks.lending", "tasks.pools",
    "tasks.schema", "tasks.alive", "tasks.draining", "tasks.scheduler", "tasks.log_context",
)  # fmt: skip
#: What the web imports: all but its configuration, which reads the settings.
WEB_IMPORTS = (
    "gunicorn.app.wsgiapp", "gunicorn.arbiter", "gunicorn.glogging", "app.server.application", "app.server.worker",
    "app.server.logger", "app.shared_table",
)  # fmt: skip
#: Programs that are forked from a process that has imported them.
WARM = {"celery": IMPORTS, "gunicorn": WEB_IMPORTS}


#: In the environment of a process whose coverage is measured.
MEASURED = "COVERAGE_PROCESS_CONFIG"
GRACE_SECONDS = 10.0


def lives(process: psutil.Process) -> bool:
    """Whether a process has not ended; one that nobody has waited for yet has."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class LocalProcess:
    """What a node asks of its container, answered by a process of this machine."""

    def __init__(self, name: str, argv: list[str], env: dict[str, str], log: Path, folder: Path = ROOT) -> None:
        """folder: with the code, as Python looks there first."""
        self.name = self.id = name
        self._argv, self._env, self._log, self._folder = argv, env, log, folder
        self._process: subprocess.Popen[bytes] | warm.Forked | None = None
        self._output: IO[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def status(self) -> str:
        return "running" if self._process is not None and self._process.poll() is None else "exited"

    def start(self) -> None:
        self._log.touch()  # it is looked into at once
        _, _, program, *arguments = self._argv  # python -m
        if self._folder == ROOT and program in WARM:
            node = warm.Node(arguments, self._env, ROOT, self._log, program)
            self._process = warm.start(WARM[program], node)
            return
        self._output = self._log.open("ab")
        self._process = subprocess.Popen(
            self._argv,
            env=self._env,
            cwd=self._folder,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def logs(self) -> str:
        return self._log.read_text(errors="replace")

    def ready(self) -> bool:
        """Wait until the worker says that it is."""
        wait_for(lambda: "ready." in self.logs() or self.status == "exited", f"{self.name} to be ready")
        assert self.status == "running", self.logs()[-4000:]
        return True

    def children(self) -> list[psutil.Process]:
        """The pool's processes."""
        with contextlib.suppress(psutil.NoSuchProcess):
            return list(psutil.Process(self.pid).children())
        return []

    def kill(self, signal: str | int = "SIGKILL") -> None:
        """Signal the worker; SIGKILL takes the whole tree at once, as the end of a machine would."""
        number = _number(signal)
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if number == 9 else os.kill)(self.pid, number)
        if number == 9:
            self._wait()

    def restart(self, timeout: float = PATIENCE_SECONDS) -> None:
        self.kill()
        self._log.unlink()
        self.start()
        self.ready()

    def reload(self) -> None:
        """A process has nothing to reload."""

    def teardown(self) -> None:
        if self._process is None:
            return
        if MEASURED in self._env:  # a process that is killed keeps its figures to itself
            self.kill("SIGTERM")
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE_SECONDS)
        self.kill()

    def wait(self, seconds: float = PATIENCE_SECONDS) -> int:
        """Until it has ended by itself; its exit code."""
        assert self._process is not None
        return self._process.wait(seconds)

    def _wait(self) -> None:
        assert self._process is not None
        self._process.wait(PATIENCE_SECONDS)
        if self._output is not None:
            self._output.close()


class LocalWorker(CeleryTestWorker):
    """A worker node whose container is a process."""

    container: LocalProcess


@dataclass
class Nodes:
    """Starts workers on one database and ends them all.  settings: of each process, unless it is given others."""

    database_url: str
    folder: Path
    settings: dict[str, str] = field(default_factory=dict)
    made: list[LocalWorker] = field(default_factory=list)
    others: list[LocalProcess] = field(default_factory=list)

    @classmethod
    @contextlib.contextmanager
    def open(cls, database_url: str, folder: Path) -> Iterator[Nodes]:
        nodes = cls(database_url, folder)
        try:
            yield nodes
        finally:
            for one in [*nodes.made, *nodes.others]:
                one.teardown()

    @property
    def go_on(self) -> Path:
        """When this file is there, analyses go on that wait until a test has seen enough."""
        return self.folder / "go-on"

    @property
    def stall(self) -> Path:
        """While this file is there, the fire's nodes may stop between two statements; `stalled` beside it says so."""
        return self.folder / "stall"

    def environment(self, **more: str) -> dict[str, str]:
        """What a process of the product gets: the test's database, home and repositories."""
        repositories = self.folder / "repositories"
        repositories.mkdir(exist_ok=True)
        kept = bare_environment()
        return kept | {
            "DATABASE_URL": self.database_url,
            "FAIRLANE_HOME": str(self.folder / "home"),
            "LOCAL_REPOS_ROOT": str(repositories),
            "PYTHONWARNINGS": "ignore",
            **self.settings,
            **more,
        }

    def worker(
        self, *queues: str, processes: int = 1, ready: bool = True, app: str = "tasks", **env: str
    ) -> LocalWorker:
        """Start a worker on these queues (default: analysis_default).  app: the module with the Celery app."""
        name = f"node{len(self.made)}"
        argv = [sys.executable, "-m", "celery", "-A", app, "worker", "-Q", ",".join(queues or ["analysis_default"])]
        argv += ["-c", str(processes), "-n", f"{name}@%h", "--without-gossip", "--without-mingle"]
        process = LocalProcess(name, argv, self.environment(**env), self.folder / f"{name}.log")
        process.start()
        worker = LocalWorker(process, app=None)
        self.made.append(worker)
        if ready:
            worker.ready()
        return worker

    def beat(self, *options: str, **env: str) -> LocalProcess:
        """Start a Celery beat."""
        name = f"beat{len(self.others)}"
        argv = [sys.executable, "-m", "celery", "-A", "tasks", "beat", "--pidfile=", *options]
        process = LocalProcess(name, argv, self.environment(**env), self.folder / f"{name}.log")
        process.start()
        self.others.append(process)
        return process

    def cluster(self, *workers: LocalWorker) -> CeleryWorkerCluster:
        """pytest-celery's view on several workers."""
        return CeleryWorkerCluster(*workers)


def _number(given: str | int) -> int:
    return int(given) if isinstance(given, int) else int(getattr(signal, given))
