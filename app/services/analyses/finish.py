"""Complete an analysis: results, usage event, reservation, slot, wake and message in one commit (docs/adr/0002)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from uuid import UUID

from app.domain.jobs import Summary
from app.domain.lifecycle import Delivery, Outcome
from app.domain.queues import Service
from app.services.jobs import end_job
from app.services.policy import Policy
from app.store.analyses import analyses, file_lists
from app.store.analyses.file_lists import FileList, Listing
from app.store.analyses.inventories import FileRow
from app.store.core.unit_of_work import UnitOfWork, retried
from app.store.jobs import events, messages, quota

BATCH = 32  # lists per statement while saving: about 500 files, or a few MB of JSON
#: Letters of JSON after which a statement has no further list.
MOST_LETTERS = 8_000_000


def save(uow: UnitOfWork, files: Iterable[FileRow], policy: Policy) -> Listing:
    """Store files by content, outside the finish commit, so that this locks the user's row only briefly.

    files: by path; one batch is in memory at a time.  Returns: what the finish commit has to attach.
    """
    listing: list[bytes] = []
    lists = file_lists.lists(files, policy.parser_version)
    while batch := list(_batch(lists)):
        _save(uow, batch, policy)
        listing += [one.digest for one in batch]
    return listing


def _batch(lists: Iterator[FileList]) -> Iterator[FileList]:
    letters = 0
    for one in islice(lists, BATCH):
        yield one
        letters += one.letters
        if letters > MOST_LETTERS:
            return


@retried
def _save(uow: UnitOfWork, batch: Sequence[FileList], policy: Policy) -> None:
    with uow.begin() as tx:
        file_lists.store(tx, batch, policy.parser_version)


@retried
def finish(
    uow: UnitOfWork,
    delivery: Delivery,
    user_id: UUID | None,
    listing: Listing,
    summary: Summary,
    *,
    committed_at: datetime | None = None,
    now: datetime | None = None,
) -> Outcome:
    """End the job as completed, or change nothing if the lease is lost.

    listing: from `save`; committed_at: when the commit was made, None if Git does not say; now: None = by the database.
    Locks: the users rows of carrier and payer, then the message.  Returns: COMPLETED, CANCELLED or STALE.
    """
    with uow.begin() as tx:
        fenced = end_job.lock(tx, delivery, user_id, now=now)
        if fenced is None:
            return Outcome.STALE
        now = fenced.now
        if fenced.cancelled or fenced.gone:  # a deleted account is not billed
            return end_job.cancel(tx, delivery, Service.ANALYSIS, fenced, now=now)
        total = int(summary["tests"])
        if not analyses.complete(
            tx, delivery.job_id, total_tests=total, summary=summary, committed_at=committed_at, now=now
        ):
            return Outcome.STALE
        file_lists.attach(tx, delivery.job_id, listing)
        # a result without a test is billed to no account (docs/adr/0033)
        cost = None if total else 0
        quota.settle(tx, delivery.job_id, resource_id=delivery.job_id, cost=cost, now=now)
        messages.delete(tx, delivery.job_id)
        end_job.leave(tx, delivery, Service.ANALYSIS, fenced, now=now)
        events.completed(tx, delivery.job_id, tests=total, attempt=delivery.attempt)
        return Outcome.COMPLETED
