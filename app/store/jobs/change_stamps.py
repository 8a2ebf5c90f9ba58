"""A cheap query over many jobs that shows whether anything has changed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from app.store.core.unit_of_work import Tx

_PULSES = text("""
    SELECT w.job_id, (SELECT max(e.id) FROM job_events e WHERE e.job_id = w.job_id) AS event_id,
           a.status::text AS status, a.progress::text AS progress
      FROM unnest(CAST(:job_ids AS uuid[])) AS w(job_id)
      LEFT JOIN analyses a ON a.id = w.job_id""")


def of(tx: Tx, job_ids: Collection[UUID]) -> list[Row[Any]]:
    """rows: job_id, event_id of its newest event, status and progress of its record."""
    return list(tx.run(_PULSES, job_ids=[str(job_id) for job_id in job_ids]).all())
