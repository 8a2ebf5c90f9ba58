"""Find the answer stored under an Idempotency-Key, before any work is done again."""

from __future__ import annotations

from uuid import UUID

from app.services.submit import stored_answer
from app.store.idempotency import Stored
from app.store.unit_of_work import UnitOfWork


def replay(uow: UnitOfWork, user_id: UUID, key: str, fingerprint: bytes) -> Stored | None:
    """The stored answer; None when there is none yet.  Raises: IdempotencyMismatch."""
    with uow.begin() as tx:
        return stored_answer(tx, user_id, key, fingerprint)
