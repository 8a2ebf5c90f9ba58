"""Let one account be linked to a GitHub account, over all cells."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from app.services.cells.find_cell import AccountCells
from app.services.cells.register import note
from app.store.accounts import users
from app.store.cells import directory, keys
from app.store.cells.directory import Claim
from app.store.cells.keys import Whose


def claim_github(places: AccountCells, cell: str, github_id: int, user_id: UUID, email: str) -> bool:
    """Note a link whose transaction is about to commit; False if another account has it, or is about to.

    The key of the link is unique in the directory, so of two that are made at once one is refused.  One that was not
    made after all, or was removed, is found out by asking the cell of its account.
    Raises: SQLAlchemyError, SilentError, CellAwayError.
    """
    key, whose = keys.github(github_id), partial(keys.owner_of_github, github_id=github_id)
    note(places.cells.directory, user_id, cell, email)
    with places.cells.directory.begin() as tx:
        if directory.claim(tx, key, user_id):
            return True
        other = directory.claimed(tx, key)
    if other is None or other.moving_to is not None or not _is_free(places, other, whose):
        return False
    with places.cells.directory.begin() as tx:
        return directory.take(tx, key, user_id, other)


def _is_free(places: AccountCells, other: Claim, whose: Whose) -> bool:
    """Whether an account has no link, and makes none: whoever makes one holds its users row.

    Locks: that row, if nobody has locked it.
    """
    with places.answering(other.cell) as uow, uow.begin() as tx:
        if users.try_lock_row(tx, other.user_id):
            return whose(tx) is None
        # without a row, the account may be about to be made
        return other.is_old and not keys.is_here(tx, other.user_id)
