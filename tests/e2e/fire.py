"""Worker nodes under fire: killed, stopped and continued by chance, and started again."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import psutil
from durable_harness.load import CHILD_DIED_AT_START

from tests.nodes import LocalProcess, Nodes

QUEUES = "analysis_priority,analysis_default,specview_priority,specview_default"
#: What is done how often.  A killed parent leaves its children at work; a stopped parent renews no lease.
FAULTS = {
    "kill child": 8,
    "kill node": 2,
    "kill parent": 1,
    "stop node": 4,
    "stop parent": 2,
    "stop child": 2,
}


def start(nodes: Nodes, name: str, processes: int, environment: dict[str, str], queues: str = QUEUES) -> LocalProcess:
    """A node of the worker with naps, in which an analysis of `slow` waits for `go_on`; not ready yet."""
    argv = [sys.executable, "-m", "celery", "-A", "tests.e2e.fire_worker", "worker", "-l", "INFO", "-Q", queues]
    argv += ["-c", str(processes), "-n", f"{name}@%h", "--without-gossip", "--without-mingle"]
    process = LocalProcess(
        name,
        argv,
        nodes.environment(LOG_FORMAT="json", GO_ON=str(nodes.go_on), STALL=str(nodes.stall), **environment),
        nodes.folder / f"{name}.log",
    )
    process.start()
    nodes.others.append(process)
    return process


@dataclass
class Fire:
    """So many nodes; `step` is called again and again.  pause: seconds between two faults; longest: of a stop."""

    nodes: Nodes
    dice: random.Random
    count: int
    processes: int
    pause: float
    longest: float
    environment: dict[str, str]
    workers: list[LocalProcess] = field(init=False)
    done: Counter[str] = field(default_factory=Counter)
    stopped: float = 0.0
    started: int = 0
    _thaws: list[tuple[float, LocalProcess, psutil.Process | None]] = field(default_factory=list)
    _orphans: list[tuple[float, psutil.Process]] = field(default_factory=list)
    _next: float = 0.0

    def __post_init__(self) -> None:
        self.workers = [self._start() for _ in range(self.count)]

    def ready(self) -> bool:
        """Whether every node is; one that Celery has ended is started again."""
        self.mend()
        return all("ready." in worker.logs() for worker in self.workers)

    def step(self) -> None:
        """Continue what was stopped for long enough, replace what died, and do the next harm when it is time."""
        self.go_on()
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self.dice.uniform(0, 2 * self.pause)
            self.harm(self.dice.choices(list(FAULTS), list(FAULTS.values()))[0])

    def go_on(self) -> None:
        """Continue what was stopped for long enough, and replace what died."""
        now = time.monotonic()
        for due in [thaw for thaw in self._thaws if thaw[0] <= now]:
            self._thaw(due)
        for due in [orphan for orphan in self._orphans if orphan[0] <= now]:
            self._bury(due)
        self.mend()

    def harm(self, fault: str, seconds: float | None = None) -> None:
        """Do this to somebody who runs.  seconds: of a stop, by chance unless given."""
        running = [worker for worker in self.workers if worker not in self.frozen]
        if fault.startswith("stop") and len(self.frozen) >= self.count // 2:
            return  # the others must get on
        worker, child = self.dice.choice(running), None
        if fault.endswith("child"):
            children = worker.children()
            if not children:
                return
            child = self.dice.choice(children)
        with contextlib.suppress(psutil.NoSuchProcess):
            match fault:
                case "kill child":
                    child.kill()
                case "stop child":
                    child.suspend()
                case "kill node":
                    self._replace(worker)
                case "kill parent":
                    self._behead(worker)
                case "stop node":
                    os.killpg(worker.pid, signal.SIGSTOP)
                case "stop parent":
                    os.kill(worker.pid, signal.SIGSTOP)
            self.done[fault] += 1
        if fault.startswith("stop"):
            seconds = seconds or self.dice.uniform(self.longest / 12, self.longest)
            self.stopped += seconds
            self._thaws.append((time.monotonic() + seconds, worker, child))

    @property
    def frozen(self) -> list[LocalProcess]:
        """Nodes that stand still, or one of whose children does."""
        return [worker for _, worker, _ in self._thaws]

    def stop_at_work(self, works: Callable[[int], object]) -> bool:
        """Stop a node for the longest time, unless it turns out to do nothing.  works: asked with its process id."""
        self.harm("stop node", self.longest)
        thaw = self._thaws[-1]
        if works(thaw[1].pid):
            return True
        self._thaw(thaw)
        self.done["stop node"] -= 1
        self.stopped -= self.longest
        return False

    def cease(self) -> None:
        """The last fault is over: continue all that is stopped, end the orphans, start what is missing."""
        for thaw in list(self._thaws):
            self._thaw(thaw)
        self.bury()
        self.mend()

    def bury(self) -> None:
        """End the children whose parents were killed."""
        for orphan in list(self._orphans):
            self._bury(orphan)

    def mend(self) -> None:
        """Celery ends a node one of whose children dies while it starts; whoever supervises it starts it again."""
        for worker in [one for one in self.workers if one.status != "running"]:
            assert any(said in worker.logs() for said in CHILD_DIED_AT_START), worker.logs()[-3000:]
            self.done["ended by Celery"] += 1
            self._forget(worker)

    def told(self, outcome: str) -> int:
        """How many deliveries said that they ended so, in all logs."""
        return sum(
            json.loads(line).get("event") == outcome
            for log in self.nodes.folder.glob("node*.log")
            for line in log.read_text(errors="replace").splitlines()
            if line.startswith("{") and line.endswith("}") and f'"{outcome}"' in line
        )

    def _start(self) -> LocalProcess:
        self.started += 1
        return start(self.nodes, f"node{self.started}", self.processes, self.environment)

    def _thaw(self, thaw: tuple[float, LocalProcess, psutil.Process | None]) -> None:
        self._thaws.remove(thaw)
        _, worker, child = thaw
        if child is not None:  # its node may have ended meanwhile
            with contextlib.suppress(psutil.NoSuchProcess):
                child.resume()
        elif worker in self.workers and worker.status == "running":
            os.killpg(worker.pid, signal.SIGCONT)

    def _bury(self, orphan: tuple[float, psutil.Process]) -> None:
        self._orphans.remove(orphan)
        with contextlib.suppress(psutil.NoSuchProcess):
            orphan[1].kill()

    def _behead(self, worker: LocalProcess) -> None:
        # by handles that know the age of a process: the number of a node that is gone may be given to somebody else
        os.kill(worker.pid, signal.SIGSTOP)  # it must not fork another one meanwhile
        until = time.monotonic() + self.longest / 2
        self._orphans += [(until, child) for child in worker.children()]
        os.kill(worker.pid, signal.SIGKILL)
        self._forget(worker)

    def _replace(self, worker: LocalProcess) -> None:
        worker.kill()
        self._forget(worker)

    def _forget(self, worker: LocalProcess) -> None:
        worker._wait()  # it has ended; closes its log
        self.nodes.others.remove(worker)
        self.workers[self.workers.index(worker)] = self._start()
