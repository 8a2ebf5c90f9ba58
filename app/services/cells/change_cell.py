"""Let an account live in another cell, and end what a process that died has left undone.

The directory notes that a move begins, and how it ended.  In between, the one commit of `move_account` in the new cell
decides, so the directory is never what decides: it may be behind, and the web then asks both cells.
"""

from __future__ import annotations

from app.domain.cells import Place
from app.errors import Conflict, Message, NotFound, Problem
from app.services.cells import move_account
from app.services.cells.cells import Cells
from app.services.cells.move_account import Moved
from app.services.cells.register import note
from app.store.cells import directory, keys


def change_cell(cells: Cells, email: str, to: str) -> Moved:
    """Move the account with this address.

    A move of the account that a dead process has left is ended first.
    Raises: NotFound; InvalidInput for no cell; Conflict if it lives there; what move_account.move raises.
    """
    target = cells.uow_of(to)
    place = _place(cells, email)
    if place.moving_to is not None:
        settle(cells, place)
    with cells.directory.begin() as tx:
        begun = directory.begin_move(tx, place.user_id, to)
    if begun is None:
        raise Conflict(Message("%(email)s lives in %(cell)s already, or is moving", email=email, cell=to))
    try:
        moved = move_account.move(cells.uow_of(begun.cell), target, begun.user_id, epoch=begun.epoch)
    except Problem:  # it has moved nothing; after any other error nobody knows until it is settled
        _end(cells, begun, moved=False)
        raise
    _end(cells, begun, moved=True)
    return moved


def settle(cells: Cells, place: Place) -> bool:
    """End a move whose process died.  Returns: whether the account lives where it was to go."""
    source, target = cells.uow_of(place.cell), cells.uow_of(place.moving_to or "")
    moved = move_account.settle(source, target, place.user_id, epoch=place.epoch)
    _end(cells, place, moved=moved)
    return moved


def under_way(cells: Cells) -> list[Place]:
    """The moves that have begun and not ended; a process may be at work on them."""
    with cells.directory.once() as tx:
        return list(directory.moving(tx))


def _end(cells: Cells, place: Place, *, moved: bool) -> None:
    with cells.directory.begin() as tx:
        directory.end_move(tx, place, moved=moved)


def _place(cells: Cells, email: str) -> Place:
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
