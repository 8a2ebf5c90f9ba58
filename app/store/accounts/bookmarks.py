"""The repositories that users have marked, with the numbers of the newest result."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.analyses.branch_commits import newest
from app.store.core.unit_of_work import Tx

# A private repository is visible to those who have a job of it in their history; so are its results.
_ASKED = "SELECT FROM analysis_requests m WHERE {of} AND m.user_id = :user_id AND m.role <> 'left'"
_VISIBLE = f"(NOT c.is_private OR :sees_all OR EXISTS ({_ASKED.format(of='m.codebase_id = c.id')}))"
_SEEN = f"(NOT c.is_private OR :sees_all OR EXISTS ({_ASKED.format(of='m.job_id = a.id')}))"
_IS_VISIBLE = text(f"SELECT 1 FROM codebases c WHERE c.id = :codebase_id AND {_VISIBLE} FOR KEY SHARE OF c")
_ADD = text("""
    INSERT INTO bookmarks (user_id, codebase_id, created_at) VALUES (:user_id, :codebase_id, :now)
    ON CONFLICT (user_id, codebase_id) DO NOTHING""")
_REMOVE = text("DELETE FROM bookmarks WHERE user_id = :user_id AND codebase_id = :codebase_id")
_LIST = text(f"""
    WITH page AS MATERIALIZED (
        SELECT b.id, b.created_at, c.id AS codebase_id, c.host, c.owner, c.name, c.is_private, c.default_branch
          FROM bookmarks b JOIN codebases c ON c.id = b.codebase_id
         WHERE b.user_id = :user_id AND {_VISIBLE}
           AND (CAST(:codebase_id AS uuid) IS NULL OR b.codebase_id = :codebase_id)
           AND (CAST(:before AS bigint) IS NULL OR b.id < :before)
         ORDER BY b.id DESC LIMIT :most)
    SELECT c.id, c.created_at, c.host, c.owner, c.name, c.is_private,
           r.id AS analysis_id, r.commit_sha, r.completed_at, r.parser_version, r.summary
      FROM page c LEFT JOIN LATERAL ({newest("c.codebase_id", seen=_SEEN)} LIMIT 1) AS n ON true
      LEFT JOIN analyses r ON r.id = n.id
     ORDER BY c.id DESC""")


class BookmarkRow(NamedTuple):
    """A bookmark with the newest result that its user may see; analysis_id: None if there is none."""

    id: int
    created_at: datetime
    host: str
    owner: str
    name: str
    is_private: bool
    analysis_id: UUID | None
    commit_sha: str | None
    completed_at: datetime | None
    parser_version: str | None
    summary: dict[str, Any] | None


def may_see(tx: Tx, codebase_id: UUID, user_id: UUID, *, sees_all: bool) -> bool:
    """Whether the user may see the repository.  sees_all: an operator.

    Locks: the key of its row, so that pruning leaves it; if it is being pruned, this waits and finds nothing.
    """
    return tx.run(_IS_VISIBLE, codebase_id=codebase_id, user_id=user_id, sees_all=sees_all).one_or_none() is not None


def add(tx: Tx, user_id: UUID, codebase_id: UUID, *, now: datetime) -> None:
    """Mark a repository; idempotent.  The caller has locked the key of its row."""
    tx.write(_ADD, user_id=user_id, codebase_id=codebase_id, now=now)


def remove(tx: Tx, user_id: UUID, codebase_id: UUID) -> None:
    """Remove a bookmark; idempotent."""
    tx.write(_REMOVE, user_id=user_id, codebase_id=codebase_id)


def find(
    tx: Tx, user_id: UUID, *, sees_all: bool, codebase_id: UUID | None = None, before: int | None = None, most: int = 1
) -> list[BookmarkRow]:
    """The user's bookmarks of repositories that the user may still see, newest first.

    codebase_id: None for any; before: the last id of the previous page.
    """
    found = tx.run(_LIST, user_id=user_id, sees_all=sees_all, codebase_id=codebase_id, before=before, most=most)
    return found.values(BookmarkRow)
