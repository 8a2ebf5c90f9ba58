"""Complete an analysis: results, usage event, reservation, slot, wake and message in one commit (docs/adr/0002)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

from app.domain.lifecycle import Delivery, Outcome
from app.domain.queues import Service
from app.services import end
from app.services.policy import Policy
from app.store import analyses, events, file_lists, messages, quota
from app.store.file_lists import Listing
from app.store.inventories import FileRow
from app.store.unit_of_work import UnitOfWork, retried

BATCH = 32  # lists per statement while saving: some 500 files, about 1 MB of JSON


def save(uow: UnitOfWork, files: Iterable[FileRow], policy: Policy) -> Listing:
    """Store files by content, outside the finish commit, so that it holds the user's row only briefly.

    files: by path; one batch of them is in hand at a time.  Returns what the commit has to attach.
    """
    listing: list[bytes] = []
    lists = file_lists.lists(files, policy.parser_version)
    while batch := list(islice(lists, BATCH)):
        with uow.begin() as tx:
            file_lists.store(tx, batch, policy.parser_version)
        listing += [one.digest for one in batch]
    return listing


@retried
def finish(
    uow: UnitOfWork,
    delivery: Delivery,
    user_id: UUID | None,
    listing: Listing,
    summary: dict[str, Any],
    *,
    now: datetime,
) -> Outcome:
    """End the job as completed, or change nothing when the lease is lost.  listing: from `save`.

    Locks: users row, then the message.  Returns: COMPLETED, CANCELLED or STALE.
    """
    with uow.begin() as tx:
        held = end.hold(tx, delivery, user_id)
        if held is None:
            return Outcome.STALE
        if held.cancelled:
            return end.cancel(tx, delivery, Service.ANALYSIS, held, now=now)
        total = int(summary["tests"])
        if not analyses.complete(tx, delivery.job_id, total_tests=total, summary=summary, now=now):
            return Outcome.STALE
        file_lists.attach(tx, delivery.job_id, listing)
        quota.settle(tx, delivery.job_id, resource_id=delivery.job_id, now=now)
        messages.delete(tx, delivery.job_id)
        end.leave(tx, delivery, Service.ANALYSIS, held, now=now)
        events.completed(tx, delivery.job_id, tests=total, attempt=delivery.attempt)
        return Outcome.COMPLETED
