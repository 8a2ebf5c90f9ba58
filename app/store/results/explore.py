"""Public repositories with their newest results, for people who look around."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx
from app.store.repositories.branch_commits import newest

#: How many repositories are looked at for their newest results: those that were viewed last.
RECENT = 200
#: Among how many repositories a search looks first, those that were viewed last, and how many others it sorts then.
MATCHES = 10_000

_PUBLIC = "NOT c.is_private AND c.last_viewed_at IS NOT NULL AND (:with_local OR c.host <> :local)"
_MATCHES = "lower(c.host || '/' || c.owner || '/' || c.name) LIKE :pattern"
_CHOSEN = "c.id, c.host, c.owner, c.name, c.default_branch, c.last_viewed_at"
_BY_VIEWS = f"SELECT {_CHOSEN} FROM codebases c WHERE {_PUBLIC} ORDER BY c.last_viewed_at DESC LIMIT"
_WITH_NEWEST = f"""
    SELECT c.host, c.owner, c.name, a.id AS analysis_id, a.commit_sha, a.completed_at, a.parser_version, a.summary
      FROM chosen c CROSS JOIN LATERAL ({newest("c.id")} LIMIT 1) AS n JOIN analyses a ON a.id = n.id
     ORDER BY a.completed_at DESC, a.id LIMIT :most"""
_NEWEST = text(f"WITH chosen AS MATERIALIZED ({_BY_VIEWS} {RECENT}) {_WITH_NEWEST}")
# A frequent part is found among the repositories that were viewed last, and then nothing else is read.  A rare one is
# found by the index on groups of three letters, which knows none that is shorter.
_FOUND = text(f"""
    WITH chosen AS MATERIALIZED (
        (SELECT * FROM ({_BY_VIEWS} {MATCHES}) AS c WHERE {_MATCHES} ORDER BY c.last_viewed_at DESC)
        UNION ALL
        (SELECT * FROM (
            SELECT {_CHOSEN} FROM codebases c
             WHERE {_PUBLIC} AND {_MATCHES} AND length(:pattern) >= length('%abc%') LIMIT {MATCHES}) AS others
          WHERE last_viewed_at < (SELECT min(last_viewed_at) FROM ({_BY_VIEWS} {MATCHES}) AS viewed)
          ORDER BY last_viewed_at DESC)
         LIMIT {RECENT})
    {_WITH_NEWEST}""")


class ExploredRow(NamedTuple):
    """A repository with its newest result."""

    host: str
    owner: str
    name: str
    analysis_id: UUID
    commit_sha: str
    completed_at: datetime
    parser_version: str
    summary: dict[str, Any]


def find(tx: Tx, part: str, *, local: str, with_local: bool, most: int) -> list[ExploredRow]:
    """Repositories with these letters in their address, newest result first; of many those that were viewed last.

    part: in lower case; empty for any.  local: the host of repositories of this machine, which are left out unless
    `with_local`.  The newest result is that of `branch_commits.newest`.
    """
    parameters = {"pattern": f"%{_literal(part)}%"} if part else {}
    return tx.run(_FOUND if part else _NEWEST, local=local, with_local=with_local, most=most, **parameters).values(
        ExploredRow
    )


def _literal(part: str) -> str:
    return part.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
