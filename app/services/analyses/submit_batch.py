"""Accept many analyses of one user in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from app.errors import InvalidInput, NotFound, Problem
from app.services.analyses.accept_each import Item, accept_each
from app.services.analyses.submission import Wanted
from app.services.jobs.answers import Answer, Key, keep_answer, locked_answer
from app.services.policy import Policy
from app.store.accounts import users
from app.store.core.clock import instant
from app.store.core.unit_of_work import Tx, UnitOfWork, retried
from app.store.jobs.idempotency import Stored

#: One entry per item, in the order of the request: an answer, or the reason for a refusal.
BatchOutcomes = list[Answer | Problem]


@retried
def submit_batch(
    uow: UnitOfWork,
    user_id: UUID,
    items: Sequence[Wanted | Problem],
    policy: Policy,
    *,
    atomic: bool,
    key: Key[BatchOutcomes] | None = None,
    now: datetime | None = None,
) -> BatchOutcomes | Stored:
    """Accept each item, or say why not; atomic: all or none.  An item may already be refused because of its address.

    key, now: as of submit; the whole answer is stored.
    Locks: users row, then repositories in the order of their addresses and messages in the order of their keys, so that
    two batches with the same repositories cannot deadlock.
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
) -> BatchOutcomes:
    account = users.lock(tx, user_id)  # two submissions of one user wait for each other here
    if account is None:
        raise NotFound("The account no longer exists")
    outcomes: dict[int, Answer | Problem] = {n: item for n, item in enumerate(items) if isinstance(item, Problem)}
    in_order = sorted(
        (Item(n, item) for n, item in enumerate(items) if not isinstance(item, Problem)),
        key=lambda item: (item.key, item.index),
    )
    if in_order:
        outcomes |= accept_each(tx, account, in_order, policy, now=now)
    return [outcomes[index] for index in range(len(items))]


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
