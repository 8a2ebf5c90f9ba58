"""The timeline of each job.  Events are written in the commits that they describe."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

_ADD = text("INSERT INTO job_events (job_id, event, facts) VALUES (:job_id, :event, CAST(:facts AS jsonb))")
_COMPLETED = text("""
    INSERT INTO job_events (job_id, event, facts)
    SELECT :job_id, 'completed', CAST(:facts AS jsonb) || jsonb_build_object(
               'billed', coalesce((SELECT sum(quota_amount) FROM usage_events WHERE job_id = :job_id), 0))""")
# Everybody who sees the job reads these events.  How much of a quota is used is for the payer and the audit only, and
# the ids of the payer's request are for the log and the payer's webhooks.
# Tier, queue and limit are those of the line that the job is in: the payer's until it is carried, then anybody's.
_LIST = text("""
    SELECT e.id, e.at, e.event,
           e.facts - CAST('{quota,request_id,traceparent}' AS text[]) - CASE WHEN :with_bill THEN '' ELSE 'billed' END
             - CASE WHEN :with_lines OR (:with_bill AND e.id < c.first) THEN CAST('{}' AS text[])
                    ELSE ARRAY['tier', 'queue', 'limit'] END AS facts
      FROM job_events e
     CROSS JOIN (SELECT coalesce(min(id) FILTER (WHERE event = 'carried'), 9223372036854775807) AS first
                   FROM job_events WHERE job_id = :job_id) AS c
     WHERE e.job_id = :job_id ORDER BY e.id""")
_COUNT_EACH = text("""
    SELECT job_id, count(*) AS n FROM job_events
     WHERE job_id = ANY(CAST(:job_ids AS uuid[])) AND event = :event GROUP BY job_id""")
_ORPHANS = text("SELECT count(*) FROM job_events WHERE event = 'reservation_orphaned'")


class EventRow(NamedTuple):
    """An event of a job's timeline."""

    id: int
    at: datetime
    event: str
    facts: dict[str, Any]


def add(tx: Tx, job_id: UUID, event: str, **facts: object) -> None:
    """Append one event.  facts: JSON, numbers and codes, no payloads."""
    tx.write(_ADD, job_id=job_id, event=event, facts=json.dumps(facts, default=str))


def add_each(tx: Tx, event: str, facts: Mapping[UUID, Mapping[str, object]]) -> None:
    """Append the same event to many jobs.  facts: by job."""
    rows = [{"job_id": job_id, "event": event, "facts": json.dumps(of, default=str)} for job_id, of in facts.items()]
    tx.write_each(_ADD, rows)


def completed(tx: Tx, job_id: UUID, **facts: object) -> None:
    """Append the end of a job that was settled in this transaction, with the billed units."""
    tx.write(_COMPLETED, job_id=job_id, facts=json.dumps(facts))


def timeline(tx: Tx, job_id: UUID, *, with_bill: bool, with_lines: bool = False) -> list[EventRow]:
    """The events of a job without the payer's quota, in the order in which they happened.

    with_bill: for the payer: include the billed units, and the line while it is the payer's; with_lines: include every
    line.
    """
    return tx.run(_LIST, job_id=job_id, with_bill=with_bill, with_lines=with_lines).values(EventRow)


def count_each(tx: Tx, job_ids: Collection[UUID], event: str) -> dict[UUID, int]:
    """How often an event happened, by job; a job to which it never happened is missing."""
    return {row.job_id: row.n for row in tx.run(_COUNT_EACH, job_ids=[*map(str, job_ids)], event=event)}


def orphans(tx: Tx) -> int:
    """How many reservations without a job the sweep has ever found."""
    return int(tx.run(_ORPHANS).scalar_one())
