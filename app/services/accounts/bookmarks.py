"""The repositories that a person has marked, to come back to their newest results."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.domain.repositories import Repository
from app.errors import Message, NotFound
from app.services.policy import Policy
from app.services.results.newest_result import NewestResult
from app.store.accounts import users
from app.store.accounts.users import Account
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.repositories import bookmarks, codebases
from app.store.repositories.bookmarks import BookmarkRow
from app.store.repositories.codebases import Codebase

NOT_THERE = Message("There is no such repository here, or it is not visible to you")


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A marked repository.  newest: None before its first result."""

    repository: Repository
    is_private: bool
    created_at: datetime
    newest: NewestResult | None


def listed(
    uow: UnitOfWork, account: Account, policy: Policy, *, before: int | None, limit: int
) -> tuple[list[Bookmark], int | None]:
    """A page of the account's bookmarks, newest first.  before: the cursor.  Returns: and the cursor of the next page.

    A repository that the account may no longer see is left out.
    """
    with uow.begin() as tx:
        rows = bookmarks.find(tx, account.user_id, sees_all=account.is_operator, before=before, most=limit + 1)
    following = rows[limit - 1].id if len(rows) > limit else None
    return [_bookmark(row, policy) for row in rows[:limit]], following


def find(uow: UnitOfWork, account: Account, where: Repository, policy: Policy) -> Bookmark:
    """The account's bookmark of a repository.  Raises: NotFound."""
    with uow.begin() as tx:
        codebase = codebases.find(tx, where)
        return _found(tx, account, codebase, policy)


def is_marked(uow: UnitOfWork, account: Account, where: Repository) -> bool:
    """Whether a repository is among the account's bookmarks."""
    with uow.begin() as tx:
        codebase = codebases.find(tx, where)
        return codebase is not None and bool(
            bookmarks.find(tx, account.user_id, sees_all=account.is_operator, codebase_id=codebase.codebase_id)
        )


def add(uow: UnitOfWork, account: Account, where: Repository, policy: Policy, *, now: datetime) -> Bookmark:
    """Mark a repository; idempotent.  Raises: NotFound if it was never analysed, or the account may not see it."""
    with uow.begin() as tx:
        codebase = codebases.find(tx, where)
        if codebase is None or not bookmarks.may_see(
            tx, codebase.codebase_id, account.user_id, sees_all=account.is_operator
        ):
            raise NotFound(NOT_THERE)
        bookmarks.add(tx, account.user_id, codebase.codebase_id, now=now)
        return _found(tx, account, codebase, policy)


def remove(uow: UnitOfWork, account: Account, where: Repository) -> None:
    """Unmark a repository; idempotent, and the same whether or not the repository exists.

    Raises: NotFound if the account was deleted or moved meanwhile.  Locks: users row.
    """
    with uow.begin() as tx:
        if users.lock(tx, account.user_id) is None:
            raise NotFound("The account no longer exists")
        if codebase := codebases.find(tx, where):
            bookmarks.remove(tx, account.user_id, codebase.codebase_id)


def _found(tx: Tx, account: Account, codebase: Codebase | None, policy: Policy) -> Bookmark:
    rows = codebase and bookmarks.find(
        tx, account.user_id, sees_all=account.is_operator, codebase_id=codebase.codebase_id
    )
    if not rows:
        raise NotFound("This repository is not among your bookmarks")
    return _bookmark(rows[0], policy)


def _bookmark(row: BookmarkRow, policy: Policy) -> Bookmark:
    newest = None
    if row.analysis_id and row.commit_sha and row.completed_at and row.summary is not None:
        found = (row.analysis_id, row.commit_sha, row.completed_at, row.parser_version, row.summary)
        newest = NewestResult.of(policy, *found)
    return Bookmark(Repository(row.host, row.owner, row.name), row.is_private, row.created_at, newest)
