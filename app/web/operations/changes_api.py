"""The operators' changes: tiers, limits and queues.  Every change is written to the audit log."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.domain.plans import Plan, Tier
from app.errors import NotFound
from app.services.accounts import plans, tiers
from app.services.fairness import change_limits
from app.services.operations import queues
from app.store.accounts.users import Account
from app.web.core import auth
from app.web.core.api import api
from app.web.core.context import utc_now, wired
from app.web.operations.schemas import NewLimit, NewQuota, NewTier, NewUserLimit, PauseQueue
from app.web.operations.shapes import PlanShape, QueuePauseShape, TenureShape, TierShape


@api.put("/operator/users/<uuid:user_id>/tier")
@api.input(NewTier, arg_name="body")
@api.output(TenureShape)
@api.doc(operation_id="changeTier", tags=["Operator"])
def change_tier(body: NewTier, user_id: UUID) -> dict[str, Any]:
    """Change the tier of a user; it applies immediately to waiting jobs.  Needs an operator's token."""
    actor = str(auth.operator().user_id)
    account = tiers.change_tier(wired().uow, user_id, Tier(body.tier), wired().policy, actor=actor, now=utc_now())
    return _limit_json(account)


@api.put("/operator/users/<uuid:user_id>/limit")
@api.input(NewUserLimit, arg_name="body")
@api.output(TenureShape)
@api.doc(operation_id="changeUserLimit", tags=["Operator"])
def change_user_limit(body: NewUserLimit, user_id: UUID) -> dict[str, Any]:
    """Give a user a limit of their own, or with null their tier's.  Needs an operator's token."""
    actor = str(auth.operator().user_id)
    return _limit_json(change_limits.change_user_limit(wired().uow, user_id, body.limit, wired().policy, actor=actor))


@api.put("/operator/tiers/<tier>/limit")
@api.input(NewLimit, arg_name="body")
@api.output(TierShape)
@api.doc(operation_id="changeTierLimit", tags=["Operator"])
def change_tier_limit(body: NewLimit, tier: str) -> change_limits.TierLimit:
    """Let users of a tier run up to this many jobs of each service at once.  Needs an operator's token."""
    actor = str(auth.operator().user_id)
    return change_limits.change_tier_limit(wired().uow, _tier(tier), body.limit, wired().policy, actor=actor)


@api.put("/operator/tiers/<tier>/quota")
@api.input(NewQuota, arg_name="body")
@api.output(PlanShape)
@api.doc(operation_id="changeTierQuota", tags=["Operator"])
def change_tier_quota(body: NewQuota, tier: str) -> Plan:
    """Change what users of a tier may use in a period, from their next submission on.  Needs an operator's token."""
    actor = str(auth.operator().user_id)
    changes = body.model_dump(include=body.model_fields_set)
    return plans.change_quota(wired().uow, _tier(tier), changes, actor=actor)


@api.put("/operator/queues/<queue>/pause")
@api.input(PauseQueue, arg_name="body")
@api.output(QueuePauseShape)
@api.doc(operation_id="pauseQueue", tags=["Operator"])
def pause_queue(body: PauseQueue, queue: str) -> dict[str, Any]:
    """Pause a queue, or with `paused` false resume it.  Needs an operator's token."""
    actor = str(auth.operator().user_id)
    queues.set_paused(wired().uow, queue, paused=body.paused, actor=actor, reason=body.reason)
    return {"queue": queue, "paused": body.paused}


def _limit_json(account: Account) -> dict[str, Any]:
    policy = wired().policy.fairness
    return {
        "user_id": account.user_id,
        "email": account.email,
        "tier": account.tier.value,
        "limit": policy.slot_limit(account.plan, account.own_slot_limit),
        "own_limit": account.own_slot_limit,
    }


def _tier(name: str) -> Tier:
    if name not in set(Tier):
        raise NotFound(f"There is no tier {name!r}; the tiers are {', '.join(Tier)}")
    return Tier(name)
