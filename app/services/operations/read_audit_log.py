"""Read the log of operators' actions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import audit_log


@dataclass(frozen=True, slots=True)
class Entry:
    """One action.  actor, subject: as written; the emails are of users who still exist, otherwise None."""

    id: int
    at: datetime
    actor: str
    actor_email: str | None
    action: str
    subject: str
    subject_email: str | None
    facts: Mapping[str, object]


def entries(uow: UnitOfWork, *, before: int | None = None, most: int = 50) -> list[Entry]:
    """Actions, newest first.  before: the last id of the previous page."""
    with uow.once() as tx:
        return [Entry(**row) for row in audit_log.find(tx, before=before, most=most)]
