"""Which commits of a repository are on its default branch, and so which result is its newest (docs/adr/0034, 0067)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

#: How many rows at the end of a longer history are read.  Commits of the default branch are not counted.
FOUND = 500
#: Commits of a repository that are judged again at each analysis.
JUDGED = 100

#: Whether an analysis `a` of the codebase `c` is on the default branch; NULL: nothing is known.  While no commit is
#: known to be on it, one that somebody submitted by the branch's name counts; then the name, which a client may send
#: with any commit, says nothing.
IS_NAMED = """
    (EXISTS (SELECT FROM analysis_requests d WHERE d.job_id = a.id AND d.ref = c.default_branch)
     AND NOT EXISTS (SELECT FROM branch_commits b WHERE b.codebase_id = a.codebase_id AND b.is_member))"""
IS_MEMBER = f"""
    coalesce((SELECT b.is_member FROM branch_commits b
               WHERE b.codebase_id = a.codebase_id AND b.commit_sha = a.commit_sha),
             CASE WHEN {IS_NAMED} THEN true END)"""

_MEMBERS = """
    SELECT b.commit_sha FROM branch_commits b WHERE b.codebase_id = :codebase_id AND b.is_member
     ORDER BY b.ordered_at DESC NULLS LAST LIMIT :most"""
# Those that were made last, and those that stand last, which is not the same if dates are wrong.
_JUDGED = text(f"""
    SELECT j.commit_sha, j.committed_at, b.ordered_at
      FROM (SELECT commit_sha, max(committed_at) AS committed_at
              FROM ((SELECT a.commit_sha, a.committed_at FROM analyses a
                      WHERE a.codebase_id = :codebase_id AND a.status = 'completed' AND a.committed_at IS NOT NULL
                      ORDER BY coalesce(a.committed_at, a.completed_at) DESC LIMIT :most)
                    UNION ALL
                    SELECT a.commit_sha, a.committed_at
                      FROM (SELECT CAST(:commit_sha AS text) AS commit_sha UNION ALL ({_MEMBERS})) AS m
                      JOIN analyses a ON a.codebase_id = :codebase_id AND a.commit_sha = m.commit_sha
                     WHERE a.status = 'completed' AND a.duplicate_of IS NULL AND a.committed_at IS NOT NULL) AS found
             GROUP BY commit_sha) AS j
      LEFT JOIN branch_commits b
        ON b.codebase_id = :codebase_id AND b.commit_sha = j.commit_sha AND b.is_member""")
# Rows that would not change are not locked.  A look comes up to a minute after it was asked for: the analysis may have
# been pruned since, and nothing would delete a row that is made after that.
_ADD = """
    INSERT INTO branch_commits (codebase_id, commit_sha, is_member, ordered_at, seen_at)
    SELECT :codebase_id, s.commit_sha, s.is_member, s.ordered_at, :now
      FROM ({seen}) AS s (commit_sha, is_member, ordered_at)
      LEFT JOIN branch_commits b ON b.codebase_id = :codebase_id AND b.commit_sha = s.commit_sha
     WHERE (b.is_member, b.ordered_at) IS DISTINCT FROM (s.is_member, s.ordered_at)
       AND (b.commit_sha IS NOT NULL OR EXISTS (SELECT FROM analyses a WHERE a.codebase_id = :codebase_id
                                                  AND a.commit_sha = s.commit_sha))
     ORDER BY s.commit_sha
    ON CONFLICT (codebase_id, commit_sha) DO UPDATE
       SET is_member = excluded.is_member, ordered_at = excluded.ordered_at, seen_at = excluded.seen_at
     WHERE branch_commits.seen_at <= excluded.seen_at"""
_NOTE = text(
    _ADD.format(
        seen="""SELECT * FROM unnest(
            CAST(:commits AS text[]), CAST(:members AS boolean[]), CAST(:places AS timestamptz[]))"""
    )
)
# A commit that is newer than the newest one of the branch is not on it, or not any more.
_NOTE_HEAD = text(
    _ADD.format(
        seen=f"""
        WITH head AS (
            SELECT a.commit_sha, coalesce(b.ordered_at, a.committed_at, a.completed_at) AS ordered_at,
                   coalesce(b.ordered_at, a.committed_at) AS made_at
              FROM analyses a
              LEFT JOIN branch_commits b
                ON b.codebase_id = a.codebase_id AND b.commit_sha = a.commit_sha AND b.is_member
             WHERE a.id = :analysis_id AND a.status = 'completed')
        SELECT commit_sha, true, ordered_at FROM head
        UNION
        SELECT b.commit_sha, false, CAST(NULL AS timestamptz) FROM head JOIN branch_commits b
            ON b.codebase_id = :codebase_id AND b.is_member AND b.ordered_at > head.made_at
           AND b.commit_sha <> head.commit_sha
        UNION
        SELECT a.commit_sha, false, NULL FROM head JOIN LATERAL (
            SELECT o.commit_sha FROM analyses o
             WHERE o.codebase_id = :codebase_id AND o.status = 'completed' AND o.commit_sha <> head.commit_sha
               AND coalesce(o.committed_at, o.completed_at) > head.made_at AND o.committed_at IS NOT NULL
               AND NOT EXISTS (SELECT FROM branch_commits b
                                WHERE b.codebase_id = o.codebase_id AND b.commit_sha = o.commit_sha)
             ORDER BY coalesce(o.committed_at, o.completed_at) DESC LIMIT {FOUND}) AS a ON true"""
    )
)
_BEGIN_LOOK = text("UPDATE codebases SET looked_at = :now WHERE id = :codebase_id")
# The key contains the time of the last look, so a look that has begun does not suppress one that is asked for later.
_STALE = text(f"""
    SELECT * FROM (
        SELECT c.looked_at, concat_ws(':', 'look', c.id, extract(epoch FROM c.looked_at)) AS key FROM codebases c
         WHERE c.id = :codebase_id
           AND :commit_sha IS DISTINCT FROM ({_MEMBERS})) AS stale
     WHERE NOT EXISTS (SELECT FROM broker_message m WHERE m.unique_key = stale.key)""")


class JudgedRow(NamedTuple):
    """A commit to be judged.  ordered_at: its place on the default branch, None if it was not known to be on it."""

    commit_sha: str
    committed_at: datetime
    ordered_at: datetime | None


@dataclass(frozen=True, slots=True)
class StaleLook:
    """A look at HEAD that is older than what an accept found.  looked_at: None if there was none."""

    looked_at: datetime | None
    key: str


def newest(codebase: str, *, seen: str = "true", most: str = "1") -> str:
    """SQL: the newest results of a repository, `id`, `ordered_at` and `completed_at`, newest commit first.

    These are the completed analyses of the default branch.  If none is known to be on it, those count of which nothing
    is known.  Those that are known to be elsewhere never count.
    codebase: its id; its row is `c`, with default_branch; seen: which analyses `a` count; most: how many.
    """
    # OFFSET 0: one commit after the other is looked up, in the order of the index, until there are enough.  By its
    # averages the planner would join the whole history of a repository that has much more commits than others.
    # who sees only some results may have the duplicate of one that is hidden
    count = "a.duplicate_of IS NULL" if seen == "true" else seen
    members = f"""
          FROM branch_commits b CROSS JOIN LATERAL (
               SELECT a.id, a.committed_at, a.completed_at FROM analyses a
                WHERE a.codebase_id = b.codebase_id AND a.commit_sha = b.commit_sha AND a.status = 'completed'
                  AND {count} OFFSET 0) AS m
         WHERE b.codebase_id = {codebase} AND b.is_member"""
    return f"""
        (SELECT m.id, coalesce(b.ordered_at, m.committed_at, m.completed_at) AS ordered_at, m.completed_at {members}
          ORDER BY b.ordered_at DESC NULLS LAST, m.completed_at DESC LIMIT {most})
        UNION ALL
        (SELECT id, ordered_at, completed_at
           FROM (SELECT *, bool_or(is_named) OVER () AS any_named FROM ({_unknown(codebase, seen, members)}) AS u) AS f
          WHERE is_named = any_named ORDER BY 2 DESC, 3 DESC LIMIT {most})"""


def _unknown(codebase: str, seen: str, members: str) -> str:
    # a scalar is computed once, before anything else is read
    return f"""
        SELECT a.id, coalesce(a.committed_at, a.completed_at) AS ordered_at, a.completed_at,
               {IS_NAMED} AS is_named
          FROM analyses a
         WHERE a.codebase_id = {codebase} AND a.status = 'completed' AND {seen}
           AND NOT (SELECT EXISTS (SELECT {members}))
           AND NOT EXISTS (SELECT FROM branch_commits b
                            WHERE b.codebase_id = a.codebase_id AND b.commit_sha = a.commit_sha)
         ORDER BY coalesce(a.committed_at, a.completed_at) DESC, a.completed_at DESC LIMIT {FOUND}"""


def judged(tx: Tx, codebase_id: UUID, commit: str) -> list[JudgedRow]:
    """The newest analysed commits of a repository and of its default branch, and this one if it was analysed."""
    return tx.run(_JUDGED, codebase_id=codebase_id, commit_sha=commit, most=JUDGED).values(JudgedRow)


def begin_look(tx: Tx, codebase_id: UUID, *, now: datetime) -> None:
    """Note that HEAD is looked at from now on.  Locks: the repository's row."""
    tx.write(_BEGIN_LOOK, codebase_id=codebase_id, now=now)


def stale(tx: Tx, codebase_id: UUID, commit: str) -> StaleLook | None:
    """The last look at HEAD, if this commit is not the newest of the branch and no other look is on its way."""
    row = tx.run(_STALE, codebase_id=codebase_id, commit_sha=commit, most=1).one_or_none()
    return StaleLook(row.looked_at, row.key) if row else None


def note(tx: Tx, codebase_id: UUID, places: Mapping[str, datetime | None], *, now: datetime) -> None:
    """Note the places of commits on the default branch, None of those that are not on it.

    now: before the branch was looked at.  Locks: the rows that change, in the order of commits.
    """
    if places:
        members: Sequence[bool] = [place is not None for place in places.values()]
        given = {"commits": list(places), "members": members, "places": list(places.values())}
        tx.write(_NOTE, codebase_id=codebase_id, now=now, **given)


def note_head(tx: Tx, codebase_id: UUID, analysis_id: UUID, *, now: datetime) -> None:
    """Note that the commit of an analysis is the newest one of the default branch.  now: before HEAD was looked at.

    Locks: as note.
    """
    tx.write(_NOTE_HEAD, codebase_id=codebase_id, analysis_id=analysis_id, now=now)
