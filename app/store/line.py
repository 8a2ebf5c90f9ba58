"""Where a job stands in its queue or behind its user's own, and how long jobs took of late."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from app.domain.waiting import Line, Runs
from app.store.messages import CHANNEL
from app.store.unit_of_work import OvertakenError, Tx

#: Counting stops there: past that nobody reads the difference.
MOST = 1_000
#: In the answer to an accept, which must not cost more the more jobs wait: 0.4 ms for 1,000.
MOST_AT_ONCE = 100

# A node that sleeps on a queue holds this lock, as a publisher has to know too: it has a process to spare.  Looked up
# for the first in line only; two keys of an advisory lock are shown as object ids.
_WORKER_FREE = f"""
    l.ahead = 0 AND NOT l.held AND EXISTS (
        SELECT FROM pg_locks k JOIN kombu_message m ON m.task_id = :task_id
         WHERE k.locktype = 'advisory' AND k.granted AND k.objid::bigint = m.queue_id AND k.objsubid = 2
           AND k.database = (SELECT oid FROM pg_database WHERE datname = current_database())
           AND k.classid::bigint = hashtext('{CHANNEL} asleep')::bigint & 4294967295) AS worker_free"""
# the function is in migration 0023
_LINE = text(f"SELECT l.*, {_WORKER_FREE} FROM job_line(:task_id, :most) AS l")
_PLACE = text(f"""
    SELECT l.*, {_WORKER_FREE},
           (SELECT id FROM analyses
                  WHERE codebase_id = :codebase_id AND commit_sha = :commit_sha AND parser_version = :parser_version
                    AND status = 'completed') AS completed
      FROM job_line(:task_id, :most) AS l""")


def line(tx: Tx, job_id: UUID, *, now: datetime) -> Line | None:
    """Where an unfinished job stands that does not run; None when its message is gone."""
    return _line(tx.run(_LINE, task_id=str(job_id), most=MOST).one(), now, MOST)


def place(tx: Tx, job_id: UUID, codebase_id: UUID, commit: str, parser_version: str, *, now: datetime) -> Line | None:
    """As line, of a job that this transaction has just published.

    Raises: OvertakenError when another one of the commit has completed, which let go of the unique key before we took
    it and after we had looked.
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
