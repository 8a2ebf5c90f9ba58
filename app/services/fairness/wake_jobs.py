"""Make jobs ready that wait for a slot of their user, in the caller's transaction, which has locked the user's row."""

from __future__ import annotations

from app.domain.fairness import FairnessPolicy
from app.domain.queues import Service
from app.store.accounts.users import Account
from app.store.core.unit_of_work import Tx
from app.store.jobs import messages

#: How many messages of a user one transaction makes ready, so that it locks the user's row for milliseconds only.
RELEASED_AT_ONCE = 1_000


def wake(tx: Tx, account: Account, service: Service, *, most: int = 1) -> None:
    """Make the user's oldest waiting jobs ready.

    Once none is left, new ones are no longer parked.  Locks: those messages.
    """
    messages.wake(tx, account.user_id, service, most=most, step=account.step(service))


def release(tx: Tx, account: Account, service: Service) -> int:
    """Make ready all jobs that wait for a slot, if no limit is enforced.  Returns: how many.  Locks: those messages."""
    return messages.wake_many(tx, account.user_id, service, most=RELEASED_AT_ONCE, step=account.step(service))


def fill(tx: Tx, account: Account, policy: FairnessPolicy) -> None:
    """Wake as many jobs as may run at once.  Each still has to get its slot, and one too many only snoozes again."""
    for service in Service:
        wake(tx, account, service, most=policy.slot_limit(account.plan, account.own_slot_limit))
