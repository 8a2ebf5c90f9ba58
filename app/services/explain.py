"""Tell why a job waits and until when."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row

from app.domain import waiting
from app.domain.lifecycle import Status
from app.domain.queues import Service
from app.services.policy import Policy
from app.store import slots, users
from app.store.line import line
from app.store.unit_of_work import Tx


def wait(tx: Tx, status: Status, message: Row[Any], policy: Policy, *, now: datetime) -> dict[str, Any] | None:
    """The `wait` of an unfinished job; None when it runs."""
    if status is Status.RETRYING:
        return waiting.backing_off(message.visible_at)
    if status is Status.WAITING:
        return _at_limit(tx, UUID(message.user_id), message, policy)
    if status is Status.QUEUED:
        stands = line(tx, UUID(message.task_id), now=now)
        return waiting.ready(stands) if stands else None
    return None


def _at_limit(tx: Tx, user_id: UUID, message: Row[Any], policy: Policy) -> dict[str, Any] | None:
    account = users.find(tx, user_id)
    if account is None:
        return None
    running = slots.count(tx, user_id, Service.ANALYSIS)
    return waiting.at_limit(running, policy.fairness.slots(account.plan), account.tier.value, message.visible_at)
