"""The place of a job in its queue or in its user's line, and how long recent jobs took."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from app.domain.waiting import Line, Runs
from app.store.unit_of_work import OvertakenError, Tx

#: Counting stops there, because beyond it the exact number does not matter.
MOST = 1_000
#: In the answer to an accept, whose cost must not grow with the number of waiting jobs: 0.4 ms for 1,000.
MOST_AT_ONCE = 100

# the function is in sql/queue_position.sql
_LINE = text("SELECT * FROM job_line(:task_id, :most, NULL, NULL, NULL)")
_PLACE = text("SELECT * FROM job_line(:task_id, :most, :codebase_id, :commit_sha, :parser_version)")


def line(tx: Tx, job_id: UUID, *, now: datetime) -> Line | None:
    """The place of an unfinished job that does not run; None if its message is gone."""
    return _line(tx.run(_LINE, task_id=str(job_id), most=MOST).one(), now, MOST)


def place(tx: Tx, job_id: UUID, codebase_id: UUID, commit: str, parser_version: str, *, now: datetime) -> Line | None:
    """As line, for a job that this transaction has just published.

    Raises: OvertakenError if another job for the commit has completed and freed the unique key after our look-up.
    """
    commit_of = {"codebase_id": codebase_id, "commit_sha": commit, "parser_version": parser_version}
    row = tx.run(_PLACE, task_id=str(job_id), most=MOST_AT_ONCE, **commit_of).one()
    if row.completed is not None:
        raise OvertakenError
    return _line(row, now, MOST_AT_ONCE)


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
