"""A cheap query over many jobs that shows whether anything has changed."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

_PULSES = text("""
    SELECT w.job_id, (SELECT max(e.id) FROM job_events e WHERE e.job_id = w.job_id) AS event_id,
           a.status::text AS status, a.progress::text AS progress
      FROM unnest(CAST(:job_ids AS uuid[])) AS w(job_id)
      LEFT JOIN analyses a ON a.id = w.job_id""")


class ChangeStampRow(NamedTuple):
    """Values that change whenever a job does.  event_id: of its newest event; status, progress: of its record."""

    job_id: UUID
    event_id: int | None
    status: str | None
    progress: str | None


def of(tx: Tx, job_ids: Collection[UUID]) -> list[ChangeStampRow]:
    """Read the values that change whenever one of these jobs does."""
    return tx.run(_PULSES, job_ids=[str(job_id) for job_id in job_ids]).values(ChangeStampRow)
