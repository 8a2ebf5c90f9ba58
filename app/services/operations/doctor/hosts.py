"""Differences between hosts: clocks and settings; and whether nodes of this host hear notifications."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError

from app.services.operations.doctor.check import Check, Instruments
from app.services.operations.shown_rows import ShownRow
from app.store.core import clock
from app.store.core.database_errors import code_of
from app.store.operations.faults import hosts


def _clocks(instruments: Instruments) -> list[ShownRow]:
    return instruments.rows(hosts.CLOCKS, seconds=clock.TOLERATED.total_seconds())


def _listens(instruments: Instruments) -> list[ShownRow]:
    place = "DATABASE_DIRECT_URL, or without it DATABASE_URL"
    try:
        return [] if instruments.hears() else [{"address": place, "why": "a pooler"}]
    except DBAPIError as error:
        if code_of(error):
            raise
        return [{"address": place, "why": str(error.orig).strip().splitlines()[0]}]


CHECKS = (
    Check(
        "skewed clocks",
        "how far the clocks of hosts are from the database's, in the last 15 minutes",
        "A host's clock is more than a second off. Nothing that is stored is wrong by it, but its logs and certificates"
        " may be.",
        "Set the clock of that host, and keep it by NTP. If all hosts are off by the same, the database's clock is"
        " wrong.",
        _clocks,
    ),
    Check(
        "different settings",
        "digests of settings that processes wrote in the last 15 minutes",
        "Hosts have different values of a setting that must be the same: users may be signed out, limits may change"
        " from job to job, secrets of webhooks may be unreadable.",
        "Give all hosts the same value, and restart their processes. A process that has ended counts for 15 minutes.",
        lambda instruments: instruments.rows(hosts.SETTINGS),
    ),
    Check(
        "nodes do not listen",
        "whether a notification reaches a session that nodes of this host would listen in",
        "The address does not answer, or leads to a transaction pooler: nodes find new jobs by their poll only, and"
        " their locks do not last.",
        "Set DATABASE_DIRECT_URL to an address that reaches PostgreSQL itself, and restart the nodes and beat.",
        _listens,
    ),
)
