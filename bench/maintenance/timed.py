"""The tasks that are timed, each on a copy of the filled database."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, text
from testlist.version import PARSER_VERSION

from app.domain.queues import JOB_QUEUES
from app.domain.repositories import Repository
from app.errors import Unavailable
from app.services.analyses import reschedule as rescheduling
from app.services.fairness.report_waits import report
from app.services.operations.reconcile import reconcile
from app.services.operations.run_in_batches import in_batches
from app.services.policy import Policy
from app.store.core.batch import Batch
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.operations import reconciliations, retention
from app.store.repositories import codebases

#: How many of the oldest jobs lose their user, as a wave of expired history does.
WAVE = 60_000
POLICY = Policy(parser_version=PARSER_VERSION)


def bills(uow: UnitOfWork) -> None:
    """The daily reconciliation: twice, because the second finds closed days."""
    longest = [0.0]
    count = reconciliations.count

    def timed(tx: Tx, *, begin: datetime, end: datetime | None) -> Row[Any]:
        began = time.monotonic()
        found = count(tx, begin=begin, end=end)
        longest.append(time.monotonic() - began)
        return found

    reconciliations.count = timed
    for run in ("first", "next"):
        began = time.monotonic()
        done = reconcile(uow, now=uow.now())
        seconds = time.monotonic() - began
        print(f"reconcile, {run} run: {seconds:.1f} s, {done.jobs} jobs, {len(done.differences)} differences;")
        print(f"    {len(longest) - 1} statements, the longest {max(longest):.1f} s")
        longest[1:] = []


def schedule(uow: UnitOfWork) -> None:
    """The hourly look at repositories, whose hosts answer after 20 ms that they are away."""

    def away(repository: Repository) -> tuple[str, str | None]:
        time.sleep(0.02)
        raise Unavailable(f"{repository.host} is away")

    began, now = time.monotonic(), uow.now()
    with uow.once() as tx:
        hosts = codebases.hosts(tx)
    found = sum(1 for host in hosts for _ in rescheduling.due(uow, host, now=now))
    print(f"candidates of the schedule: {time.monotonic() - began:.1f} s, {found} due")
    began = time.monotonic()
    done = rescheduling.reschedule(uow, away, POLICY, now=now, expired=lambda: time.monotonic() > began + 30)
    seconds = time.monotonic() - began
    print(f"reschedule: {done.due / seconds:.0f} repositories/s of {len(hosts)} hosts; serial: 50/s at most")


def prune(uow: UnitOfWork) -> None:
    """Jobs that have just left their user's history, with the statistics of before."""
    with uow.begin() as tx:
        tx.run(
            text("""
            UPDATE analysis_requests SET user_id = NULL, retention_days = 1
             WHERE id <= (SELECT min(id) FROM analysis_requests) + :wave"""),
            wave=WAVE,
        )
    for statistics in ("of before", "after ANALYZE"):
        began, until = time.monotonic(), time.monotonic() + 20
        now = uow.now()

        def for_a_while(tx: Tx, after: int | None, most: int, *, until: float = until, now: datetime = now) -> Batch:
            batch = retention.drop_jobs(tx, after, most, days=30, now=now)
            return batch if time.monotonic() < until else Batch(None, batch.rows)

        jobs = in_batches(uow, for_a_while)
        seconds = time.monotonic() - began
        print(f"prune, statistics {statistics}: {jobs / seconds:.0f} jobs/s, {jobs} jobs")
        with uow.begin() as tx:
            tx.run(text("ANALYZE analysis_requests"))


def fairness(uow: UnitOfWork) -> None:
    """The operator's report on 24 hours."""
    now = uow.now()
    for _ in range(3):
        began = time.monotonic()
        found = report(
            uow, POLICY, by="user", since=now - timedelta(days=1), until=now, workers=dict.fromkeys(JOB_QUEUES, 50)
        )
        print(
            f"fairness: {time.monotonic() - began:.2f} s, {len(found.items)} of {len(found.items) + found.more} users"
        )


TASKS: dict[str, Callable[[UnitOfWork], None]] = {
    "reconcile": bills,
    "reschedule": schedule,
    "prune": prune,
    "fairness": fairness,
}
