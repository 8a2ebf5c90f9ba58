"""Let an account live in another cell, and end what a process that died has left undone.

The directory notes that a move begins, and how it ended.  In between, the one commit of `move_account` in the new cell
decides, so the directory is never what decides: it may be behind, and the web then asks both cells.
"""

from __future__ import annotations

from datetime import timedelta

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.domain.cells import AccountCell
from app.errors import Conflict, Message, NotFound, Problem
from app.services.cells import move_account
from app.services.cells.cells import Cells
from app.services.cells.move_account import Moved
from app.services.cells.register import note
from app.store.cells import directory, keys, movers
from app.store.operations import audit_log

#: Keys that were learned so long ago are learned again if they are used; most sessions have ended by then.
KEYS_LIVE = timedelta(days=30)
MOST_KEYS = 10_000

log = structlog.get_logger(__name__)


def change_cell(cells: Cells, email: str, to: str, *, actor: str) -> Moved:
    """Move the account with this address; a move of it that a dead process has left is ended first.

    actor: for the audit log of the new cell.  Locks: the account's moves, in the directory.
    Raises: NotFound; InvalidInput for no cell; Conflict if it lives there, or is moving; as move_account.move.
    """
    target = cells.uow_of(to)
    place = _place(cells, email)
    with movers.only_one(cells.directory.engine, place.user_id) as is_ours:
        if not is_ours:
            raise Conflict(Message("%(email)s is moving", email=email))
        _settle_if_left(cells, place, actor=actor)
        with cells.directory.begin() as tx:
            begun = directory.begin_move(tx, place.user_id, to)
        if begun is None:
            raise Conflict(Message("%(email)s lives in %(cell)s", email=email, cell=to))
        try:
            moved = move_account.move(cells.uow_of(begun.cell), target, begun.user_id, epoch=begun.epoch)
        except Problem:  # it has moved nothing; after any other error nobody knows until it is settled
            _end(cells, begun, moved=False, actor=actor)
            raise
        _end(cells, begun, moved=True, actor=actor)
        return moved


def settle_left(cells: Cells, *, actor: str) -> list[AccountCell]:
    """End the moves whose process died.  Returns: where those accounts live now.

    actor: for the audit log.
    Locks: the moves of each account, in the directory; one that a process works on is left to it.
    """
    with cells.directory.once() as tx:
        begun = directory.moving(tx)
    settled = list[AccountCell]()
    for place in begun:
        with movers.only_one(cells.directory.engine, place.user_id) as is_ours:
            if not is_ours:
                continue
            try:
                ended = _settle_if_left(cells, place, actor=actor)
            except (SQLAlchemyError, Problem) as error:  # a cell is away, or not in our settings: others are settled
                log.warning("move_not_settled", tenant=str(place.user_id), error=type(error).__name__)
            else:
                settled += [ended] if ended else []
    return settled


def forget_old_keys(cells: Cells) -> int:
    """Delete keys that the directory learned long ago.  Returns: how many."""
    with cells.directory.begin() as tx:
        return directory.forget_keys(tx, age=KEYS_LIVE, most=MOST_KEYS)


def _settle_if_left(cells: Cells, place: AccountCell, *, actor: str) -> AccountCell | None:
    """End a move of the account, of whose moves this process holds the lock; None if there is none."""
    with cells.directory.once() as tx:
        now = directory.place_of(tx, place.user_id)
    if now is None or now.moving_to is None:
        return None
    source, target = cells.uow_of(now.cell), cells.uow_of(now.moving_to)
    moved = move_account.settle(source, target, now.user_id, epoch=now.epoch)
    _end(cells, now, moved=moved, actor=actor)
    return AccountCell(now.user_id, now.moving_to if moved else now.cell, now.epoch)


def _end(cells: Cells, place: AccountCell, *, moved: bool, actor: str) -> None:
    """Note how a move has ended.  One that is noted again, as a process died in between, is in the log twice."""
    if moved and place.moving_to is not None:
        with cells.uow_of(place.moving_to).begin() as tx:
            audit_log.add(tx, actor, "user.move", str(place.user_id), before=place.cell, after=place.moving_to)
    with cells.directory.begin() as tx:
        directory.end_move(tx, place, moved=moved)
    if moved:
        return
    with cells.uow_of(place.cell).once() as tx:
        is_here = keys.is_here(tx, place.user_id)
    if not is_here:  # it was deleted, which could not remove it from the directory while it was moving
        with cells.directory.begin() as tx:
            directory.drop(tx, place)


def _place(cells: Cells, email: str) -> AccountCell:
    """Where the account lives; one that the directory does not know yet is noted.  Raises: NotFound."""
    with cells.directory.once() as tx:
        place = directory.place_of_address(tx, email)
    if place:
        return place
    for cell, uow in cells.uows.items():
        with uow.once() as tx:
            found = keys.person(tx, email)
        if found:
            return note(cells.directory, found.user_id, cell, found.email)
    raise NotFound(Message("There is no account for %(email)s", email=email))
