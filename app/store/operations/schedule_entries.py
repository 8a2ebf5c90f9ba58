"""The entries that beat sends, the operators' changes to them, and the beat that leads."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

# an operator's interval was chosen to divide the one in the code, so it goes when that changes
_PUT = text("""
    INSERT INTO schedule_entries (name, task, queue, every, starts_at)
    VALUES (:name, :task, :queue, make_interval(secs => :every), make_interval(secs => :starts_at))
    ON CONFLICT (name) DO UPDATE
       SET task = excluded.task, queue = excluded.queue, starts_at = excluded.starts_at, every = excluded.every,
           own_every = CASE WHEN schedule_entries.every = excluded.every THEN schedule_entries.own_every END""")
_KEEP = text("DELETE FROM schedule_entries WHERE name <> ALL (CAST(:names AS text[]))")
_LEADS = text("""
    INSERT INTO schedule_leader (name, since) VALUES (:name, :now)
    ON CONFLICT (only_one) DO UPDATE SET name = excluded.name, since = excluded.since""")
# the lock of app/store/operations/schedule.py, as the server shows a key of two numbers
_LEADER = text("""
    SELECT name, since, EXISTS (
               SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND objid = 0 AND granted
                  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                  AND classid = CAST(hashtext('fairlane beat leader')::bigint & 4294967295 AS oid)) AS is_alive
      FROM schedule_leader""")
_CHANGED = text(
    "SELECT name, own_every, is_enabled FROM schedule_entries WHERE own_every IS NOT NULL OR NOT is_enabled"
)
_ALL = text("""
    SELECT e.name, e.task, e.queue, e.every, e.starts_at, e.own_every, e.is_enabled, e.changed_at, e.asked_at,
           r.slot_at, r.sent_at
      FROM schedule_entries e
      LEFT JOIN LATERAL (SELECT slot_at, sent_at FROM schedule_runs
                          WHERE name = e.name ORDER BY slot_at DESC LIMIT 1) r ON true
     WHERE CAST(:name AS text) IS NULL OR e.name = :name ORDER BY e.name""")
_LOCK = text("SELECT every, own_every, is_enabled FROM schedule_entries WHERE name = :name FOR UPDATE")
_CHANGE = text("""
    UPDATE schedule_entries SET own_every = make_interval(secs => :own_every), is_enabled = :is_enabled,
           changed_at = :now WHERE name = :name""")
_ASK = text("""
    UPDATE schedule_entries SET asked_at = :now
     WHERE name = :name AND (asked_at IS NULL OR asked_at <= :before) RETURNING task, queue""")


@dataclass(frozen=True, slots=True)
class Leader:
    """The beat that last took the lead.  is_alive: a beat leads now."""

    name: str
    since: datetime
    is_alive: bool


class ChangedEntryRow(NamedTuple):
    """An entry that an operator changed.  own_every: None for that of the code."""

    name: str
    own_every: timedelta | None
    is_enabled: bool


class EntryRow(NamedTuple):
    """An entry of the schedule.  slot_at, sent_at: of the newest slot that was sent."""

    name: str
    task: str
    queue: str
    every: timedelta
    starts_at: timedelta
    own_every: timedelta | None
    is_enabled: bool
    changed_at: datetime | None
    asked_at: datetime | None
    slot_at: datetime | None
    sent_at: datetime | None


class LockedEntryRow(NamedTuple):
    """The settings of an entry that operators may change."""

    every: timedelta
    own_every: timedelta | None
    is_enabled: bool


class AskedEntryRow(NamedTuple):
    """An entry that is to run now."""

    task: str
    queue: str


def put(tx: Tx, name: str, *, task: str, queue: str, every: timedelta, starts_at: timedelta) -> None:
    """Write an entry as the code has it; operators' changes stay, unless its interval is another one."""
    seconds = {"every": every.total_seconds(), "starts_at": starts_at.total_seconds()}
    tx.run(_PUT, name=name, task=task, queue=queue, **seconds)


def keep(tx: Tx, names: Collection[str]) -> None:
    """Delete the entries that the code no longer has."""
    tx.run(_KEEP, names=list(names))


def leads(tx: Tx, name: str, *, now: datetime) -> None:
    """Note which beat took the lead."""
    tx.run(_LEADS, name=name, now=now)


def leader(tx: Tx) -> Leader | None:
    """The beat that leads; None if none ever led."""
    return tx.run(_LEADER).value_or_none(Leader)


def changed(tx: Tx) -> list[ChangedEntryRow]:
    """The entries that operators changed."""
    return tx.run(_CHANGED).values(ChangedEntryRow)


def find(tx: Tx, name: str | None = None) -> list[EntryRow]:
    """All entries, or the one with this name."""
    return tx.run(_ALL, name=name).values(EntryRow)


def lock(tx: Tx, name: str) -> LockedEntryRow | None:
    """Lock and read an entry.  Locks: its row."""
    return tx.run(_LOCK, name=name).value_or_none(LockedEntryRow)


def change(tx: Tx, name: str, *, own_every: timedelta | None, is_enabled: bool, now: datetime) -> None:
    """Replace what operators may change of an entry."""
    seconds = own_every.total_seconds() if own_every else None
    tx.run(_CHANGE, name=name, own_every=seconds, is_enabled=is_enabled, now=now)


def ask(tx: Tx, name: str, *, now: datetime, before: datetime) -> AskedEntryRow | None:
    """Note that an entry is to run at once; None if this was noted after `before`.  Locks: the entry."""
    return tx.run(_ASK, name=name, now=now, before=before).value_or_none(AskedEntryRow)
