"""The records of analyses as results; records.py starts and ends them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx
from app.store.repositories.branch_commits import FOUND, IS_MEMBER
from app.store.repositories.branch_commits import newest as newest_of

_COLUMNS = """
    id, codebase_id, commit_sha, status, parser_version, attempt, started_at, completed_at, error_code,
    error_message, error_retryable, total_tests, summary, progress,
    coalesce(committed_at, completed_at) AS ordered_at
"""
_FIND = text(f"SELECT {_COLUMNS} FROM analyses WHERE id = :id")
_COMPLETED = text(f"""
    SELECT {_COLUMNS} FROM analyses
     WHERE codebase_id = :codebase_id AND commit_sha = :commit_sha AND status = 'completed'
       AND (CAST(:parser_version AS text) IS NULL OR parser_version = :parser_version)
     ORDER BY completed_at DESC LIMIT 1""")
_ON_DEFAULT_BRANCH = f"coalesce({IS_MEMBER}, false) AS on_default_branch"
_NEWEST = text(f"""
    SELECT n.id FROM codebases c CROSS JOIN LATERAL ({newest_of("c.id", most=":most")}) AS n
     WHERE c.id = :codebase_id ORDER BY n.ordered_at DESC, n.completed_at DESC""")
# For a private repository only the viewer's own; for each commit the newest; for a long history its end.
_OTHERS = text(f"""
    WITH found AS MATERIALIZED (
        SELECT a.id, a.commit_sha, a.parser_version, a.completed_at, a.total_tests, r.ref,
               coalesce(a.committed_at, a.completed_at) AS ordered_at, {_ON_DEFAULT_BRANCH}
          FROM analyses a
          JOIN codebases c ON c.id = a.codebase_id
          JOIN analysis_requests r ON r.job_id = a.id AND r.role = 'payer'
         WHERE a.codebase_id = :codebase_id AND a.status = 'completed' AND a.commit_sha <> :commit_sha
           AND starts_with(a.commit_sha, :prefix)
           AND (CAST(:before AS timestamptz) IS NULL OR coalesce(a.committed_at, a.completed_at) < :before)
           AND (NOT c.is_private OR :sees_all OR EXISTS (
                SELECT FROM analysis_requests m WHERE m.job_id = a.id AND m.user_id = :user_id AND m.role <> 'left'))
         ORDER BY coalesce(a.committed_at, a.completed_at) DESC LIMIT {FOUND}),
    newest AS (SELECT DISTINCT ON (commit_sha) * FROM found ORDER BY commit_sha, completed_at DESC),
    record AS (
        SELECT {_ON_DEFAULT_BRANCH} FROM analyses a JOIN codebases c ON c.id = a.codebase_id WHERE a.id = :id)
    SELECT newest.* FROM newest CROSS JOIN record
     WHERE NOT (CAST(:before AS timestamptz) IS NOT NULL AND record.on_default_branch
                AND NOT newest.on_default_branch
                AND EXISTS (SELECT FROM newest WHERE on_default_branch))
     ORDER BY newest.ordered_at DESC, newest.completed_at DESC LIMIT :most""")
_LOCK_SHARED = text("SELECT 1 FROM analyses WHERE id = :id FOR KEY SHARE")
_COMPLETE = text("""
    UPDATE analyses SET status = 'completed', completed_at = :now, total_tests = :total_tests,
           committed_at = :committed_at,
           summary = CAST(:summary AS jsonb), progress = NULL
     WHERE id = :id AND status = 'running'""")


class AnalysisRow(NamedTuple):
    """The record of an analysis.  ordered_at: when its commit was made, as far as is known."""

    id: UUID
    codebase_id: UUID
    commit_sha: str
    status: str
    parser_version: str
    attempt: int
    started_at: datetime
    completed_at: datetime | None
    error_code: str | None
    error_message: str | None
    error_retryable: bool | None
    total_tests: int | None
    summary: dict[str, Any] | None
    progress: dict[str, Any] | None
    ordered_at: datetime


class OtherCommitRow(NamedTuple):
    """A completed analysis of another commit."""

    id: UUID
    commit_sha: str
    parser_version: str
    completed_at: datetime
    total_tests: int
    ref: str | None
    ordered_at: datetime
    on_default_branch: bool


def find(tx: Tx, analysis_id: UUID) -> AnalysisRow | None:
    """The record of a job; None until a worker has started it."""
    return tx.run(_FIND, id=analysis_id).value_or_none(AnalysisRow)


def completed(tx: Tx, codebase_id: UUID, commit: str, parser_version: str | None) -> AnalysisRow | None:
    """The completed analysis of a commit by this parser version (None: by any, newest first)."""
    return tx.run(_COMPLETED, codebase_id=codebase_id, commit_sha=commit, parser_version=parser_version).value_or_none(
        AnalysisRow
    )


def newest(tx: Tx, codebase_id: UUID, *, most: int = 1) -> list[UUID]:
    """The newest results of a repository, as `branch_commits.newest` says; newest commit first."""
    return list(tx.run(_NEWEST, codebase_id=codebase_id, most=most).scalars())


def others(
    tx: Tx,
    record: AnalysisRow,
    *,
    user_id: UUID | None,
    sees_all: bool,
    prefix: str = "",
    before: datetime | None = None,
    most: int,
) -> list[OtherCommitRow]:
    """Completed analyses of other commits of a record's repository that this user may see, newest commit first.

    prefix: beginning of the commit id; before: committed by then, on the default branch if the record is on it.
    """
    found = tx.run(
        _OTHERS,
        id=record.id,
        codebase_id=record.codebase_id,
        commit_sha=record.commit_sha,
        user_id=user_id,
        sees_all=sees_all,
        prefix=prefix,
        before=before,
        most=most,
    )
    return found.values(OtherCommitRow)


def lock_shared(tx: Tx, analysis_id: UUID) -> bool:
    """Keep a record from being pruned before this transaction ends; False if it no longer exists.

    Locks: the record's key only, so that only pruning waits for it.
    """
    return tx.run(_LOCK_SHARED, id=analysis_id).one_or_none() is not None


def complete(
    tx: Tx,
    analysis_id: UUID,
    *,
    total_tests: int,
    summary: Mapping[str, Any],
    committed_at: datetime | None = None,
    now: datetime,
) -> bool:
    """End the record with its totals; False if it had already ended.  Raises IntegrityError on I7's index.

    committed_at: when its commit was made, None if Git does not say.
    """
    totals = {"total_tests": total_tests, "summary": json.dumps(summary), "committed_at": committed_at}
    return tx.run(_COMPLETE, id=analysis_id, now=now, **totals).rowcount > 0
