"""The answer to a submission, and the answers that are stored under an Idempotency-Key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar
from uuid import UUID

from app.domain.jobs import Job
from app.errors import IdempotencyInFlight, IdempotencyMismatch
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.jobs import idempotency
from app.store.jobs.idempotency import Rendered, Stored

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """The job that answers a submission.

    is_known: the job had already ended and nothing was started; otherwise it was accepted or joined.
    """

    job: Job
    is_known: bool = False


@dataclass(frozen=True, slots=True)
class Key(Generic[T]):
    """An Idempotency-Key.  fingerprint: of the request; render: makes the answer that is stored under the key."""

    name: str
    fingerprint: bytes
    render: Callable[[T], Rendered]


def find_answer(uow: UnitOfWork, user_id: UUID, key: Key[T]) -> Stored | None:
    """The stored answer, before the work is done again; None if there is none yet.  Raises: IdempotencyMismatch."""
    with uow.once() as tx:
        return same_request(idempotency.find(tx, user_id, key.name), key)


def locked_answer(tx: Tx, user_id: UUID, key: Key[T]) -> Stored | None:
    """Find the answer under a key, and lock the key for this transaction.

    Raises: IdempotencyInFlight, IdempotencyMismatch.
    """
    locked, stored = idempotency.try_lock(tx, user_id, key.name)
    if not locked:
        raise IdempotencyInFlight(retry_after=1)
    return same_request(stored, key)


def same_request(stored: Stored | None, key: Key[T]) -> Stored | None:
    """The answer, if it was given to the same request.  Raises: IdempotencyMismatch."""
    if stored is not None and stored.fingerprint != key.fingerprint:
        raise IdempotencyMismatch("This Idempotency-Key was used with another request; use a new key for each request.")
    return stored


def keep_answer(tx: Tx, user_id: UUID, key: Key[T] | None, found: T, *, now: datetime) -> None:
    """Store an answer in the transaction that it reports.  The caller has locked the key.

    key: None for a submission without one.
    """
    if key:
        idempotency.add(tx, user_id, key.name, Stored(key.fingerprint, *key.render(found)), now=now)
