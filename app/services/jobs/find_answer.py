"""Find the answer stored under an Idempotency-Key, before the work is done again."""

from __future__ import annotations

from uuid import UUID

from app.errors import IdempotencyInFlight, IdempotencyMismatch
from app.store import idempotency
from app.store.idempotency import Stored
from app.store.unit_of_work import Tx, UnitOfWork


def find_answer(uow: UnitOfWork, user_id: UUID, key: str, fingerprint: bytes) -> Stored | None:
    """The stored answer; None if there is none yet.  Raises: IdempotencyMismatch."""
    with uow.begin() as tx:
        return same_request(idempotency.find(tx, user_id, key), fingerprint)


def locked_answer(tx: Tx, user_id: UUID, key: str, fingerprint: bytes) -> Stored | None:
    """As find_answer, and lock the key for this transaction.  Raises: IdempotencyInFlight, IdempotencyMismatch."""
    locked, stored = idempotency.try_lock(tx, user_id, key)
    if not locked:
        raise IdempotencyInFlight(retry_after=1)
    return same_request(stored, fingerprint)


def same_request(stored: Stored | None, fingerprint: bytes) -> Stored | None:
    """The answer, if it was given to the same request.  Raises: IdempotencyMismatch."""
    if stored is not None and stored.fingerprint != fingerprint:
        raise IdempotencyMismatch("This Idempotency-Key was used with another request; use a new key for each request.")
    return stored
