"""Results of other commits of a repository, to compare one with (docs/adr/0070)."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.analyses.analyses import AnalysisRow
from app.store.core.unit_of_work import Tx
from app.store.repositories.branch_commits import FOUND, IS_MEMBER, IS_NAMED

_RESULT = "a.id, a.commit_sha, a.parser_version, a.completed_at, a.total_tests"
# For a private repository only the viewer's own.
_IS_SEEN = """
    a.codebase_id = :codebase_id AND a.status = 'completed'
    AND (NOT c.is_private OR :sees_all OR EXISTS (
         SELECT FROM analysis_requests m WHERE m.job_id = a.id AND m.user_id = :user_id AND m.role <> 'left'))"""
_IS_WANTED = "commit_sha <> :commit_sha AND starts_with({row}.commit_sha, :prefix)"
_IS_BEFORE = "(CAST(:before AS timestamptz) IS NULL OR {place} < :before)"
_MADE_AT = "coalesce(a.committed_at, a.completed_at)"
_STANDS_AT = "coalesce(b.ordered_at, m.committed_at, m.completed_at)"
# Commits of the default branch in its order, and the others by their own dates, so that neither hide the others: as
# many of each as there are, up to a half.  The scalars: as in branch_commits.newest.
_OTHERS = text(f"""
    WITH members AS MATERIALIZED (
        SELECT m.*, {_STANDS_AT} AS ordered_at, true AS on_default_branch
          FROM branch_commits b CROSS JOIN LATERAL (
               SELECT {_RESULT}, a.committed_at FROM analyses a JOIN codebases c ON c.id = a.codebase_id
                WHERE a.commit_sha = b.commit_sha AND {_IS_SEEN}
                ORDER BY a.completed_at DESC LIMIT 1) AS m
         WHERE b.codebase_id = :codebase_id AND b.is_member
           AND b.{_IS_WANTED.format(row="b")} AND {_IS_BEFORE.format(place=_STANDS_AT)}
         ORDER BY b.ordered_at DESC NULLS LAST, m.completed_at DESC LIMIT :most),
    record AS MATERIALIZED (
        SELECT coalesce({IS_MEMBER}, false) AND CAST(:before AS timestamptz) IS NOT NULL AS wants_members
          FROM analyses a JOIN codebases c ON c.id = a.codebase_id WHERE a.id = :id),
    elsewhere AS MATERIALIZED (
        SELECT {_RESULT}, a.committed_at, {_MADE_AT} AS ordered_at, {IS_NAMED} AS on_default_branch
          FROM analyses a JOIN codebases c ON c.id = a.codebase_id
         WHERE {_IS_SEEN} AND a.{_IS_WANTED.format(row="a")} AND {_IS_BEFORE.format(place=_MADE_AT)}
           AND NOT ((SELECT wants_members FROM record) AND (SELECT EXISTS (SELECT FROM members)))
           AND NOT EXISTS (SELECT FROM branch_commits b
                            WHERE b.codebase_id = a.codebase_id AND b.commit_sha = a.commit_sha AND b.is_member)
         ORDER BY {_MADE_AT} DESC LIMIT {FOUND}),
    newest AS MATERIALIZED (
        SELECT * FROM members
        UNION ALL
        (SELECT DISTINCT ON (commit_sha) * FROM elsewhere ORDER BY commit_sha, completed_at DESC)),
    ranked AS (
        SELECT *, CASE WHEN CAST(:before AS timestamptz) IS NULL THEN row_number() OVER (
                      PARTITION BY on_default_branch ORDER BY ordered_at DESC, completed_at DESC) END AS rank
          FROM newest
         WHERE on_default_branch OR NOT ((SELECT wants_members FROM record)
                                         AND EXISTS (SELECT FROM newest WHERE on_default_branch))
         ORDER BY rank, ordered_at DESC, completed_at DESC LIMIT :most)
    SELECT n.id, n.commit_sha, n.parser_version, n.completed_at, n.total_tests, r.ref, n.ordered_at, n.on_default_branch
      FROM ranked n JOIN analysis_requests r ON r.job_id = n.id AND r.role = 'payer'
     ORDER BY n.ordered_at DESC, n.completed_at DESC""")


class OtherCommitRow(NamedTuple):
    """A completed analysis of another commit.  ordered_at: as of AnalysisRow."""

    id: UUID
    commit_sha: str
    parser_version: str
    completed_at: datetime
    total_tests: int
    ref: str | None
    ordered_at: datetime
    on_default_branch: bool


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

    prefix: beginning of the commit id; before: of a place before this one, on the default branch if the record is on
    it and there is one.
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
