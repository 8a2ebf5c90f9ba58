"""The log of operators' actions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text

from app.store.core.unit_of_work import Tx
from app.store.operations.dead_letters import UUID_PATTERN

_ADD = text("""
    INSERT INTO audit_log (actor, action, subject, facts) VALUES (:actor, :action, :subject, CAST(:facts AS jsonb))""")
# Actors and subjects are texts; only those that are ids of users are cast, so that the index on users serves the joins.
_FIND = text("""
    SELECT l.id, l.at, l.actor, a.email AS actor_email, l.action, l.subject, s.email AS subject_email, l.facts
      FROM (SELECT id, at, actor, action, subject, facts FROM audit_log
             WHERE CAST(:before AS bigint) IS NULL OR id < :before ORDER BY id DESC LIMIT :most) l
      LEFT JOIN users a ON a.id = CASE WHEN l.actor ~ :uuid THEN CAST(l.actor AS uuid) END
      LEFT JOIN users s ON s.id = CASE WHEN l.subject ~ :uuid THEN CAST(l.subject AS uuid) END
     ORDER BY l.id DESC""")


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One action.  actor, subject: as written; the emails are of users who still exist, otherwise None."""

    id: int
    at: datetime
    actor: str
    actor_email: str | None
    action: str
    subject: str
    subject_email: str | None
    facts: Mapping[str, object]


def add(tx: Tx, actor: str, action: str, subject: str, **facts: object) -> None:
    """Append one action.  actor: user id, or `cli:USER@HOST`."""
    tx.write(_ADD, actor=actor, action=action, subject=subject, facts=json.dumps(facts, default=str))


def find(tx: Tx, *, before: int | None, most: int) -> list[AuditEntry]:
    """Actions, newest first.  before: the last id of the previous page."""
    return tx.run(_FIND, before=before, most=most, uuid=UUID_PATTERN).values(AuditEntry)
