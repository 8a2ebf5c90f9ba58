"""Make jobs that wait for a slot of their user ready, inside the caller's transaction, who holds the user's row."""

from __future__ import annotations

from app.domain.fairness import FairnessPolicy
from app.domain.queues import Service
from app.store import messages
from app.store.unit_of_work import Tx
from app.store.users import Account

#: Messages of one user that one transaction makes ready, so that it holds the user's row for milliseconds only.
RELEASED_AT_ONCE = 1_000


def wake(tx: Tx, account: Account, service: Service, *, most: int = 1) -> None:
    """Make the user's oldest waiting jobs ready; with none left, nothing more is held back.  Locks: those messages."""
    messages.wake(tx, account.user_id, service, most=most, step=account.step(service))


def release(tx: Tx, account: Account, service: Service) -> int:
    """Make ready what waits for a slot of the user, where no limit is enforced; how many.  Locks: those messages."""
    return messages.wake_many(tx, account.user_id, service, most=RELEASED_AT_ONCE, step=account.step(service))


def fill(tx: Tx, account: Account, policy: FairnessPolicy) -> None:
    """Wake as many as may run at once: each asks for its slot again, and one too many only snoozes again."""
    for service in Service:
        wake(tx, account, service, most=policy.slots(account.plan, account.slot_limit))
