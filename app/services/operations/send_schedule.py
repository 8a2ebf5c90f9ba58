"""Send a schedule's entry once per slot: the slot's row and its message are one commit (I10)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

from app.domain.schedule import slot_start
from app.store import schedule
from app.store.unit_of_work import AlreadyQueuedError, JobMessage, UnitOfWork


@dataclass(frozen=True, slots=True)
class Entry:
    """What beat sends every so often.  offset: of the slots from the epoch in UTC."""

    name: str
    task: str
    every: timedelta
    queue: str
    offset: timedelta = timedelta(0)


def send_newest_slot(uow: UnitOfWork, entry: Entry, *, now: datetime) -> bool:
    """Send the entry if its newest slot was not sent yet; missed slots before that one collapse into it.

    One message of an entry is on its queue at most: a slot that comes while no worker has taken the one before is
    taken, and that message does its work.
    """
    slot = slot_start(now, entry.every, entry.offset)
    with uow.begin() as tx:
        if not schedule.take(tx, entry.name, slot):
            return False
        with suppress(AlreadyQueuedError):
            tx.publish(JobMessage(uuid4(), entry.task, entry.queue, unique_key=f"schedule {entry.name}"))
            return True
        return False


def seconds_to_next(entry: Entry, *, now: datetime) -> float:
    """Until the entry's next slot begins."""
    return (slot_start(now, entry.every, entry.offset) + entry.every - now).total_seconds()
