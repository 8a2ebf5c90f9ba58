"""The place of a job in its queue or in its user's line, and how long recent jobs took."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from app.domain.waiting import Line, Runs
from app.store.core.unit_of_work import OvertakenError, Tx

#: Counting stops there, because beyond it the exact number does not matter.
MOST = 1_000
#: In the answer to an accept, whose cost must not grow with the number of waiting jobs: 0.4 ms for 1,000.
MOST_AT_ONCE = 100

# the function is in sql/queue_position.sql
_LINE = text("SELECT * FROM job_line(:task_id, :most, NULL, NULL, NULL)")
_LINES = text("""
    SELECT of.task_id, line.* FROM unnest(CAST(:task_ids AS text[])) AS of (task_id),
           LATERAL job_line(of.task_id, :most, NULL, NULL, NULL) AS line""")
_PLACE = text("SELECT * FROM job_line(:task_id, :most, :codebase_id, :commit_sha, :parser_version)")
# for a batch; a single accept takes 5 % less time with the plain call
_PLACES = text("""
    SELECT line.* FROM unnest(CAST(:task_id AS text[]), CAST(:codebase_id AS uuid[]), CAST(:commit_sha AS text[]))
                       WITH ORDINALITY AS of (task_id, codebase_id, commit_sha, n),
           LATERAL job_line(of.task_id, :most, of.codebase_id, of.commit_sha, :parser_version) AS line
     ORDER BY of.n""")


def line(tx: Tx, job_id: UUID, *, now: datetime) -> Line | None:
    """The place of an unfinished job that does not run; None if its message is gone."""
    return _line(tx.run(_LINE, task_id=str(job_id), most=MOST).one(), now, MOST)


def lines(tx: Tx, job_ids: Collection[UUID], *, now: datetime) -> dict[UUID, Line]:
    """The places of many jobs, by job; a job whose message is gone is missing."""
    found = {
        UUID(row.task_id): _line(row, now, MOST) for row in tx.run(_LINES, task_ids=[*map(str, job_ids)], most=MOST)
    }
    return {job_id: stands for job_id, stands in found.items() if stands}


def places(tx: Tx, jobs: Sequence[tuple[UUID, UUID, str]], parser_version: str, *, now: datetime) -> list[Line | None]:
    """The places of jobs that this transaction has just published.  jobs: (its id, of its repository, its commit).

    Raises: OvertakenError if another job for a commit has completed and freed the unique key after our look-up.
    """
    task_ids, codebase_ids, commits = ([str(value) for value in column] for column in zip(*jobs, strict=True))
    given = {"most": MOST_AT_ONCE, "parser_version": parser_version}
    if len(jobs) == 1:
        given |= {"task_id": task_ids[0], "codebase_id": codebase_ids[0], "commit_sha": commits[0]}
        rows = tx.run(_PLACE, **given).all()
    else:
        given |= {"task_id": task_ids, "codebase_id": codebase_ids, "commit_sha": commits}
        rows = tx.run(_PLACES, **given).all()
    if any(row.completed is not None for row in rows):
        raise OvertakenError
    return [_line(row, now, MOST_AT_ONCE) for row in rows]


def _line(row: Row[Any], now: datetime, most: int) -> Line | None:
    if row.ahead is None:
        return None
    return Line(
        position=int(row.ahead) + 1,
        own=int(row.own),
        workers=int(row.workers),
        head_age_seconds=(now - row.oldest).total_seconds(),
        paused=row.paused,
        runs=None if row.run_seconds is None else Runs(row.run_seconds, row.run_deviation),
        more=row.ahead >= most,
        held=row.held,
        taken=int(row.taken),
        worker_free=bool(row.worker_free),
    )
