"""Read from the replica if there is one and it has what is read, or else from the primary.

What a reader may see, and which jobs have completed, is decided on the primary (docs/adr/0093).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from typing import TypeVar
from uuid import UUID

from app.store.core.needs import Completed, Need, Position, UnusableError, position
from app.store.core.replica import Replica
from app.store.core.unit_of_work import Tx, UnitOfWork

D = TypeVar("D")
R = TypeVar("R")


def read_completed(
    uow: UnitOfWork,
    check: Callable[[Tx], D],
    job_ids: Callable[[D], Collection[UUID]],
    fetch: Callable[[Tx, D], R],
    *,
    user_id: UUID | None = None,
) -> R:
    """Read what belongs to completed jobs.

    check: decides in a transaction of the primary who may read, and what; job_ids: of the completed jobs, by what it
    returned; fetch: reads in the same transaction, or after it in one of the replica, and perhaps in both;
    user_id: whose requests and bills `fetch` reads.
    """
    with uow.begin() as tx:
        checked = check(tx)
        if uow.replica is None or not (found := job_ids(checked)) or not uow.replica.is_tried(with_position=False):
            return fetch(tx, checked)
    try:
        return _fetched(uow.replica, Completed(found, user_id), lambda tx: fetch(tx, checked))
    except UnusableError:
        with uow.begin() as tx:  # once more from the beginning, as the replica may have taken seconds to fail
            return fetch(tx, check(tx))


def read_current(uow: UnitOfWork, fetch: Callable[[Tx], R], *, once: bool = False) -> R:
    """Read what may change at any time, with all that was committed when this began.

    Commits that do not wait for the disk may be missing for half a second (`Tx.relax`).
    once: `fetch` runs one statement.
    """
    replica = uow.replica
    if replica is not None and replica.is_tried(with_position=True) and (need := _position(uow, replica)) is not None:
        with suppress(UnusableError):
            return _fetched(replica, need, fetch)
    with uow.once() if once else uow.begin() as tx:
        return fetch(tx)


def fault_of(uow: UnitOfWork, replica: Replica) -> str | None:
    """Ask a replica now, whatever it said before: None if it has what the primary has, or why it cannot be used."""
    try:
        with uow.once() as tx:
            need = position(tx.connection) or Completed(())
        replica.read(need, lambda _: None)
    except UnusableError as error:
        return str(error)
    return None


def _position(uow: UnitOfWork, replica: Replica) -> Position | None:
    try:
        with uow.once() as tx:
            return position(tx.connection)
    except UnusableError as error:
        replica.failed(error)
        return None


def _fetched(replica: Replica, need: Need, fetch: Callable[[Tx], R]) -> R:
    return replica.read(need, lambda connection: fetch(Tx(connection)))
