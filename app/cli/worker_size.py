"""How many worker processes `fairlane up` starts, and what it says about that."""

from __future__ import annotations

from typing import Literal

from app import machine
from app.domain.queues import ALL_QUEUES
from app.domain.sizing import WorkerSize, fitting, least_memory, nodes_of
from app.errors import Problem
from app.machine import Machine
from app.settings import Settings

GB = 1e9


def size_of(settings: Settings, workers: Literal["tier", "queue"] | None) -> tuple[WorkerSize, str]:
    """The nodes, and a line about them.  workers: None: by what the machine has.  Raises: Problem: too small."""
    wanted = {queue: settings.workers(queue) for queue in ALL_QUEUES}
    if workers is not None:
        nodes = nodes_of(wanted, by_tier=workers == "tier")
        size = WorkerSize(nodes, jobs=sum(wanted.values()))
        return size, f"{_counts(size)} (--workers {workers})"
    found = machine.read()
    fixed = {queue for queue in ALL_QUEUES if settings.has_workers(queue)}
    size = fitting(wanted, fixed=fixed, memory=found.memory, processors=found.processors)
    if size.jobs == 0:
        raise Problem(
            f"This machine has {found.memory / GB:.1f} GB of memory, and {_counts(size)} need "
            f"{least_memory(size) / GB:.1f} GB: give it more, or choose yourself, by `--workers tier` and …_WORKERS"
        )
    return size, _line(size, found, wanted=sum(wanted.values()))


def _line(size: WorkerSize, found: Machine, *, wanted: int) -> str:
    memory = f"{found.memory / GB:.1f} GB of memory"
    if size.jobs < size.processes:
        return f"{_counts(size, wanted)}; {memory} is enough for {size.jobs} of them to have a job at once"
    return f"{_counts(size, wanted)}, for {memory} and {found.processors:g} processor{'s' * (found.processors != 1)}"


def _counts(size: WorkerSize, wanted: int | None = None) -> str:
    of = f" of {wanted}" if wanted and wanted > size.processes else ""
    return f"{size.processes}{of} worker processes in {len(size.nodes)} nodes"
