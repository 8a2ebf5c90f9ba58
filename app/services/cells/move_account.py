"""Move one account from a cell to another while it works (docs/adr/0097)."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from app.domain.queues import Service
from app.errors import Conflict, NotFound, Unavailable
from app.services.analyses.submission import ANALYSE
from app.services.cells.copy_contents import Copied, copy_contents, copy_rest
from app.services.specifications.submit_specification import SPECIFY
from app.store.accounts import users
from app.store.cells import arrivals, departures, prepared, rows, tables
from app.store.cells.departures import UnfinishedRow
from app.store.cells.rows import Shapes, Taken
from app.store.core.unit_of_work import JobMessage, Tx, UnitOfWork
from app.store.jobs import messages


class AccountBusy(Conflict):
    """A job of the account is not the account's alone.  waits_for: such jobs."""

    slug, title = "account-busy", "The account cannot move now"

    def __init__(self, detail: str, waits_for: Collection[UUID]) -> None:
        super().__init__(detail, waits_for=[str(job_id) for job_id in sorted(waits_for)])


@dataclass(frozen=True, slots=True)
class Moved:
    """Rows of the account, by table, and how long it could do nothing."""

    rows: dict[str, int]
    pause_seconds: float


def move(source: UnitOfWork, target: UnitOfWork, user_id: UUID, *, epoch: int) -> Moved:
    """Move an account with its jobs; after this it is in the target only.

    epoch: which has never been used for this account.
    Raises: AccountBusy; NotFound; Conflict if the epoch is used; Unavailable for a server that cannot prepare.
    """
    shape = _check(source, target, user_id, epoch)
    copied = copy_contents(source, target, shape, user_id)
    return _flip(source, target, shape, user_id, epoch, copied)


def _check(source: UnitOfWork, target: UnitOfWork, user_id: UUID, epoch: int) -> Shapes:
    with source.begin() as tx:
        if not prepared.is_possible(tx):
            raise Unavailable("PostgreSQL's max_prepared_transactions is 0: set it to 10, say, and restart the server")
        if prepared.exists(tx, _name(user_id, epoch)):
            raise Conflict("This move is under way, or its process died: settle it")
        if users.find(tx, user_id) is None:
            raise NotFound("No such user")
        shape = rows.shapes(tx, tables.ALL)
        _refuse_shared(tx, user_id, departures.unfinished(tx, user_id))
    with target.begin() as tx:
        if arrivals.decided(tx, user_id, epoch) is not None:
            raise Conflict("This epoch was used")
        if rows.shapes(tx, tables.ALL) != shape:
            raise Unavailable("Both cells need the same release")
    return shape


def _refuse_shared(tx: Tx, user_id: UUID, unfinished: Sequence[UnfinishedRow]) -> None:
    if shared := [job.job_id for job in unfinished if job.is_shared and not job.has_left]:
        raise AccountBusy("The account waits for a job together with others", shared)
    if dead := departures.letters(tx, user_id):
        raise AccountBusy("A dead letter of the account is not cleared up", dead)


def _flip(
    source: UnitOfWork, target: UnitOfWork, shape: Shapes, user_id: UUID, epoch: int, copied: Copied
) -> Moved:
    name = _name(user_id, epoch)
    with target.begin() as there:
        with source.prepared(name) as here:
            began = time.monotonic()
            if users.lock_to_delete(here, user_id) is None:
                raise NotFound("No such user")
            copy_rest(here, there, shape, user_id, copied)
            taken, owned, going = _leave(here, user_id)
        if not arrivals.decide(there, user_id, epoch, refuses=False):
            raise Conflict("This move was refused")
        arrivals.settle_in(there, shape, user_id, taken, owned)
        _publish(there, user_id, going)
    source.end_prepared(name, commits=True)
    pause = time.monotonic() - began
    return Moved({table: of.number for table, of in taken.items() if of.number}, pause)


def _leave(tx: Tx, user_id: UUID) -> tuple[dict[str, Taken], dict[str, list[str]], list[UnfinishedRow]]:
    unfinished = departures.lock_unfinished(tx, user_id)
    _refuse_shared(tx, user_id, unfinished)
    going = [job for job in unfinished if not job.has_left]
    jobs = [job.job_id for job in going]
    taken = {"codebases": departures.codebases(tx, user_id)}
    taken |= departures.end(tx, user_id, jobs)
    owned = dict(departures.specifications(tx, user_id))
    staying = [job.job_id for job in unfinished if job.has_left]
    taken |= departures.leave(tx, user_id, going=jobs, staying=staying)
    return taken, owned, going


def _publish(tx: Tx, user_id: UUID, going: Sequence[UnfinishedRow]) -> None:
    """Put the jobs on their queues, as many ready ones as there were."""
    held = any(job.delay_reason in {"parked", "snooze"} for job in going)
    ready = sum(job.is_ready or job.is_leased for job in going)
    for job in going:
        tx.publish(_message(job, user_id, max(1, ready) if held else None))
        if job.is_cancelled:
            messages.request_cancel(tx, job.job_id)


def _message(job: UnfinishedRow, user_id: UUID, most_ready: int | None) -> JobMessage:
    is_analysis = job.service == Service.ANALYSIS
    address = {"host": job.host, "owner": job.owner, "name": job.name, "commit": job.commit_sha}
    waits = job.delay_seconds if job.delay_reason in {"retry", "eta"} else None
    return JobMessage(
        job_id=job.job_id,
        task=ANALYSE if is_analysis else SPECIFY,
        queue=job.queue,
        kwargs={**(address if is_analysis else {}), "user_id": str(user_id)},
        user_id=user_id,
        unique_key=job.unique_key,
        step=job.step,
        most_ready=most_ready,
        delay=timedelta(seconds=waits or 0),
    )


def _name(user_id: UUID, epoch: int) -> str:
    return f"fairlane-move-{user_id}-{epoch}"
