"""Read specifications: one document, its features, a user's documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TypeVar
from uuid import UUID

from app.domain.jobs import Job, Summary
from app.domain.queues import Service
from app.domain.repositories import Repository
from app.domain.specification import Domain, Feature, Specification
from app.errors import Conflict, Message
from app.services.jobs import describe, read_jobs, visibility
from app.services.policy import Policy
from app.store.accounts import users
from app.store.accounts.users import Account
from app.store.core.reading import read_completed
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.jobs import requests
from app.store.specifications import spec_documents
from app.store.specifications.behaviours import of_json
from app.store.specifications.spec_documents import DocumentRow, StoredFeatureRow

R = TypeVar("R")
#: How many documents one list has.
MOST_LISTED = 100


@dataclass(frozen=True, slots=True)
class Head:
    """A completed document without its features.

    summary: totals as in the job; ref: as submitted, if there was one; is_private: whether its repository is private
    now.
    """

    id: UUID
    owner_id: UUID
    analysis_id: UUID
    repository: Repository
    commit: str
    ref: str | None
    language: str
    generator: str
    version: int
    completed_at: datetime
    summary: Summary
    units: int
    codebase_id: UUID
    is_private: bool


@dataclass(frozen=True, slots=True)
class HeadingLine:
    """One feature of an outline.  position: its index in the document; total: its behaviours."""

    position: int
    domain: str
    feature: str
    total: int


def job(uow: UnitOfWork, job_id: UUID, viewer: Account, policy: Policy, *, now: datetime) -> Job:
    """The job of a specification.  Raises: NotFound."""
    return read_jobs.job(uow, job_id, viewer, policy, service=Service.SPECVIEW, now=now)


def jobs(uow: UnitOfWork, viewer: Account, policy: Policy, *, analysis_id: UUID | None, now: datetime) -> list[Job]:
    """The user's completed specifications of an analysis, or of all, newest first."""
    with uow.begin() as tx:
        rows = spec_documents.documents(tx, viewer.user_id, analysis_id=analysis_id, most=MOST_LISTED)
        found = describe.jobs(tx, [row.id for row in rows], policy, asker=viewer.user_id, now=now)
    return list(found.values())


def head(uow: UnitOfWork, document_id: UUID, viewer: Account) -> Head:
    """A completed document of the user.  Raises: NotFound; Conflict while it has not completed."""
    with uow.begin() as tx:
        visibility.check_visible(tx, document_id, viewer, Service.SPECVIEW)
        return completed(tx, document_id)


def history(uow: UnitOfWork, of: Head) -> list[Head]:
    """The owner's documents of the same repository, for all commits, newest first."""
    with uow.begin() as tx:
        found = spec_documents.documents(tx, of.owner_id, codebase_id=of.codebase_id, most=MOST_LISTED)
        return [_of_row(row, None) for row in found]


def versions(uow: UnitOfWork, of: Head) -> list[Head]:
    """The owner's documents of the same analysis, in all languages, newest first."""
    with uow.begin() as tx:
        found = spec_documents.documents(tx, of.owner_id, analysis_id=of.analysis_id, most=MOST_LISTED)
        return [_of_row(row, None) for row in found]


def outline(uow: UnitOfWork, document_id: UUID) -> list[HeadingLine]:
    """The features in reading order.  The caller has checked the visibility."""
    found = _read(uow, document_id, lambda tx: spec_documents.outline(tx, document_id))
    return [HeadingLine(row.position, row.domain, row.feature, row.total) for row in found]


def features(uow: UnitOfWork, document_id: UUID, *, after: int = 0, most: int) -> list[tuple[HeadingLine, Feature]]:
    """A page of features.  after: the last position of the previous page.  The caller has checked the visibility."""
    found = _read(uow, document_id, lambda tx: spec_documents.features(tx, document_id, after=after, most=most))
    return [_feature(row) for row in found]


def specification(uow: UnitOfWork, of: Head) -> Specification:
    """The whole document.  The caller has checked the visibility."""
    lines = groupby(_every(uow, of.id), lambda one: one[0].domain)
    domains = [Domain(name, [feature for _, feature in found]) for name, found in lines]
    return Specification(of.language, of.summary["text"], domains)


def whose(uow: UnitOfWork, job_id: UUID, viewer: Account) -> str | None:
    """The owner's e-mail address, for an operator who reads another user's document; None for the viewer's own."""
    with uow.begin() as tx:
        accepted = visibility.check_visible(tx, job_id, viewer, Service.SPECVIEW)
        is_others = accepted.user_id is not None and accepted.user_id != viewer.user_id
        owner = users.find(tx, accepted.user_id) if is_others and accepted.user_id else None
    return owner.email if owner else None


def completed(tx: Tx, document_id: UUID) -> Head:
    """A document, in the transaction of the caller, which has checked the visibility.  Raises: Conflict."""
    row = spec_documents.document(tx, document_id)
    if row is None or row.status != "completed":
        status = row.status if row else "queued"
        raise Conflict(Message("The specification is %(status)s; it can be read once it has completed", status=status))
    accepted = requests.accepted(tx, document_id)
    return _of_row(row, accepted.ref if accepted else None)


def _of_row(row: DocumentRow, ref: str | None) -> Head:
    if row.version is None or row.completed_at is None or row.summary is None or row.units is None:
        raise ValueError(f"document {row.id} has not completed")
    return Head(
        row.id, row.user_id, row.analysis_id, Repository(row.host, row.owner, row.name), row.commit_sha, ref,
        row.language, row.generator, row.version, row.completed_at, row.summary, row.units, row.codebase_id,
        row.is_private,
    )  # fmt: skip


def _read(uow: UnitOfWork, document_id: UUID, fetch: Callable[[Tx], R]) -> R:
    return read_completed(uow, lambda _: None, lambda _: [document_id], lambda tx, _: fetch(tx))


def _every(uow: UnitOfWork, document_id: UUID) -> Iterator[tuple[HeadingLine, Feature]]:
    after = 0
    while page := features(uow, document_id, after=after, most=spec_documents.AT_ONCE):
        yield from page
        after = page[-1][0].position


def _feature(row: StoredFeatureRow) -> tuple[HeadingLine, Feature]:
    behaviours = [of_json(one) for one in row.behaviours]
    return HeadingLine(row.position, row.domain, row.feature, len(behaviours)), Feature(row.feature, behaviours)
