"""Cells: whole services of their own, among which accounts are divided (docs/adr/0096)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

#: Short enough for a label of a metric and the name of a unit.
NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")


@dataclass(frozen=True, slots=True)
class AccountCell:
    """Where an account lives.

    epoch: grows with each move; moving_to: the cell to which a move is under way, or None.
    """

    user_id: UUID
    cell: str
    epoch: int
    moving_to: str | None = None

    def cells(self) -> tuple[str, ...]:
        """The cell in which it lives, and that to which a move is under way, as this may have ended already."""
        return (self.cell,) if self.moving_to is None else (self.cell, self.moving_to)


def cell_for(name: str, cells: Collection[str]) -> str:
    """The cell of a visitor or a new account, by rendezvous hashing: a new cell gets its share from each of the others.

    name: of whoever it is for; cells: at least one.
    """
    return max(cells, key=lambda cell: sha256(f"{cell} {name}".encode()).digest())
