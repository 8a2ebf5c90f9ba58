"""What each step of a job costs PostgreSQL: messages to it, statements, commits, and processor time of both sides."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any
from uuid import UUID, uuid4

from psycopg2.extensions import TRANSACTION_STATUS_IDLE, cursor
from sqlalchemy import event, text

from app.domain.lifecycle import Delivery, Outcome
from app.domain.plans import Tier
from app.domain.queues import Service, select_queue
from app.domain.repositories import Repository
from app.services.analyses.submission import Wanted
from app.services.analyses.submit import submit
from app.services.analyses.submit_batch import submit_batch
from app.services.jobs.heartbeat import Pulse, beat
from app.services.jobs.start import start
from app.services.policy import Policy
from app.store.core.unit_of_work import Tx, UnitOfWork
from bench.accept.database import database, user

POLICY = Policy("1.0.0+bench")
SHOP = Repository("github.com", "bench", "shop")
QUEUE = select_queue(Service.ANALYSIS, Tier.ENTERPRISE)
BATCH = 100
_CLAIM = text("""
    SELECT CAST(c.token AS uuid) FROM durable_claim(:queue, 1, NULL, 3600, 0, 0) c
      JOIN broker_message m ON m.id = c.message_id WHERE m.task_id = :job_id""")
_CLEAR = (
    text("DELETE FROM quota_reservations"),
    text("DELETE FROM execution_slots"),
    text("SELECT broker_delete(task_id) FROM broker_message"),
    text("DELETE FROM kombu_group"),
)


@dataclass
class Sent:
    """What this process has sent.  trips: messages."""

    trips: int = 0
    statements: int = 0
    commits: int = 0


SENT = Sent()
_BACKENDS: set[int] = set()


class Counting(cursor):
    """A cursor that counts what it sends."""

    def execute(self, query: Any, given: Any = None) -> None:
        """Send one message, which may be several statements."""
        said = query if isinstance(query, bytes) else str(query).encode()
        SENT.trips += 1
        SENT.statements += said.count(b";\n") + 1
        _BACKENDS.add(self.connection.info.backend_pid)
        super().execute(query, given)
        SENT.commits += self.connection.info.transaction_status == TRANSACTION_STATUS_IDLE


def _count(connection: Any, _: object) -> None:
    connection.cursor_factory = Counting


def main() -> None:
    """Print what each step costs; as the last line JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.round_trips", description=__doc__)
    parser.add_argument("--turns", type=int, default=200, help="of each step; of a batch a tenth")
    parser.add_argument("--steps", nargs="+", choices=SCENES, default=list(SCENES))
    given = parser.parse_args()
    with database() as (_, uow):
        event.listen(uow.engine, "connect", _count)
        uow.engine.dispose()
        figures = {
            name: _measured(uow, SCENES[name], given.turns if "batch" not in name else given.turns // 10)
            for name in given.steps
        }
    names = list(next(iter(figures.values())))
    print(f"{'':28}" + "".join(f"{name:>16}" for name in names))
    for step, found in figures.items():
        print(f"{step:28}" + "".join(f"{found[name]:16.2f}" for name in names))
    print(json.dumps(figures))


#: Prepares one turn, and returns it.
Scene = Callable[[UnitOfWork, UUID], Callable[[], object]]


def _measured(uow: UnitOfWork, scene: Scene, turns: int) -> dict[str, float]:
    own = user(uow, uuid4().hex)
    scene(uow, own)()
    trips, statements, commits, client, server = [], [], [], [], []
    for _ in range(turns):
        turn = scene(uow, own)
        SENT.trips = SENT.statements = SENT.commits = 0
        used, began = _server_seconds(), time.process_time()
        turn()
        client.append(time.process_time() - began)
        server.append(_server_seconds() - used)
        trips.append(SENT.trips)
        statements.append(SENT.statements)
        commits.append(SENT.commits)
        _clear(uow)
    return {
        "round trips": median(trips),
        "statements": median(statements),
        "commits": median(commits),
        "client ms": 1000 * median(client),
        "server ms": 1000 * median(server),
    }


def _server_seconds() -> float:
    """Processor time of the sessions, as Linux counts it."""
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in _BACKENDS) / 1e9


def _accept(uow: UnitOfWork, own: UUID) -> Callable[[], object]:
    wanted = Wanted(SHOP, uuid4().hex)
    return lambda: submit(uow, own, wanted, POLICY)


def _batch(uow: UnitOfWork, own: UUID, size: int = BATCH) -> Callable[[], object]:
    wanted = [Wanted(Repository("github.com", "bench", f"shop{one % 10}"), uuid4().hex) for one in range(size)]

    def turn() -> None:
        found = submit_batch(uow, own, wanted, POLICY, atomic=True)
        assert isinstance(found, list)
        assert len(found) == size

    return turn


def _leased(uow: UnitOfWork, own: UUID) -> Delivery:
    job_id = submit(uow, own, Wanted(SHOP, uuid4().hex), POLICY).job.id
    with uow.begin() as tx:
        token = tx.run(_CLAIM, queue=QUEUE, job_id=str(job_id)).scalar_one()
    return Delivery(job_id, token, 0, 0)


def _no_snooze(_: Tx, delay: timedelta, parked: bool) -> None:  # noqa: FBT001 - as the service calls it
    raise AssertionError(delay, parked)


def _start(uow: UnitOfWork, own: UUID) -> Callable[[], object]:
    delivery = _leased(uow, own)

    def turn() -> None:
        begun = start(uow, delivery, Service.ANALYSIS, own, POLICY, snooze=_no_snooze, roll=0.5)
        assert begun is Outcome.STARTED

    return turn


def _beat(uow: UnitOfWork, own: UUID, progress: tuple[str, int, int] | None = None) -> Callable[[], object]:
    delivery = _leased(uow, own)
    start(uow, delivery, Service.ANALYSIS, own, POLICY, snooze=_no_snooze, roll=0.5)

    def turn() -> None:
        assert beat(uow, Service.ANALYSIS, delivery, POLICY, progress) is Pulse.GO_ON

    return turn


SCENES: dict[str, Scene] = {
    "accept": _accept,
    "batch of 1": lambda uow, own: _batch(uow, own, 1),
    f"batch of {BATCH}": _batch,
    "start": _start,
    "heartbeat": _beat,
    "heartbeat with progress": lambda uow, own: _beat(uow, own, ("parsing", 1, 2)),
}


def _clear(uow: UnitOfWork) -> None:
    """Take away what a turn left, so that each begins alike."""
    with uow.begin() as tx:
        for statement in _CLEAR:
            tx.run(statement)


if __name__ == "__main__":
    main()
