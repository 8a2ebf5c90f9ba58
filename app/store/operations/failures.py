"""Failed jobs of a window, newest first."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

# each side reads its own index of failed records, and only as many as are asked for
_FIND = text("""
    SELECT f.job_id, f.service, f.code, f.message, f.failed_at, r.codebase_id, r.user_id FROM (
        (SELECT id AS job_id, 'analysis' AS service, error_code AS code, error_message AS message,
                completed_at AS failed_at
           FROM analyses WHERE status = 'failed' AND completed_at >= :since ORDER BY completed_at DESC LIMIT :most)
        UNION ALL
        (SELECT id, 'specview', error_code, error_message, completed_at
           FROM spec_documents WHERE status = 'failed' AND completed_at >= :since
          ORDER BY completed_at DESC LIMIT :most)
        ORDER BY failed_at DESC LIMIT :most) f
      LEFT JOIN analysis_requests r ON r.job_id = f.job_id AND r.role = 'payer'
     ORDER BY f.failed_at DESC, f.job_id""")


class FailureRow(NamedTuple):
    """A failed job.  user_id: of the payer, None for the schedule."""

    job_id: UUID
    service: str
    code: str
    message: str
    failed_at: datetime
    codebase_id: UUID | None
    user_id: UUID | None


def find(tx: Tx, *, since: datetime, most: int) -> list[FailureRow]:
    """Failures since then, newest first."""
    return tx.run(_FIND, since=since, most=most).values(FailureRow)
