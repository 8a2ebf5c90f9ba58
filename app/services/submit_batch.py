"""Accept many analyses of one user in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from app.errors import InvalidInput, NotFound, Problem
from app.services.policy import Policy
from app.services.submit import Answer, Wanted, accept
from app.store.looks import look
from app.store.unit_of_work import Tx, UnitOfWork, retried

#: One per item, in the order asked: accepted, or why not.
Outcomes = list[Answer | Problem]


@retried
def submit_batch(
    uow: UnitOfWork,
    user_id: UUID,
    items: Sequence[Wanted | Problem],
    policy: Policy,
    *,
    atomic: bool,
    now: datetime,
) -> Outcomes:
    """Accept each item, or say why not; atomic: all or none.  An item may be refused already by its address.

    Locks: users row, then repositories and messages in the order of their keys, so that two batches with the same
    repositories cannot deadlock.  Raises: NotFound, and with `atomic` the first item's Problem.
    """
    if atomic:
        _refuse_first(items)
    outcomes: dict[int, Answer | Problem] = {}
    with uow.begin() as tx:
        for index, item in sorted(enumerate(items), key=_key):
            outcomes[index] = item if isinstance(item, Problem) else _accept(tx, user_id, item, policy, now=now)
        ordered = [outcomes[index] for index in range(len(items))]
        if atomic:
            _refuse_first(ordered)  # leaving the transaction by an exception undoes all of it
    return ordered


def _accept(tx: Tx, user_id: UUID, wanted: Wanted, policy: Policy, *, now: datetime) -> Answer | Problem:
    found = look(tx, user_id, None, wanted.repository, wanted.commit, policy.parser_version)
    if found.account is None:
        raise NotFound("The account is gone")
    try:
        with tx.savepoint():
            return accept(tx, found.account, found.standing, wanted, policy, now=now)
    except Problem as problem:
        return problem


def _key(indexed: tuple[int, Wanted | Problem]) -> tuple[str, int]:
    index, item = indexed
    return ("" if isinstance(item, Problem) else item.repository.unique_key(item.commit), index)


def _refuse_first(items: Sequence[object]) -> None:
    for index, item in enumerate(items):
        if isinstance(item, Problem):
            given = item.facts.get("errors")
            inner = (
                given
                if isinstance(item, InvalidInput) and isinstance(given, list)
                else [{"pointer": "", "detail": item.detail}]
            )
            item.facts["errors"] = [{**row, "pointer": f"/items/{index}{row['pointer']}"} for row in inner]
            raise item
