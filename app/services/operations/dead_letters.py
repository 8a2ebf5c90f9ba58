"""List dead letters, put them back on their queues, or drop them (docs/adr/0008)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from app.errors import InvalidInput, Message
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.jobs import events
from app.store.operations import audit_log, dead_letters
from app.store.operations.dead_letters import DeadLetter

REASONS = ("lost", "rejected", "undecodable")
#: How many letters one transaction handles.
BATCH = 500
#: How many a person handles with one confirmation, in one transaction.
AT_ONCE = 1_000

ENDED = "its job has ended; submit it again with retry"
UNFINISHED = "its job has not ended: redrive it, or let the next sweep end the job"
ABSENT = "there is no such letter, or another operator is acting on it"
KEPT = {
    "in the way": "there is a message with the same task id or unique key",
    "no queue": "its queue no longer exists",
}


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which letters: with these ids, of a queue, with a reason; None: any.

    after, last: their ids are larger than the first, and up to the second.
    """

    ids: tuple[int, ...] | None = None
    queue: str | None = None
    reason: str | None = None
    after: int = 0
    last: int | None = None

    def __post_init__(self) -> None:
        if self.reason not in (None, *REASONS):
            allowed = f"expected one of {', '.join(REASONS)}"
            error = {"pointer": "/reason", "detail": allowed}
            raise InvalidInput(
                Message(
                    "There is no reason %(reason)s; expected one of %(reasons)s",
                    reason=repr(self.reason),
                    reasons=", ".join(REASONS),
                ),
                errors=[error],
            )

    def filters(self) -> dead_letters.Filters:
        """The choice as arguments of the store's functions."""
        return {
            "ids": self.ids,
            "queue": self.queue,
            "reason": self.reason,
            "after": self.after,
            "last": self.last,
        }


@dataclass(frozen=True, slots=True)
class Done:
    """The outcome of redriving or dropping dead letters.

    done: ids of letters that were redriven or dropped; kept: the other ids, each with its reason.
    """

    done: list[int] = field(default_factory=list)
    kept: dict[int, str] = field(default_factory=dict)


def find(uow: UnitOfWork, chosen: Chosen, *, before: int | None = None, most: int = 100) -> list[DeadLetter]:
    """Letters, newest first; with ids, whole payloads, otherwise their first 200 characters."""
    with uow.begin() as tx:
        whole = chosen.ids is not None
        return dead_letters.find(tx, **chosen.filters(), before=before, most=most, whole=whole)


@dataclass(frozen=True, slots=True)
class Span:
    """The oldest of the chosen letters, which are handled at once.

    letters: how many they are; last: the largest id among them; more: how many letters are left after them.
    """

    letters: int
    last: int
    more: int


def oldest(uow: UnitOfWork, chosen: Chosen, *, most: int = AT_ONCE) -> Span | None:
    """Up to `most` of the chosen letters, None if there is none."""
    with uow.once() as tx:
        row = dead_letters.oldest(tx, **chosen.filters(), most=most)
    return None if row.last is None else Span(row.letters, row.last, row.total - row.letters)


def count(uow: UnitOfWork, chosen: Chosen) -> int:
    """How many letters there are."""
    with uow.begin() as tx:
        return dead_letters.count(tx, **chosen.filters())


def redrive(uow: UnitOfWork, chosen: Chosen, *, actor: str, most: int | None = None) -> Done:
    """Turn letters into ready messages again; the letter of a job that has ended stays.

    most: so many of them, the oldest, in one transaction; None: all, with one transaction for every 500 letters.
    Locks: the letters, which the sweep then leaves alone.  Letters that somebody else has locked are skipped, so that
    each is handled once, whoever acts on it at the same time.
    """
    return _each(uow, chosen, _redrive, actor=actor, action="dead.redrive", most=most)


def drop(uow: UnitOfWork, chosen: Chosen, *, actor: str, most: int | None = None) -> Done:
    """Delete letters.  The letter of an unfinished job stays, because the sweep uses it to end the job.

    most, Locks: as redrive.
    """
    return _each(uow, chosen, _drop, actor=actor, action="dead.drop", most=most)


#: (transaction, job of each letter or None, whether each job has ended) -> as Done
_Act = Callable[[Tx, dict[int, UUID | None], dict[UUID, bool]], Done]


def _each(uow: UnitOfWork, chosen: Chosen, act: _Act, *, actor: str, action: str, most: int | None) -> Done:
    total, left = Done(), chosen
    while True:
        with uow.begin() as tx:
            rows = dead_letters.lock(tx, **left.filters(), most=most or BATCH)
            if not rows:
                break
            jobs = {row.id: row.job_id for row in rows}
            # read while the letters are locked, so that the sweep ends none of their jobs meanwhile
            ended = dead_letters.have_ended(tx, [job_id for job_id in jobs.values() if job_id])
            part = act(tx, jobs, ended)
            if part.done:
                audit_log.add(tx, actor, action, chosen.queue or "all", ids=part.done, reason=chosen.reason)
        left = replace(left, after=rows[-1].id)
        total.done.extend(part.done)
        total.kept.update(part.kept)
        if most:
            break
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
