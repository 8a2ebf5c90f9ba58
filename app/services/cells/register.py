"""Let one account have an e-mail address, over all cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.domain.cells import AccountCell
from app.services.operations.run_in_batches import in_batches
from app.store.cells import directory, keys
from app.store.core.batch import Batch
from app.store.core.unit_of_work import Tx, UnitOfWork

_FIRST = UUID(int=0)
log = structlog.get_logger(__name__)


@dataclass
class Adopted:
    """Accounts that the directory did not know, those that it knew and the cell had no more, and taken addresses.

    taken: addresses of people of this cell which an account of another cell has.
    """

    added: int = 0
    dropped: int = 0
    taken: list[str] = field(default_factory=list)


def note(directory_uow: UnitOfWork, user_id: UUID, cell: str, email: str) -> AccountCell:
    """Note an account that a cell has, and say where it lives; one that is noted stays where it is."""
    with directory_uow.begin() as tx:
        directory.add(tx, user_id, cell, email)
        return directory.place_of(tx, user_id) or AccountCell(user_id, cell, 1)


def register(directory_uow: UnitOfWork, uows: Mapping[str, UnitOfWork], cell: str, user_id: UUID, email: str) -> bool:
    """Note an account that is being made; False if another one has the address.

    The cell's own transaction commits after this.  If it does not, the address is noted for nobody: whoever wants it
    next finds that the named cell has no such account, and gets it.  Raises: SQLAlchemyError.
    """
    with directory_uow.begin() as tx:
        if directory.add(tx, user_id, cell, email):
            return True
        other = directory.place_of_address(tx, email)
    if other is None or other.user_id == user_id:
        return other is not None
    if other.cell not in uows:  # of settings that this process does not have yet, or any more
        return False
    with uows[other.cell].once() as tx:
        if keys.is_here(tx, other.user_id):
            return False
    with directory_uow.begin() as tx:
        directory.drop(tx, other)
        return directory.add(tx, user_id, cell, email)


def unregister(directory_uow: UnitOfWork, cell: str, user_id: UUID) -> None:
    """Remove an account that the cell has deleted.  If the directory is away, the next `adopt` removes it."""
    try:
        with directory_uow.begin() as tx:
            directory.remove(tx, user_id, cell)
    except SQLAlchemyError as error:
        log.warning("account_left_in_directory", user_id=str(user_id), error=type(error).__name__)


def adopt(directory_uow: UnitOfWork, cell: str, uow: UnitOfWork) -> Adopted:
    """Note all people of a cell, as before its first move, and remove those that it has no more; safe to repeat."""
    found = Adopted()

    def add(tx: Tx, after: UUID | None, most: int) -> Batch:
        people = keys.people(tx, after=after or _FIRST, most=most)
        with directory_uow.begin() as noting:
            for person in people:
                if directory.add(noting, person.user_id, cell, person.email):
                    found.added += 1
                elif directory.place_of(noting, person.user_id) is None:
                    found.taken.append(person.email)
        return Batch(people[-1].user_id if people else None, len(people))

    def drop(tx: Tx, after: UUID | None, most: int) -> Batch:
        noted = directory.accounts_of(tx, cell, after=after or _FIRST, most=most)
        with uow.begin() as asking:
            gone = [place for place in noted if not keys.is_here(asking, place.user_id)]
        found.dropped += sum(directory.drop(tx, place) for place in gone)
        return Batch(noted[-1].user_id if noted else None, len(noted))

    in_batches(uow, add)
    in_batches(directory_uow, drop)
    return found
