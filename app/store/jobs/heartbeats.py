"""The heartbeat of a running job, which is one statement and waits for no lock."""

from __future__ import annotations

import json

from sqlalchemy import text

from app.domain.lifecycle import Delivery
from app.domain.queues import Service
from app.store.core.unit_of_work import Tx
from app.store.jobs.records import TABLES

# A finish of the same job locks the record before the slot, and a start of its next delivery may lock them the other
# way round.  Since this statement skips rows that are locked, it meets neither in a deadlock: whoever has locked them
# is about to end the job or this delivery, so nothing has to be renewed.  The commit does not wait for the disk: a
# crash of the server ends the lease anyway.
_BEAT = {
    service: text(f"""
        WITH mine AS MATERIALIZED (
            SELECT cancel_requested_at IS NOT NULL AS cancelled
              FROM broker_delivery(:task_id, CAST(:lease_token AS uuid))),
        slot AS MATERIALIZED (
            SELECT job_id FROM execution_slots
             WHERE job_id = :job_id AND lease_token = :lease_token AND EXISTS (SELECT FROM mine)
               FOR NO KEY UPDATE SKIP LOCKED),
        record AS MATERIALIZED (
            SELECT id FROM {table}
             WHERE id = :job_id AND status = 'running' AND CAST(:progress AS jsonb) IS NOT NULL
               AND EXISTS (SELECT FROM mine)
               FOR NO KEY UPDATE SKIP LOCKED),
        renewed AS (
            UPDATE execution_slots SET lease_expires_at = clock_timestamp() + make_interval(secs => :lease_seconds)
             WHERE job_id IN (SELECT job_id FROM slot)),
        told AS (
            UPDATE {table} SET progress = CAST(:progress AS jsonb) WHERE id IN (SELECT id FROM record))
        SELECT cancelled, set_config('synchronous_commit', 'off', true) FROM mine""")
    for service, table in TABLES.items()
}


def beat(
    tx: Tx, service: Service, delivery: Delivery, progress: tuple[str, int, int] | None, *, lease_seconds: float
) -> bool | None:
    """Renew the slot of a delivery and write its progress, if it still has its lease.

    progress: phase, done, total; None leaves it as it is.
    Returns: whether a cancellation was requested; None if the lease is lost.
    Locks: the slot and the record, skipping locked ones.
    """
    phase = progress and dict(zip(("phase", "done", "total"), progress, strict=True))
    row = tx.run(
        _BEAT[service],
        job_id=delivery.job_id,
        task_id=str(delivery.job_id),
        lease_token=delivery.lease_token,
        lease_seconds=lease_seconds,
        progress=phase and json.dumps(phase),
    ).one_or_none()
    return None if row is None else bool(row.cancelled)
