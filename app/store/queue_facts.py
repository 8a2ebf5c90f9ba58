"""Counts over all queues, and at which schema the database is."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, text

from app.store.unit_of_work import Tx

_TOTALS = text("""
    SELECT (SELECT count(*) FROM execution_slots) AS slots,
           (SELECT count(*) FROM kombu_message WHERE delay_reason = 'snooze' AND lease_token IS NULL) AS snoozed,
           (SELECT coalesce(sum(reserved_amount), 0) FROM quota_reservations) AS reserved,
           (SELECT count(*) FROM kombu_dead_letter) AS dead""")
_NAMES = text("SELECT name FROM kombu_queue")
_MIGRATED = text("SELECT to_regclass('alembic_version') IS NOT NULL")
_REVISION = text("SELECT version_num FROM alembic_version")


def totals(tx: Tx) -> Row[Any]:
    """row: slots, snoozed, reserved, dead."""
    return tx.run(_TOTALS).one()


def names(tx: Tx) -> list[str]:
    """Queues that exist."""
    return [row.name for row in tx.run(_NAMES)]


def schema_revision(tx: Tx) -> str | None:
    """The newest migration that ran; None before the first."""
    if not tx.run(_MIGRATED).scalar_one():
        return None
    revision: str | None = tx.run(_REVISION).scalar_one_or_none()
    return revision
