"""How many worker processes a machine bears, and in how many nodes (docs/measurements.md, "What a machine needs")."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import ceil

from app.domain.queues import ALL_QUEUES, MAINTENANCE, SUFFIXES, Service

MIB = 1 << 20
#: PostgreSQL under load, web, beat and the supervisor; the main process of a node; a worker process and its launcher.
REST, NODE, IDLE = 480 * MIB, 42 * MIB, 47 * MIB
#: What a job adds, with git and the parsers: twice what was measured, as repositories differ.
JOB = 100 * MIB
#: The part of the memory that all of this may take: files that the kernel keeps, and large repositories, need the rest.
PART = 0.75
#: Worker processes for each processor, since jobs also wait for git and for the database.
PER_PROCESSOR = 9


@dataclass(frozen=True, slots=True)
class NodeSize:
    """A Celery node: the queues that it reads, and its processes."""

    name: str
    queues: tuple[str, ...]
    processes: int


@dataclass(frozen=True, slots=True)
class WorkerSize:
    """What runs.  jobs: how many of the processes may have one at once within the memory."""

    nodes: tuple[NodeSize, ...]
    jobs: int

    @property
    def processes(self) -> int:
        """Worker processes of all nodes."""
        return sum(node.processes for node in self.nodes)


def nodes_of(processes: Mapping[str, int], *, by_tier: bool) -> tuple[NodeSize, ...]:
    """One node for each queue, or for each tier with the processes of both services; and one for maintenance."""
    tiers = {suffix: tuple(f"{service}_{suffix}" for service in Service) for suffix in SUFFIXES}
    groups = tiers | {MAINTENANCE: (MAINTENANCE,)} if by_tier else {queue: (queue,) for queue in ALL_QUEUES}
    return tuple(NodeSize(name, queues, sum(processes[queue] for queue in queues)) for name, queues in groups.items())


def fitting(wanted: Mapping[str, int], *, fixed: Collection[str], memory: int, processors: float) -> WorkerSize:
    """Size the nodes so that all processes may have a job at once, each queue one at least; else, the fewest nodes.

    A node for each queue comes first, as it keeps the services apart.  wanted: processes of each queue, at most; fixed:
    queues that get what they want; memory: bytes.
    """
    most = max(round(processors * PER_PROCESSOR), len(wanted))
    for by_tier in (False, True):
        processes = dict(wanted)
        while True:
            size = _sized(nodes_of(processes, by_tier=by_tier), memory)
            fewer = [queue for queue in processes.keys() - fixed if processes[queue] > 1]
            if size.jobs >= size.processes <= most or not fewer:
                break
            # what is left keeps the proportions
            processes[max(fewer, key=lambda queue: (processes[queue] / wanted[queue], processes[queue], queue))] -= 1
        if size.jobs >= size.processes:
            break
    return size


def least_memory(size: WorkerSize) -> int:
    """Bytes that a machine needs for these nodes with one job at a time."""
    return ceil((_idle(size.nodes) + JOB) / PART)


def _sized(nodes: tuple[NodeSize, ...], memory: int) -> WorkerSize:
    return WorkerSize(nodes, max(0, int((memory * PART - _idle(nodes)) // JOB)))


def _idle(nodes: Collection[NodeSize]) -> int:
    return REST + sum(NODE + node.processes * IDLE for node in nodes)
