"""Read the log of operators' actions."""

from __future__ import annotations

from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import audit_log
from app.store.operations.audit_log import AuditEntry


def entries(uow: UnitOfWork, *, before: int | None = None, most: int = 50) -> list[AuditEntry]:
    """Actions, newest first.  before: the last id of the previous page."""
    with uow.once() as tx:
        return audit_log.find(tx, before=before, most=most)
