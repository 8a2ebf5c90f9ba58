"""Look at dead letters, put them back on their queues, or drop them (docs/adr/0008)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from app.errors import InvalidInput
from app.store import audit_log, dead_letters, events
from app.store.unit_of_work import Tx, UnitOfWork

REASONS = ("lost", "rejected", "undecodable")
#: Letters in one transaction.
BATCH = 500

ENDED = "its job has ended; submit it again with retry"
UNFINISHED = "its job has not ended: redrive it, or let the next sweep end the job"
ABSENT = "no such letter, or somebody else is at it"
KEPT = {"in the way": "a message with its task id or unique key is there", "no queue": "its queue is gone"}


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which letters: with these ids, of a queue, for a reason; None: any."""

    ids: tuple[int, ...] | None = None
    queue: str | None = None
    reason: str | None = None

    def __post_init__(self) -> None:
        if self.reason not in (None, *REASONS):
            allowed = f"allowed are {', '.join(REASONS)}"
            error = {"pointer": "/reason", "detail": allowed}
            raise InvalidInput(f"There is no reason {self.reason!r}; {allowed}", errors=[error])

    def filters(self) -> dict[str, Any]:
        """As the store takes them."""
        return {"ids": self.ids, "queue": self.queue, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Done:
    """done: ids of letters that were redriven or dropped; kept: of the others, and why."""

    done: list[int] = field(default_factory=list)
    kept: dict[int, str] = field(default_factory=dict)


def find(uow: UnitOfWork, chosen: Chosen, *, before: int | None = None, most: int = 100) -> list[dict[str, Any]]:
    """Letters, newest first; payloads are whole where ids are given, else their first 200 characters."""
    with uow.begin() as tx:
        whole = chosen.ids is not None
        return dead_letters.find(tx, **chosen.filters(), before=before, most=most, whole=whole)


def count(uow: UnitOfWork, chosen: Chosen) -> int:
    """How many letters there are."""
    with uow.begin() as tx:
        return dead_letters.count(tx, **chosen.filters())


def redrive(uow: UnitOfWork, chosen: Chosen, *, actor: str) -> Done:
    """Make letters messages again, ready at once; the letter of a job that has ended stays dead.

    A transaction for every 500.  Locks: the letters, which the sweep then leaves alone.
    """
    return _each(uow, chosen, _redrive, actor=actor, action="dead.redrive")


def drop(uow: UnitOfWork, chosen: Chosen, *, actor: str) -> Done:
    """Delete letters; that of an unfinished job stays, as the sweep ends the job by it.  Locks: the letters."""
    return _each(uow, chosen, _drop, actor=actor, action="dead.drop")


#: (transaction, job of each letter or None, whether each job has ended) -> as Done
_Act = Callable[[Tx, dict[int, UUID | None], dict[UUID, bool]], Done]


def _each(uow: UnitOfWork, chosen: Chosen, act: _Act, *, actor: str, action: str) -> Done:
    total, after = Done(), 0
    while True:
        with uow.begin() as tx:
            rows = dead_letters.lock(tx, **chosen.filters(), after=after, most=BATCH)
            if not rows:
                break
            jobs = {row.id: row.job_id for row in rows}
            # read under the letters' locks: the sweep ends no job of theirs meanwhile
            ended = dead_letters.standing(tx, [job_id for job_id in jobs.values() if job_id])
            part = act(tx, jobs, ended)
            if part.done:
                audit_log.add(tx, actor, action, chosen.queue or "all", ids=part.done, reason=chosen.reason)
        after = rows[-1].id
        total.done.extend(part.done)
        total.kept.update(part.kept)
    total.kept.update(_absent(chosen.ids or (), total))
    return total


def _absent(ids: Sequence[int], total: Done) -> dict[int, str]:
    return {letter: ABSENT for letter in ids if letter not in total.done and letter not in total.kept}


def _redrive(tx: Tx, jobs: dict[int, UUID | None], ended: dict[UUID, bool]) -> Done:
    refused = {letter: ENDED for letter, job_id in jobs.items() if job_id and ended.get(job_id, False)}
    outcomes = dead_letters.redrive(tx, [letter for letter in jobs if letter not in refused])
    done = [letter for letter, outcome in outcomes.items() if outcome not in KEPT]
    for letter in done:
        if (job_id := jobs[letter]) in ended and job_id:
            events.add(tx, job_id, "redriven", letter=letter)
    return Done(done, refused | {letter: KEPT[outcome] for letter, outcome in outcomes.items() if outcome in KEPT})


def _drop(tx: Tx, jobs: dict[int, UUID | None], ended: dict[UUID, bool]) -> Done:
    refused = {letter: UNFINISHED for letter, job_id in jobs.items() if job_id and not ended.get(job_id, True)}
    done = [letter for letter in jobs if letter not in refused]
    dead_letters.drop(tx, done)
    return Done(done, refused)
