"""Whether the database knows ids of jobs, and of messages that webhooks were sent."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

# Bills and the timeline may outlive the request.
_JOBS = text("""
    SELECT i.id FROM unnest(CAST(:ids AS uuid[])) AS i (id)
     WHERE EXISTS (SELECT FROM analysis_requests r WHERE r.job_id = i.id)
        OR EXISTS (SELECT FROM usage_events u WHERE u.job_id = i.id)
        OR EXISTS (SELECT FROM job_events e WHERE e.job_id = i.id)""")
# No index has them: all deliveries of the last 30 days are read once.
_MESSAGES = text("SELECT message_id FROM webhook_deliveries WHERE message_id = ANY (CAST(:ids AS uuid[]))")


def known_jobs(tx: Tx, ids: Collection[UUID]) -> set[UUID]:
    """The ids that are of jobs."""
    return set(tx.run(_JOBS, ids=[*map(str, ids)]).scalars())


def known_messages(tx: Tx, ids: Collection[UUID]) -> set[UUID]:
    """The ids that are of messages to webhooks."""
    return set(tx.run(_MESSAGES, ids=[*map(str, ids)]).scalars())
