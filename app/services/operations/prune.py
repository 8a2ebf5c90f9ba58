"""Delete rows whose retention is over, and rows that nothing refers to any more (docs/adr/0041)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial

from app.domain.objects import Objects, ObjectsAwayError
from app.domain.webhooks import LOG_LIVES
from app.services.operations.keep_months import keep_months
from app.services.operations.run_in_batches import BatchStep, in_batches, step
from app.store.analyses import packed_facts, stored_objects
from app.store.core.batch import Batch
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.operations import retention, unused_rows
from app.store.specifications import spec_words
from app.store.webhooks import webhook_deliveries

#: Retention of results that were never in a user's history: those of the schedule, and of deleted accounts.
NOBODYS_DAYS = 30
#: A running job may use lists that no analysis has yet; it used each of them within an hour of storing it.
LISTS_LIVE = timedelta(days=1)
#: Facts are a cache: missing ones are parsed again.
FACTS_LIVE = timedelta(days=30)
#: A running job may refer to an object that it has begun to store.
OBJECTS_LIVE = timedelta(days=1)
#: Missing words are generated again, and paid for again.
WORDS_LIVE = timedelta(days=180)
LETTERS_LIVE = timedelta(days=90)
#: As long as the schedule considers a repository, because its next look-up would create it again.
CODEBASES_LIVE = timedelta(days=91)
#: Longer than two billing periods, for which a visitor's account is the proof of its bills.
VISITORS_LIVE = timedelta(days=65)
RECONCILIATIONS_LIVE = timedelta(days=400)


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many of each kind were deleted, in the order of a run.

    requests: history rows; jobs: with their records and events; objects: with what they contain; words: stored for
    later specifications.
    """

    requests: int
    jobs: int
    lists: int
    inventories: int
    facts: int
    words: int
    letters: int
    codebases: int
    visitors: int
    reconciliations: int
    webhook_deliveries: int
    objects: int

    @property
    def counts(self) -> dict[str, int]:
        """Count the deleted rows by kind."""
        return asdict(self)


def prune(
    uow: UnitOfWork,
    *,
    now: datetime,
    lists_live: timedelta = LISTS_LIVE,
    objects: Objects | None = None,
    dry_run: bool = False,
) -> Pruned:
    """Prune once: history, data in no history, unused rows, and then objects, whose store may be slow or away.

    Every batch is a transaction of its own and waits for no row; if a run stops half-way, the next one continues.
    Usage events are kept for ever.
    lists_live: for tests; objects: the store of what is not in the database; dry_run: each batch is undone, so rows
    that only an earlier step would release are not counted.
    """

    def dropped(do: BatchStep) -> int:
        return in_batches(uow, do, dry_run=dry_run)

    return Pruned(
        requests=dropped(lambda *at: retention.expire_history(*at, now=now)),
        jobs=dropped(lambda *at: retention.drop_jobs(*at, days=NOBODYS_DAYS, now=now)),
        lists=dropped(lambda *at: retention.drop_lists(*at, before=now - lists_live)),
        inventories=dropped(retention.drop_inventories),
        facts=dropped(lambda *at: retention.drop_facts(*at, before=now - FACTS_LIVE))
        + dropped(lambda *at: packed_facts.drop(*at, before=now - FACTS_LIVE)),
        words=dropped(lambda *at: spec_words.drop(*at, before=now - WORDS_LIVE)),
        letters=dropped(lambda *at: unused_rows.drop_letters(*at, before=now - LETTERS_LIVE)),
        codebases=dropped(lambda *at: unused_rows.drop_codebases(*at, before=now - CODEBASES_LIVE)),
        visitors=dropped(lambda *at: unused_rows.drop_visitors(*at, before=now - VISITORS_LIVE)),
        reconciliations=_reconciliations(uow, now=now, dry_run=dry_run),
        webhook_deliveries=_deliveries(uow, now=now, dry_run=dry_run),
        objects=0 if objects is None else _objects(uow, objects, now=now, dry_run=dry_run),
    )


def _objects(uow: UnitOfWork, objects: Objects, *, now: datetime, dry_run: bool) -> int:
    """Delete objects that no row refers to.  While their store is away, they stay for the next run."""

    def collect(tx: Tx, after: int | None, most: int) -> Batch:
        batch, digests = stored_objects.drop(tx, after, most, before=now - OBJECTS_LIVE)
        if digests and not dry_run:
            # before the rows are gone: what would be left without a row, no later run could find
            objects.delete(digests)
        return batch

    try:
        return in_batches(uow, collect, dry_run=dry_run)
    except ObjectsAwayError:
        return 0


def _deliveries(uow: UnitOfWork, *, now: datetime, dry_run: bool) -> int:
    """Drop the months that are over for so long that nobody is shown them, and delete what is in no month's part.

    Returns: how many rows those had, the dropped ones as the last vacuum counted them.
    """
    before, done = now - LOG_LIVES, keep_months(uow, now=now, dry_run=dry_run)
    total = done.rows if done else 0
    with uow.begin() as tx:
        parts = webhook_deliveries.parts_by_row(tx)
    for part in parts:
        expire = partial(webhook_deliveries.expire, part=part, before=before)
        total += in_batches(uow, expire, dry_run=dry_run)
    return total


def _reconciliations(uow: UnitOfWork, *, now: datetime, dry_run: bool) -> int:
    with step(uow, dry_run=dry_run) as tx:
        unused_rows.drop_clocks(tx)
        return unused_rows.drop_reconciliations(tx, before=now - RECONCILIATIONS_LIVE)
    return 0
