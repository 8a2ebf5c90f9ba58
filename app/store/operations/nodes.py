"""The Celery nodes that the database knows, and the jobs that each runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.store.core.unit_of_work import Tx
from app.store.operations.dead_letters import UUID_PATTERN

# A node of another role shows no activity; then nobody knows when it was last seen.
_NODES = text("""
    SELECT n.id, n.name, n.is_alive, n.since, n.seen_at, n.queues,
           nullif(n.prefetch_count, 0) AS processes, coalesce(n.spare_queues, '{}') AS spare_queues,
           (SELECT count(*) FROM broker_lease l WHERE l.node_id = n.id) AS leased
      FROM broker_node n ORDER BY n.name, n.since""")
_RUNNING = text("""
    SELECT l.node_id, m.task_id AS job_id, q.name AS queue, m.group_name AS user_id, l.started_at
      FROM broker_lease l JOIN broker_message m ON m.id = l.id JOIN broker_queue q ON q.id = l.queue_id
     WHERE l.node_id = ANY (CAST(:ids AS bigint[])) AND l.started_at IS NOT NULL AND m.task_id ~ :uuid
     ORDER BY l.started_at, l.id LIMIT :most""")


class NodeRow(NamedTuple):
    """A node.

    name: HOST:PID; queues: None before its first look, empty if it takes no more; processes: None if unknown;
    spare_queues: by queue, how many processes it keeps free of it; leased: messages.
    """

    id: int
    name: str
    is_alive: bool
    since: datetime
    seen_at: datetime | None
    queues: list[str] | None
    processes: int | None
    spare_queues: dict[str, int]
    leased: int


class RunningRow(NamedTuple):
    """A job that a node runs."""

    node_id: int
    job_id: str
    queue: str
    user_id: str | None
    started_at: datetime


def nodes(tx: Tx) -> list[NodeRow]:
    """All nodes, by name."""
    return tx.run(_NODES).values(NodeRow)


def running(tx: Tx, ids: Sequence[int], *, most: int) -> list[RunningRow]:
    """The jobs that these nodes run, the oldest first."""
    return tx.run(_RUNNING, ids=list(ids), uuid=UUID_PATTERN, most=most).values(RunningRow)
