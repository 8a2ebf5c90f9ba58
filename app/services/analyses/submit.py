"""Accept one analysis in one transaction, under an Idempotency-Key if there is one (docs/adr/0005)."""

from __future__ import annotations

from datetime import datetime
from typing import overload
from uuid import UUID

from app.errors import IdempotencyInFlight, NotFound
from app.services.analyses.accept import accept
from app.services.analyses.submission import Wanted
from app.services.jobs.answers import Answer, Key, keep_answer, same_request
from app.services.policy import Policy
from app.store.analyses.accept_lookup import look
from app.store.core.unit_of_work import UnitOfWork, retried
from app.store.jobs.idempotency import Stored


@overload
def submit(uow: UnitOfWork, user_id: UUID, wanted: Wanted, policy: Policy, *, now: datetime | None = ...) -> Answer: ...
@overload
def submit(
    uow: UnitOfWork,
    user_id: UUID,
    wanted: Wanted,
    policy: Policy,
    *,
    key: Key[Answer] | None,
    now: datetime | None = ...,
) -> Answer | Stored: ...
@retried
def submit(
    uow: UnitOfWork,
    user_id: UUID,
    wanted: Wanted,
    policy: Policy,
    *,
    key: Key[Answer] | None = None,
    now: datetime | None = None,
) -> Answer | Stored:
    """Reserve one analysis and enqueue it, join the one under way, or return the existing one.

    key: the answer is stored under it in the same transaction; one that was stored before is returned as it is.
    now: None = by the database.
    Locks: users row.  Raises: QuotaExceeded, IdempotencyInFlight, IdempotencyMismatch, NotFound.
    """
    with uow.begin() as tx:
        # two submissions of one user wait for each other here
        found = look(
            tx, user_id, key.name if key else None, wanted.repository, wanted.commit, policy.parser_version, now=now
        )
        now = found.now
        if not found.key_locked:
            raise IdempotencyInFlight(retry_after=1)
        if key and (stored := same_request(found.stored, key)):
            return stored
        if found.account is None:
            raise NotFound("The account no longer exists")
        answer = accept(tx, found.account, found.existing, wanted, policy, now=now)
        keep_answer(tx, user_id, key, answer, now=now)
        return answer
