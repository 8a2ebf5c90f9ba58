"""Change the tier of a user."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from app.domain.plans import Tier
from app.errors import NotFound
from app.services.fairness import choose_carrier, move_jobs, wake_jobs
from app.services.policy import Policy
from app.store.accounts import users
from app.store.accounts.users import Account
from app.store.core.unit_of_work import UnitOfWork, retried
from app.store.operations import audit_log


@retried
def change_tier(uow: UnitOfWork, user_id: UUID, tier: Tier, policy: Policy, *, actor: str, now: datetime) -> Account:
    """Change a user's tier; from now on their jobs wait in its queue and for its slots.  Raises: NotFound."""
    with uow.begin() as tx:
        before = users.lock(tx, user_id)
        if before is None:
            raise NotFound("No such user")
        users.set_tier(tx, user_id, tier, now=now)
        audit_log.add(tx, actor, "user.tier", str(user_id), before=before.tier.value, after=tier.value)
        after = users.find(tx, user_id) or before
        move_jobs.move(tx, after)
        wake_jobs.fill(tx, after, policy.fairness)
        choose_carrier.settle_joined(tx, user_id, policy)
        return after
