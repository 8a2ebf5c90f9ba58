"""The schedule, as operators see and change it (docs/adr/0013)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import uuid4

from app.domain.schedule import may_replace, slot_start
from app.errors import InvalidInput, Message, NotFound
from app.services.operations.send_schedule import ScheduledEntry
from app.store.core.unit_of_work import AlreadyQueuedError, JobMessage, UnitOfWork
from app.store.operations import audit_log, schedule_entries
from app.store.operations.schedule_entries import EntryRow, Leader

#: How long after the beginning of a slot its message may be sent; beat looks every few seconds.
LATE = timedelta(minutes=1)
#: Within this time, a second request to run an entry at once is the same request.
SAME_REQUEST = timedelta(seconds=10)


class AskedRun(StrEnum):
    """The outcome of a request to run an entry now."""

    SENT = "sent"
    JUST_SENT = "just_sent"  #: not started, because an operator had it sent within SAME_REQUEST
    UNFINISHED = "unfinished"  #: not started, because its previous run is still queued or in progress


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """An entry.  every_seconds: in force; of_code_seconds: as released; last_at: when it was last sent, None = never.

    next_at: when it is due, None while it is disabled; is_late: it is due for more than a minute.
    """

    name: str
    task: str
    queue: str
    every_seconds: int
    of_code_seconds: int
    is_enabled: bool
    last_at: datetime | None
    next_at: datetime | None
    is_late: bool


def register(uow: UnitOfWork, entries: Sequence[ScheduledEntry], *, leader: str, now: datetime) -> None:
    """Write down who leads, and what it sends."""
    with uow.begin() as tx:
        schedule_entries.leads(tx, leader, now=now)
        for entry in entries:
            schedule_entries.put(
                tx, entry.name, task=entry.task, queue=entry.queue, every=entry.every, starts_at=entry.offset
            )
        schedule_entries.keep(tx, [entry.name for entry in entries])


def obeyed(uow: UnitOfWork, entries: Sequence[ScheduledEntry]) -> list[ScheduledEntry]:
    """The entries as operators changed them: those that are enabled, at their intervals."""
    with uow.once() as tx:
        changed = {row.name: row for row in schedule_entries.changed(tx)}
    found = []
    for entry in entries:
        row = changed.get(entry.name)
        if row is None:
            found.append(entry)
        elif row.is_enabled:
            found.append(replace(entry, every=row.own_every or entry.every))
    return found


def shown(uow: UnitOfWork, *, now: datetime) -> tuple[Leader | None, list[ShownEntry]]:
    """The leader, None if no beat ever led, and every entry by name."""
    with uow.begin() as tx:
        leader = schedule_entries.leader(tx)
        rows = schedule_entries.find(tx)
    return leader, [_shown(row, now) for row in rows]


def entry(uow: UnitOfWork, name: str, *, now: datetime) -> ShownEntry:
    """One entry.  Raises: NotFound."""
    with uow.once() as tx:
        rows = schedule_entries.find(tx, name)
    if not rows:
        raise NotFound(Message("There is no entry %(name)s", name=repr(name)))
    return _shown(rows[0], now)


def change(
    uow: UnitOfWork,
    name: str,
    every: timedelta | None,
    *,
    is_enabled: bool,
    actor: str,
    now: datetime,
    reason: str | None = None,
) -> None:
    """Send an entry at another interval (None: that of the code), or not at all.  The leading beat obeys in seconds.

    Locks: the entry.  Raises: NotFound, InvalidInput.
    """
    with uow.begin() as tx:
        row = schedule_entries.lock(tx, name)
        if row is None:
            raise NotFound(Message("There is no entry %(name)s", name=repr(name)))
        _check(name, every, row.every)
        own = None if every == row.every else every
        before = {"every_seconds": _seconds(row.own_every or row.every), "enabled": row.is_enabled}
        after = {"every_seconds": _seconds(own or row.every), "enabled": is_enabled}
        if before == after:
            return
        schedule_entries.change(tx, name, own_every=own, is_enabled=is_enabled, now=now)
        said = {"reason": reason} if reason else {}
        audit_log.add(tx, actor, "schedule.change", name, before=before, after=after, **said)


def _check(name: str, every: timedelta | None, of_code: timedelta) -> None:
    if every is not None and not may_replace(every, of_code):
        detail = Message("expected a whole part of %(seconds)s seconds, and at least 60", seconds=_seconds(of_code))
        raise InvalidInput(
            Message(
                "%(name)s cannot be sent every %(seconds)s seconds; %(detail)s",
                name=name,
                seconds=_seconds(every),
                detail=detail,
            ),
            errors=[{"pointer": "/every_seconds", "detail": detail}],
        )


def run_now(uow: UnitOfWork, name: str, *, actor: str, now: datetime) -> AskedRun:
    """Send an entry once, besides its slots; works also while it is disabled.

    Locks: the entry.  Raises: NotFound.
    """
    # outside of the transaction: what was not sent is not noted as sent
    with suppress(AlreadyQueuedError), uow.begin() as tx:
        if schedule_entries.lock(tx, name) is None:
            raise NotFound(Message("There is no entry %(name)s", name=repr(name)))
        row = schedule_entries.ask(tx, name, now=now, before=now - SAME_REQUEST)
        if row is None:
            return AskedRun.JUST_SENT
        # the key of send_schedule.py: at most one message of an entry is unfinished
        tx.publish(JobMessage(uuid4(), row.task, row.queue, unique_key=f"schedule {name}"))
        audit_log.add(tx, actor, "schedule.run", name)
        return AskedRun.SENT
    return AskedRun.UNFINISHED


def _shown(row: EntryRow, now: datetime) -> ShownEntry:
    every = row.own_every or row.every
    newest = slot_start(now, every, row.starts_at)
    is_sent = row.slot_at is not None and row.slot_at >= newest
    due = newest + every if is_sent else newest
    # a changed entry is due when it was changed, even if its slot began long before
    since = max(due, row.changed_at) if row.changed_at else due
    return ShownEntry(
        row.name,
        row.task,
        row.queue,
        _seconds(every),
        _seconds(row.every),
        row.is_enabled,
        last_at=max(filter(None, (row.sent_at, row.asked_at)), default=None),
        next_at=due if row.is_enabled else None,
        is_late=row.is_enabled and since + LATE < now,
    )


def _seconds(every: timedelta) -> int:
    return int(every.total_seconds())
