"""A page of results with its total."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from app.services import browse
from app.store import requests, results
from app.store.inventories import TestFilter
from app.store.unit_of_work import UnitOfWork
from app.store.users import Account


@dataclass(frozen=True, slots=True)
class Page:
    """rows: tests by path and line; next: cursor of the page after; total: rows of all pages."""

    rows: list[dict[str, Any]]
    next: str | None
    total: int


def page(
    uow: UnitOfWork,
    job_id: UUID,
    viewer: Account | None,
    wanted: TestFilter,
    *,
    cursor: str | None,
    limit: int,
    now: datetime,
) -> Page:
    """Raises: as browse.tests.  A completed result never changes, so two transactions see the same."""
    rows, following = browse.tests(uow, job_id, viewer, wanted, cursor=cursor, limit=limit, now=now)
    with uow.begin() as tx:
        return Page(rows, following, results.count(tx, job_id, wanted))


def asked_for(uow: UnitOfWork, job_id: UUID, account: Account | None) -> bool:
    """Whether this job is in the account's history, so that it may cancel it."""
    if account is None:
        return False
    with uow.begin() as tx:
        return account.is_operator or requests.asked(tx, job_id, account.user_id)
