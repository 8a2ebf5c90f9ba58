"""Tell why a job waits and until when."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row

from app.domain import waiting
from app.domain.lifecycle import Status
from app.domain.waiting import Line
from app.services.policy import Policy
from app.store import users
from app.store.line import line
from app.store.unit_of_work import Tx
from app.store.users import Account


def wait(tx: Tx, status: Status, message: Row[Any], policy: Policy, *, now: datetime) -> dict[str, Any] | None:
    """The `wait` of an unfinished job; None when it runs."""
    if status is Status.RETRYING:
        return waiting.backing_off(message.visible_at)
    if status not in (Status.WAITING, Status.QUEUED):
        return None
    stands = line(tx, UUID(message.task_id), now=now)
    if stands is None:
        return None
    if stands.held and (account := users.find(tx, UUID(message.user_id))):
        return held(stands, account, policy)
    return waiting.ready(stands)


def held(stands: Line, account: Account, policy: Policy) -> dict[str, Any]:
    """The `wait` of a job that its user's own limit holds back."""
    limit = policy.fairness.slots(account.plan, account.slot_limit)
    return waiting.at_limit(stands, limit, account.tier.value, account.runs)
