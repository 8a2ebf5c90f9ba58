"""Send an entry of the schedule once per slot: the slot's row and its message are one commit (I10)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

from app.domain.schedule import slot_start
from app.store.core.unit_of_work import AlreadyQueuedError, JobMessage, UnitOfWork
from app.store.operations import schedule


@dataclass(frozen=True, slots=True)
class ScheduledEntry:
    """An entry of the schedule, which beat sends at an interval.  offset: of the slots from the epoch in UTC."""

    name: str
    task: str
    every: timedelta
    queue: str
    offset: timedelta = timedelta(0)


def send_newest_slot(uow: UnitOfWork, entry: ScheduledEntry, *, now: datetime) -> bool:
    """Send the entry if its newest slot was not sent yet; earlier missed slots are skipped.

    At most one message of an entry is on its queue.  If no worker has taken the message of the previous slot, the new
    slot counts as sent, because that message does its work.
    """
    slot = slot_start(now, entry.every, entry.offset)
    with uow.begin() as tx:
        if not schedule.take(tx, entry.name, slot):
            return False
        with suppress(AlreadyQueuedError):
            tx.publish(JobMessage(uuid4(), entry.task, entry.queue, unique_key=f"schedule {entry.name}"))
            return True
        return False


def seconds_to_next(entry: ScheduledEntry, *, now: datetime) -> float:
    """The time until the entry's next slot begins."""
    return (slot_start(now, entry.every, entry.offset) + entry.every - now).total_seconds()
