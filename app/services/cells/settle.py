"""Decide a move whose process died, and clear up in the cell that an account has left."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from uuid import UUID

from app.errors import Unavailable
from app.services.cells.rename_words import rename_late
from app.services.operations.run_in_batches import each
from app.store.accounts import personal_data, users
from app.store.cells import arrivals, contents, copies, prepared
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.operations import retention

#: How often a mover that has not prepared yet is looked for, and how long it is waited for in between.
LOOKS, PAUSE_SECONDS = 150, 0.1


def settle(source: UnitOfWork, target: UnitOfWork, user_id: UUID, *, epoch: int) -> bool:
    """Decide whether a move was made, and end it; it may be repeated.  -> whether the account lives in the target.

    A move that has not been made yet never will be: its process finds it refused.
    Raises: Unavailable while another transaction holds the account.
    """
    with target.begin() as tx:
        arrivals.decide(tx, user_id, epoch, refuses=True)
        is_there = bool(arrivals.decided(tx, user_id, epoch))
    if is_there:
        source.end_prepared(prepared.name_of(user_id, epoch), commits=True)
        clear_up(source, target, user_id)
    else:
        undo(source, user_id, epoch)
        with source.begin() as tx:
            jobs = [job.id for job in contents.jobs(tx, user_id) if job.travels]
        drop_copies(source, target, jobs)
    return is_there


def undo(source: UnitOfWork, user_id: UUID, epoch: int) -> None:
    """End what was prepared for a move that was not made; the account goes on in the source."""
    name = prepared.name_of(user_id, epoch)
    for _ in range(LOOKS):
        source.end_prepared(name, commits=False)
        # a mover that locked the user before the refusal prepares after this look; a later one finds the refusal
        with source.begin() as tx:
            is_free = users.try_lock_row(tx, user_id) or users.find(tx, user_id) is None
        if is_free:
            return
        time.sleep(PAUSE_SECONDS)
    raise Unavailable("Another transaction holds the account; settle the move again")


def clear_up(source: UnitOfWork, target: UnitOfWork, user_id: UUID) -> set[UUID]:
    """Delete what is left of an account in the cell that it left, as after a deletion; it may be repeated.

    What others have in their history stays, without a word about the account.  Words that came are renamed before.
    -> the jobs that the account has in its new cell.
    """
    rename_late(source, target, user_id)
    with target.begin() as tx:
        jobs = contents.jobs(tx, user_id)
    now = source.now()

    def some(tx: Tx, part: Sequence[UUID]) -> int:
        dropped = retention.drop_jobs_of(tx, part, now=now)
        personal_data.leave_numbers(tx, part)
        return dropped

    # what it has only specified is not its own
    each(source, sorted(job.id for job in jobs if job.request is not None), some)
    with source.begin() as tx:
        personal_data.drop_traces(tx, user_id)
    return {job.id for job in jobs}


def drop_copies(source: UnitOfWork, target: UnitOfWork, jobs: Collection[UUID]) -> None:
    """Delete what was copied of jobs that did not come with an account; it may be repeated.

    What others have in their history, specify or are about to bring stays, without a word about the account.
    """
    if not jobs:
        return
    needed, now = _keep_needed(source, target, jobs), target.now()

    def some(tx: Tx, part: Sequence[UUID]) -> int:
        nobodys = copies.lock(tx, part)
        personal_data.leave_numbers(tx, nobodys)
        gone = copies.expire(tx, [job_id for job_id in nobodys if job_id not in needed])
        dropped = retention.drop_jobs_of(tx, gone, now=now)
        contents.drop_events(tx, part)
        return dropped

    each(target, sorted(jobs), some)


def _keep_needed(source: UnitOfWork, target: UnitOfWork, jobs: Collection[UUID]) -> set[UUID]:
    """Find the analyses that specifications need; they may be kept for days only since they were copied again."""
    with target.begin() as tx:
        needed = copies.needed(tx, jobs)
    if needed:
        with source.begin() as tx:
            kept = copies.found(tx, needed)
        with target.begin() as tx:
            copies.keep(tx, kept)
    return needed
