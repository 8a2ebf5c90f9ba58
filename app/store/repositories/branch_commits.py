"""Which commits of a repository are on its default branch, and so which result is its newest (docs/adr/0034)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

#: How many rows at the end of a longer history are read.
FOUND = 500
#: Commits of a repository that are judged again at each analysis.
JUDGED = 100

#: Whether an analysis `a` of the codebase `c` is on the default branch; NULL: nothing is known.  While no commit is
#: known to be on it, one that somebody submitted by the branch's name counts; then the name, which a client may send
#: with any commit, says nothing.
IS_MEMBER = """
    coalesce((SELECT b.is_member FROM branch_commits b
               WHERE b.codebase_id = a.codebase_id AND b.commit_sha = a.commit_sha),
             CASE WHEN EXISTS (SELECT FROM analysis_requests d WHERE d.job_id = a.id AND d.ref = c.default_branch)
                   AND NOT EXISTS (SELECT FROM branch_commits b WHERE b.codebase_id = a.codebase_id AND b.is_member)
                  THEN true END)"""

_JUDGED = text("""
    SELECT commit_sha, max(committed_at) AS committed_at FROM (
        SELECT a.commit_sha, a.committed_at FROM analyses a
         WHERE a.codebase_id = :codebase_id AND a.status = 'completed' AND a.committed_at IS NOT NULL
         ORDER BY coalesce(a.committed_at, a.completed_at) DESC LIMIT :most) AS newest
     GROUP BY commit_sha""")
# Rows that would not change are not locked.
_ADD = """
    INSERT INTO branch_commits (codebase_id, commit_sha, is_member, seen_at)
    SELECT :codebase_id, s.commit_sha, s.is_member, :now
      FROM ({seen}) AS s (commit_sha, is_member)
      LEFT JOIN branch_commits b ON b.codebase_id = :codebase_id AND b.commit_sha = s.commit_sha
     WHERE b.is_member IS DISTINCT FROM s.is_member ORDER BY s.commit_sha
    ON CONFLICT (codebase_id, commit_sha) DO UPDATE SET is_member = excluded.is_member, seen_at = excluded.seen_at
     WHERE branch_commits.seen_at <= excluded.seen_at"""
_NOTE = text(_ADD.format(seen="SELECT * FROM unnest(CAST(:commits AS text[]), CAST(:members AS boolean[]))"))
# A commit that is newer than the newest one of the branch is not on it, or not any more.
_NOTE_HEAD = text(
    _ADD.format(
        seen=f"""
        WITH head AS (
            SELECT a.id, a.commit_sha, a.committed_at
              FROM analyses a JOIN codebases c ON c.id = a.codebase_id
             WHERE a.id = :analysis_id AND a.status = 'completed' AND c.default_branch = :ref)
        SELECT commit_sha, true FROM head
        UNION
        SELECT a.commit_sha, false FROM head JOIN LATERAL (
            SELECT o.commit_sha FROM analyses o
             WHERE o.codebase_id = :codebase_id AND o.status = 'completed' AND o.commit_sha <> head.commit_sha
               AND coalesce(o.committed_at, o.completed_at) > head.committed_at AND o.committed_at IS NOT NULL
             ORDER BY coalesce(o.committed_at, o.completed_at) DESC LIMIT {FOUND}) AS a ON true"""
    )
)


def newest(codebase: str, *, seen: str = "true", most: str = "1") -> str:
    """SQL: the newest results of a repository, `id`, `ordered_at` and `completed_at`, newest commit first.

    These are the completed analyses of the default branch.  If none is known to be on it, those count of which nothing
    is known.  Those that are known to be elsewhere never count.
    codebase: its id; its row is `c`, with default_branch; seen: which analyses `a` count; most: how many.
    """
    found = f"""
        SELECT a.id, coalesce(a.committed_at, a.completed_at) AS ordered_at, a.completed_at, {IS_MEMBER} AS is_member
          FROM analyses a WHERE a.codebase_id = {codebase} AND a.status = 'completed' AND {seen}
         ORDER BY coalesce(a.committed_at, a.completed_at) DESC, a.completed_at DESC LIMIT {FOUND}"""
    chosen = (
        "SELECT id, ordered_at, completed_at FROM ({found}) AS f WHERE {which} ORDER BY 2 DESC, 3 DESC LIMIT {most}"
    )
    unknown = f"is_member IS NULL AND NOT EXISTS (SELECT FROM ({found}) AS known WHERE is_member)"
    return " UNION ALL ".join(
        f"({chosen.format(found=found, which=which, most=most)})" for which in ("is_member", unknown)
    )


def judged(tx: Tx, codebase_id: UUID) -> dict[str, datetime]:
    """The newest analysed commits of a repository, by when they were made."""
    rows = tx.run(_JUDGED, codebase_id=codebase_id, most=JUDGED)
    return {row.commit_sha: row.committed_at for row in rows}


def note(tx: Tx, codebase_id: UUID, members: Mapping[str, bool], *, now: datetime) -> None:
    """Note which commits are on the default branch.  now: before the branch was looked at.

    Locks: the rows that change, in the order of commits.
    """
    if members:
        given = {"commits": list(members), "members": list(members.values())}
        tx.write(_NOTE, codebase_id=codebase_id, now=now, **given)


def note_head(tx: Tx, codebase_id: UUID, analysis_id: UUID, ref: str, *, now: datetime) -> None:
    """Note that the commit of an analysis is the newest one of a branch, if that is the default branch.

    Locks: as note.
    """
    tx.write(_NOTE_HEAD, codebase_id=codebase_id, analysis_id=analysis_id, ref=ref, now=now)
