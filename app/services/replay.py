"""Find the answer stored under an Idempotency-Key, before any work is done again."""

from __future__ import annotations

from uuid import UUID

from app.errors import IdempotencyMismatch
from app.services.submit import Answer
from app.store import idempotency
from app.store.unit_of_work import UnitOfWork


def replay(uow: UnitOfWork, user_id: UUID, key: str, fingerprint: bytes) -> Answer | None:
    """The stored answer; None when there is none yet.  Raises: IdempotencyMismatch."""
    with uow.begin() as tx:
        stored = idempotency.find(tx, user_id, key)
    if stored is None:
        return None
    if stored.fingerprint != fingerprint:
        raise IdempotencyMismatch("This Idempotency-Key came with another request before; use a new key per request.")
    return Answer(stored.status, stored.body, replayed=True)
