"""Jobs of all users, newest first, by what operators look for."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx


@dataclass(frozen=True, slots=True)
class JobFilter:
    """The criteria of a search; None: anything.

    state: as services/jobs/describe.py derives it; repository: a part of OWNER/NAME, ignoring case; error: a code.
    """

    state: str | None = None
    service: str | None = None
    queue: str | None = None
    tier: str | None = None
    user_id: UUID | None = None
    repository: str | None = None
    error: str | None = None


# Only so many requests are looked through, those of one user by an index of their own; the states are those of
# services/jobs/describe.py, which tests/web/test_operator_jobs.py compares with it.
_SEARCH = text("""
    WITH looked AS MATERIALIZED (
        SELECT r.id, r.job_id, r.user_id, r.codebase_id, r.service, r.queue, r.tier, r.cancelled_at
          FROM analysis_requests r
         WHERE r.role = 'payer' AND (CAST(:before AS bigint) IS NULL OR r.id < :before)
           AND (CAST(:user_id AS uuid) IS NULL OR r.user_id = :user_id)
         ORDER BY r.id DESC LIMIT :searched),
    known AS (
        SELECT l.id, l.job_id, l.user_id, coalesce(a.error_code, s.error_code) AS error,
               CASE WHEN coalesce(CAST(a.status AS text), CAST(s.status AS text)) <> 'running'
                    THEN coalesce(CAST(a.status AS text), CAST(s.status AS text))
                    WHEN m.task_id IS NULL AND l.cancelled_at IS NOT NULL THEN 'cancelled'
                    WHEN m.task_id IS NULL AND coalesce(a.id, s.id) IS NULL THEN 'queued'
                    WHEN m.task_id IS NULL OR m.started_at IS NOT NULL THEN 'running'
                    WHEN m.delay_reason IN ('snooze', 'parked') THEN 'waiting'
                    WHEN m.delay_reason = 'retry' THEN 'retrying'
                    ELSE 'queued' END AS state
          FROM looked l
          JOIN codebases c ON c.id = l.codebase_id
          LEFT JOIN analyses a ON a.id = l.job_id
          LEFT JOIN spec_documents s ON s.id = l.job_id
          LEFT JOIN broker_message m ON m.task_id = CAST(l.job_id AS text)
         WHERE (CAST(:service AS text) IS NULL OR l.service = :service)
           AND (CAST(:queue AS text) IS NULL OR l.queue = :queue)
           AND (CAST(:tier AS text) IS NULL OR CAST(l.tier AS text) = :tier)
           AND (CAST(:repository AS text) IS NULL
                OR strpos(lower(c.owner || '/' || c.name), lower(:repository)) > 0))
    SELECT k.id, k.job_id, k.user_id, k.state, b.looked, b.oldest
      FROM (SELECT count(*) AS looked, min(id) AS oldest FROM looked) b
      LEFT JOIN LATERAL (
        SELECT * FROM known
         WHERE (CAST(:state AS text) IS NULL OR state = :state) AND (CAST(:error AS text) IS NULL OR error = :error)
         ORDER BY id DESC LIMIT :most) k ON true
     ORDER BY k.id DESC""")


class FoundJobRow(NamedTuple):
    """A request that a search found, or only how far it searched.  id: of the request; None: no job matches.

    looked: how many requests were looked through; oldest: the last id of them.
    """

    id: int | None
    job_id: UUID | None
    user_id: UUID | None
    state: str | None
    looked: int
    oldest: int | None


def find(tx: Tx, wanted: JobFilter, *, before: int | None, most: int, searched: int) -> list[FoundJobRow]:
    """Matching jobs; a single row without an id says that none matches."""
    return tx.run(_SEARCH, before=before, most=most, searched=searched, **asdict(wanted)).values(FoundJobRow)
