"""Drop what the plans' days are over for, and what nobody refers to any more (docs/adr/0041)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from app.services.operations.dry_run import step
from app.services.operations.run_in_batches import Step, in_batches
from app.store import leftovers, retention, spec_words
from app.store.unit_of_work import UnitOfWork

#: Of results that were never in anybody's history: those of the schedule, and of accounts that are gone.
NOBODYS_DAYS = 30
#: A job that runs may hold lists that no analysis has yet, and it used each of them within an hour of storing it.
LISTS_LIVE = timedelta(days=1)
#: Parse results are a cache; what is not there is parsed again.
FACTS_LIVE = timedelta(days=30)
#: What is not there is found again, and paid again.
WORDS_LIVE = timedelta(days=180)
LETTERS_LIVE = timedelta(days=90)
#: As long as the schedule thinks of a repository, whose next look-up would make it anew.
CODEBASES_LIVE = timedelta(days=91)
#: Longer than two billing periods, of which a visitor's bill is the proof.
VISITORS_LIVE = timedelta(days=65)
RECONCILIATIONS_LIVE = timedelta(days=400)


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many of each, in the order of a round.

    requests: history rows; jobs: with their records and events; words: of specifications, kept for later ones.
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

    @property
    def counts(self) -> dict[str, int]:
        """By kind."""
        return asdict(self)


def prune(uow: UnitOfWork, *, now: datetime, lists_live: timedelta = LISTS_LIVE, dry_run: bool = False) -> Pruned:
    """One round: history, then what nobody has in it, then what nothing refers to.  Usage events stay for ever.

    Every batch is a transaction of its own and waits for no row; a round that stops half-way is taken up by the next.
    lists_live: for tests; dry_run: each batch is undone, so what only a step before it sets free is not counted.
    """

    def dropped(do: Step) -> int:
        return in_batches(uow, do, dry_run=dry_run)

    return Pruned(
        requests=dropped(lambda *at: retention.expire_history(*at, now=now)),
        jobs=dropped(lambda *at: retention.drop_jobs(*at, days=NOBODYS_DAYS, now=now)),
        lists=dropped(lambda *at: retention.drop_lists(*at, before=now - lists_live)),
        inventories=dropped(retention.drop_inventories),
        facts=dropped(lambda *at: retention.drop_facts(*at, before=now - FACTS_LIVE)),
        words=dropped(lambda *at: spec_words.drop(*at, before=now - WORDS_LIVE)),
        letters=dropped(lambda *at: leftovers.drop_letters(*at, before=now - LETTERS_LIVE)),
        codebases=dropped(lambda *at: leftovers.drop_codebases(*at, before=now - CODEBASES_LIVE)),
        visitors=dropped(lambda *at: leftovers.drop_visitors(*at, before=now - VISITORS_LIVE)),
        reconciliations=_reconciliations(uow, now=now, dry_run=dry_run),
    )


def _reconciliations(uow: UnitOfWork, *, now: datetime, dry_run: bool) -> int:
    with step(uow, dry_run=dry_run) as tx:
        leftovers.drop_clocks(tx)
        return leftovers.drop_reconciliations(tx, before=now - RECONCILIATIONS_LIVE)
    return 0
