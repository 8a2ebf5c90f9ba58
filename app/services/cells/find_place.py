"""Find the cell in which an account lives, by what somebody who wants to be let in has.

The directory knows accounts and addresses, and learns keys: when a token, a session or a link is first used, the cells
are asked whose it is.  So nothing has to be written in two databases when a key is made, and none of it can be lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError

from app.domain.cells import Place
from app.lru_cache import LruCache
from app.services.cells.cells import Cells
from app.services.cells.register import note
from app.store.cells import directory, keys
from app.store.cells.keys import PersonRow
from app.store.core.unit_of_work import Tx

#: Keys whose cell a process remembers, 300 bytes each.
REMEMBERED = 50_000


class CellAwayError(Exception):
    """No cell that answers knows the key, and this one does not answer.  cell: its name."""

    def __init__(self, cell: str) -> None:
        super().__init__(f"cell {cell} is away")
        self.cell = cell


@dataclass(frozen=True)
class Places:
    """What a process knows of who lives where.

    A key that it remembers is sent to its cell without asking anybody.  If the account has moved meanwhile, that cell
    has no such account any more and refuses it, and `after_refusal` says where it is now.
    """

    cells: Cells
    _known: LruCache[bytes, tuple[UUID, str]] = field(default_factory=lambda: LruCache(REMEMBERED))

    def remembered(self, key: bytes) -> str | None:
        """The cell in which this process found the account of a key, the hash of a secret."""
        known = self._known.get(key)
        return known[1] if known else None

    def of_key(self, key: bytes) -> str | None:
        """The cell of the account with this key; None if nobody has it.

        Raises: CellAwayError, SQLAlchemyError if the directory is away.
        """
        with self.cells.directory.once() as tx:
            place = directory.place_of_key(tx, key)
        if place is None:
            place = self._ask_all(lambda tx: keys.owner(tx, key))
            if place is None:
                return None
            with self.cells.directory.begin() as tx:
                directory.learn(tx, key, place.user_id)
        self._known.keep(key, (place.user_id, place.cell))
        return place.cell

    def of_address(self, email: str) -> str | None:
        """The cell of the account with this e-mail address; None if nobody has it.  Raises: as of_key."""
        with self.cells.directory.once() as tx:
            place = directory.place_of_address(tx, email)
        place = place or self._ask_all(lambda tx: keys.person(tx, email))
        return place.cell if place else None

    def after_refusal(self, key: bytes, refused: str) -> str | None:
        """The cell to ask when `refused` did not know the key's account; None if the key is good nowhere else.

        Raises: as of_key.
        """
        with self.cells.directory.once() as tx:
            place = directory.place_of_key(tx, key)
        cell = place.after(refused) if place else None
        if place and cell:
            self._known.keep(key, (place.user_id, cell))
        return cell

    def _ask_all(self, whose: Callable[[Tx], PersonRow | None]) -> Place | None:
        """Ask each cell, and note an account that the directory does not know.  Raises: CellAwayError."""
        away = None
        for cell, uow in self.cells.uows.items():
            try:
                with uow.once() as tx:
                    found = whose(tx)
            except SQLAlchemyError:
                away = cell
                continue
            if found:
                return note(self.cells.directory, found.user_id, cell, found.email)
        if away:
            raise CellAwayError(away)
        return None
