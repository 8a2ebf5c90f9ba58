"""All that is stored about an account, for its owner."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.errors import NotFound
from app.store import exporting
from app.store.unit_of_work import UnitOfWork


def export(uow: UnitOfWork, user_id: UUID) -> dict[str, Any]:
    """By part, the rows that deleting the account would delete (docs/adr/0042), without hashes.  Raises: NotFound."""
    with uow.begin() as tx:
        found = exporting.export(tx, user_id)
    if not found["account"]:
        raise NotFound("No such user")
    return found
