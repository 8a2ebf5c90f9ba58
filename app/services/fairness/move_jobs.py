"""Keep the waiting jobs of each user on the queues of their tier (docs/adr/0015)."""

from __future__ import annotations

from uuid import UUID

from app.domain.queues import Service, select_queue, user_queues
from app.store.accounts import users
from app.store.accounts.users import Account
from app.store.core.unit_of_work import Tx, UnitOfWork, retried
from app.store.jobs import messages


def move(tx: Tx, account: Account) -> None:
    """Move what waits of a user on a queue of another tier.

    A job that a worker has is not moved: the worker puts it on the right queue when it has to wait again.
    Locks: the messages that move; the caller has locked the users row.
    """
    for service in Service:
        right = select_queue(service, account.tier)
        for queue in user_queues(service):
            if queue != right:
                messages.move(tx, account.user_id, queue, right)


def move_misplaced(uow: UnitOfWork) -> None:
    """Move the jobs whose workers died after their user's tier had changed, one user per transaction.

    The broker gives such a job back to the queue that it came from.
    """
    with uow.begin() as tx:
        misplaced = messages.on_queues_of_another_tier(tx)
    for user_id in misplaced:
        _move(uow, user_id)


@retried
def _move(uow: UnitOfWork, user_id: UUID) -> None:
    with uow.begin() as tx:
        if account := users.lock(tx, user_id):
            move(tx, account)
