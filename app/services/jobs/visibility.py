"""Decide who may see a job, see its result, and cancel it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from app.domain.queues import Service
from app.errors import Conflict, Message, NotFound, RepositoryNotFound
from app.store.accounts.users import Account, Payer
from app.store.analyses import analyses
from app.store.analyses.analyses import AnalysisRow
from app.store.core.reading import read_completed
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.jobs import requests
from app.store.jobs.requests import AcceptedRow
from app.store.repositories import codebases
from app.store.repositories.codebases import Codebase

R = TypeVar("R")


def check_visible(tx: Tx, job_id: UUID, viewer: Account | None, service: Service | None = None) -> AcceptedRow:
    """The request that the job was accepted with, if the viewer may see it.

    A specification is visible to its owner only.  service: which the job must belong to, None for any.
    Raises: NotFound, which does not reveal whether the job exists.
    """
    accepted = requests.accepted(tx, job_id)
    if accepted is None or (service and accepted.service != service):
        raise NotFound("No such job")
    if _is_public(accepted) or (viewer and viewer.is_operator):
        return accepted
    return check_asked(accepted, viewer, requests.role(tx, job_id, viewer.user_id) if viewer else None)


def check_asked(accepted: AcceptedRow | None, viewer: Account | None, role: str | None) -> AcceptedRow:
    """The accept record of a job, if the viewer may see it.

    role: of the viewer in the job, which is not needed for an operator.
    Raises: NotFound, which does not reveal whether the job exists.
    """
    if accepted is None:
        raise NotFound("No such job")
    if _is_public(accepted) or (viewer and viewer.is_operator) or role not in (None, "left"):
        return accepted
    raise NotFound("No such job")


def _is_public(accepted: AcceptedRow) -> bool:
    return not accepted.is_private and accepted.service != Service.SPECVIEW


def is_reachable(
    tx: Tx, codebase: Codebase, job_id: UUID | None, account: Payer, *, named: bool = False, sees_all: bool = False
) -> bool:
    """Whether a submission of a commit may lead to a job.

    For a private repository, only those who asked for a job may point at it or join it.  A new job needs a host that
    named the commit, or an earlier request for the repository.
    job_id: of the commit's job, None if a new one would be made; named, sees_all: as of Wanted.
    """
    if not codebase.is_private or sees_all:
        return True
    if job_id:
        return requests.has_asked(tx, job_id, account.user_id)
    return named or requests.has_asked_of(tx, codebase.codebase_id, account.user_id)


def check_reachable(
    tx: Tx, codebase: Codebase, job_id: UUID | None, account: Payer, *, named: bool = False, sees_all: bool = False
) -> None:
    """Check `is_reachable`.  Raises: RepositoryNotFound, which does not reveal whether the commit was analysed."""
    if not is_reachable(tx, codebase, job_id, account, named=named, sees_all=sees_all):
        raise RepositoryNotFound("The repository does not exist or is private.")


def check_completed(tx: Tx, job_id: UUID, viewer: Account | None, *, now: datetime) -> AnalysisRow:
    """The record, if the viewer may see the result of the analysis; notes the view.  Raises: NotFound, Conflict."""
    check_visible(tx, job_id, viewer)
    record = analyses.find(tx, job_id)
    if record is None or record.status != "completed":
        raise Conflict(_no_result(record.status if record else "running"))
    codebases.viewed(tx, record.codebase_id, now=now)
    return record


def read_result(uow: UnitOfWork, job_id: UUID, viewer: Account | None, fetch: Callable[[Tx], R], *, now: datetime) -> R:
    """Read from the result of an analysis, after `check_completed`.  fetch: as of read_completed.

    Raises: NotFound, Conflict.
    """
    return read_completed(
        uow, lambda tx: check_completed(tx, job_id, viewer, now=now), lambda _: [job_id], lambda tx, _: fetch(tx)
    )


def asked_for(uow: UnitOfWork, job_id: UUID, account: Account | None) -> bool:
    """Whether this job is in the account's history, so that the account may cancel it."""
    if account is None:
        return False
    with uow.begin() as tx:
        return account.is_operator or requests.has_asked(tx, job_id, account.user_id)


def _no_result(status: str) -> Message:
    if status == "running":
        return Message("The analysis has no result yet")
    return Message("The analysis %(status)s, so it has no tests", status=status)
