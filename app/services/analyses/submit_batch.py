"""Accept many analyses of one user in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from app.errors import InvalidInput, NotFound, Problem
from app.services.analyses.accept import accept
from app.services.analyses.submission import Wanted
from app.services.jobs.answers import Answer, Key, keep_answer, locked_answer
from app.services.policy import Policy
from app.store.accept_lookup import look
from app.store.clock import instant
from app.store.idempotency import Stored
from app.store.unit_of_work import Tx, UnitOfWork, retried

#: One entry per item, in the order of the request: an answer, or the reason for a refusal.
Outcomes = list[Answer | Problem]


@retried
def submit_batch(
    uow: UnitOfWork,
    user_id: UUID,
    items: Sequence[Wanted | Problem],
    policy: Policy,
    *,
    atomic: bool,
    key: Key[Outcomes] | None = None,
    now: datetime | None = None,
) -> Outcomes | Stored:
    """Accept each item, or say why not; atomic: all or none.  An item may already be refused because of its address.

    key, now: as of submit; the whole answer is stored.
    Locks: users row, then repositories and messages in the order of their keys, so that two batches with the same
    repositories cannot deadlock.
    Raises: NotFound, IdempotencyInFlight, IdempotencyMismatch, and with `atomic` the first item's Problem.
    """
    if atomic:
        _refuse_first(items)
    with uow.begin() as tx:
        if key and (stored := locked_answer(tx, user_id, key)):
            return stored
        now = instant(tx, now)
        outcomes = _accept_each(tx, user_id, items, policy, now=now)
        if atomic:
            _refuse_first(outcomes)  # an exception that leaves the transaction undoes all of it
        keep_answer(tx, user_id, key, outcomes, now=now)
        return outcomes


def _accept_each(
    tx: Tx, user_id: UUID, items: Sequence[Wanted | Problem], policy: Policy, *, now: datetime
) -> Outcomes:
    outcomes = {
        index: item if isinstance(item, Problem) else _accept(tx, user_id, item, policy, now=now)
        for index, item in sorted(enumerate(items), key=_key)
    }
    return [outcomes[index] for index in range(len(items))]


def _accept(tx: Tx, user_id: UUID, wanted: Wanted, policy: Policy, *, now: datetime) -> Answer | Problem:
    found = look(tx, user_id, None, wanted.repository, wanted.commit, policy.parser_version, now=now)
    if found.account is None:
        raise NotFound("The account no longer exists")
    try:
        with tx.savepoint():
            return accept(tx, found.account, found.existing, wanted, policy, now=now)
    except Problem as problem:
        return problem


def _key(indexed: tuple[int, Wanted | Problem]) -> tuple[str, int]:
    index, item = indexed
    return ("" if isinstance(item, Problem) else item.repository.unique_key(item.commit), index)


def _refuse_first(items: Sequence[object]) -> None:
    for index, item in enumerate(items):
        if isinstance(item, Problem):
            given = item.extensions.get("errors")
            inner = (
                given
                if isinstance(item, InvalidInput) and isinstance(given, list)
                else [{"pointer": "", "detail": item.detail}]
            )
            item.extensions["errors"] = [{**row, "pointer": f"/items/{index}{row['pointer']}"} for row in inner]
            raise item
