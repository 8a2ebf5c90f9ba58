"""The service's own worker with naps for analyses, whose transactions say under which lease they are.

celery -A tests.e2e.fire_worker worker -Q analysis_default.  FIRE_MISTAKE takes one rule away, to see that it is missed.
"""

from __future__ import annotations

import os
import time
from typing import Any

from sqlalchemy import text

from app.domain.lifecycle import Delivery, Outcome
from app.store import messages, slots, users
from app.store.session import Session
from app.store.unit_of_work import Tx
from app.store.users import Account
from bench.fairness.worker import app
from tasks.base import FairTask

#: How long a start waits between reading the tier and taking the slot, where a test asks for it.
STALL_SECONDS = 2.0
LEASE = text("SELECT set_config('fire.lease', :lease, true)")
UNFENCED = text("SELECT cancel_requested_at FROM kombu_message WHERE task_id = :task_id FOR UPDATE")

under = {"lease": ""}  # a child has one delivery at a time; its heartbeat writes for the same one
take, acquire, lock, begin = FairTask._take, slots.acquire, users.lock, Session.begin


def remembered(self: FairTask, *given: Any) -> Outcome:
    under["lease"] = str(self.delivery.lease_token)
    return take(self, *given)


def telling(self: Session) -> None:
    begin(self)
    self.write(LEASE, {"lease": under["lease"]})


def limitless(tx: Tx, delivery: Delivery, *, slots: int, **given: Any) -> int | None:
    return acquire(tx, delivery, slots=99, **given)


def unlocked(tx: Tx, user_id: Any) -> Account | None:
    return stalled(users.find(tx, user_id))


def locked(tx: Tx, user_id: Any) -> Account | None:
    return stalled(lock(tx, user_id))


def stalled(account: Account | None) -> Account | None:
    time.sleep(STALL_SECONDS)  # the moment in which the tier may change, made long
    return account


def unfenced(tx: Tx, delivery: Delivery) -> Any:
    return tx.run(UNFENCED, task_id=str(delivery.job_id)).one_or_none()


FairTask._take = remembered  # type: ignore[method-assign]
Session.begin = telling  # type: ignore[method-assign]
match os.environ.get("FIRE_MISTAKE", ""):
    case "no limit":
        slots.acquire = limitless  # type: ignore[assignment]
    case "no lock":
        users.lock = unlocked
    case "none, but slow":
        users.lock = locked
    case "no fence":
        messages.fence = unfenced
    case "":
        pass
    case other:
        raise ValueError(other)

__all__ = ["app"]
