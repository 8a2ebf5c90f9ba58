"""The cells of a service, as one of its processes reaches them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.errors import InvalidInput, Message
from app.store.cells import directory
from app.store.cells.directory import CellRow
from app.store.core.unit_of_work import UnitOfWork


@dataclass(frozen=True)
class Cells:
    """The databases.

    own: the cell of this process; uows: transactions in each cell, by its name; directory: in the directory.
    """

    own: str
    uows: Mapping[str, UnitOfWork]
    directory: UnitOfWork

    def uow_of(self, cell: str) -> UnitOfWork:
        """Transactions in a cell.  Raises: InvalidInput if there is none of that name."""
        if cell not in self.uows:
            known = ", ".join(sorted(self.uows))
            raise InvalidInput(Message("%(cell)s is no cell; expected one of %(known)s", cell=repr(cell), known=known))
        return self.uows[cell]


def listed(cells: Cells) -> list[CellRow]:
    """How many accounts live in each cell, also in those without any and in those that are not set any more."""
    with cells.directory.once() as tx:
        found = {row.cell: row for row in directory.cells(tx)}
    return [found.get(name, CellRow(name, 0, 0)) for name in sorted({*cells.uows, *found})]
