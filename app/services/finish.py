"""Complete an analysis: results, usage event, reservation, slot, wake and message in one commit (docs/adr/0002)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from app.domain.lifecycle import Delivery, Outcome
from app.domain.queues import Service
from app.services import end
from app.services.policy import Policy
from app.store import analyses, events, inventories, messages, quota
from app.store.inventories import FileRow
from app.store.unit_of_work import UnitOfWork, retried

BATCH = 500  # files per statement while saving; about 1 MB of JSON


def save(uow: UnitOfWork, files: Sequence[FileRow], policy: Policy) -> None:
    """Store the tests of files by content, outside the finish commit, so that it holds the user's row only briefly."""
    for first in range(0, len(files), BATCH):
        with uow.begin() as tx:
            inventories.store_files(tx, files[first : first + BATCH], policy.parser_version)


@retried
def finish(
    uow: UnitOfWork,
    delivery: Delivery,
    user_id: UUID | None,
    files: Sequence[FileRow],
    summary: dict[str, Any],
    policy: Policy,
    *,
    now: datetime,
) -> Outcome:
    """End the job as completed, or change nothing when the lease is lost.

    Locks: users row, then the message.  Returns: COMPLETED, CANCELLED or STALE.
    """
    listed = inventories.listing(files)  # the lock on the user's row is for statements only
    with uow.begin() as tx:
        held = end.hold(tx, delivery, user_id)
        if held is None:
            return Outcome.STALE
        if held.cancelled:
            return end.cancel(tx, delivery, Service.ANALYSIS, held, now=now)
        total = int(summary["tests"])
        if not analyses.complete(tx, delivery.job_id, total_tests=total, summary=summary, now=now):
            return Outcome.STALE
        inventories.attach(tx, delivery.job_id, listed, policy.parser_version)
        quota.settle(tx, delivery.job_id, resource_id=delivery.job_id, now=now)
        messages.delete(tx, delivery.job_id)
        end.leave(tx, delivery, Service.ANALYSIS, held, now=now)
        events.completed(tx, delivery.job_id, tests=total, attempt=delivery.attempt)
        return Outcome.COMPLETED
