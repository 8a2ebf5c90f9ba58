"""Show the Celery nodes as the database knows them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import nodes
from app.store.operations.nodes import NodeRow

MOST_RUNNING = 1_000  # jobs of all nodes together


class NodeState(StrEnum):
    """What a node does.  draining: it takes no more messages and still holds some; dead: its session has ended."""

    SERVING = "serving"
    DRAINING = "draining"
    DRAINED = "drained"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job that a node runs.  user_id: whose slot it has, None for the schedule."""

    job_id: UUID
    queue: str
    user_id: UUID | None
    started_at: datetime


@dataclass(frozen=True, slots=True)
class Node:
    """One Celery node.

    name: HOST:PID of its main process; is_alive: it has a session with the database; seen_at: when that session last
    did something, None if it is dead; queues: that it takes from, empty before its first look and while it drains;
    is_draining: it takes no more messages, and is drained once it holds none; processes: how many messages it takes at
    once, which is its concurrency; lent: of the queues, those that only its idle processes serve; leased: messages that
    it holds, running or about to; running: the oldest first.
    """

    name: str
    is_alive: bool
    since: datetime
    seen_at: datetime | None
    queues: Sequence[str]
    is_draining: bool
    processes: int | None
    lent: Sequence[str]
    leased: int
    running: Sequence[RunningJob]


def states(uow: UnitOfWork) -> list[Node]:
    """All nodes, by name.  A dead one is listed until another node has taken its leases back, which takes seconds."""
    with uow.begin() as tx:
        found = nodes.nodes(tx)
        running = nodes.running(tx, [node.id for node in found], most=MOST_RUNNING)
    jobs = defaultdict(list)
    for row in running:
        user_id = UUID(row.user_id) if row.user_id else None
        jobs[row.node_id].append(RunningJob(UUID(row.job_id), row.queue, user_id, row.started_at))
    return [_node(node, jobs[node.id]) for node in found]


def state_of(node: Node) -> NodeState:
    """The state of a node in one word."""
    if not node.is_alive:
        return NodeState.DEAD
    if not node.is_draining:
        return NodeState.SERVING
    return NodeState.DRAINING if node.leased else NodeState.DRAINED


def _node(row: NodeRow, running: Sequence[RunningJob]) -> Node:
    is_draining = row.is_alive and row.queues == []
    queues, spare, processes = row.queues or [], row.spare_queues, row.processes
    if not set(queues) - set(spare):  # the transport's rule: a node that reads nothing else keeps nothing free
        spare = {}
    # a node takes nothing from a queue that it keeps all its processes free of
    queues = [queue for queue in queues if processes is None or spare.get(queue, 0) < processes]
    lent = [queue for queue in queues if queue in spare]
    return Node(
        row.name, row.is_alive, row.since, row.seen_at, queues, is_draining, processes, lent, row.leased, running
    )
