"""Public repositories with their newest results, for people who look around."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, text

from app.store.unit_of_work import Tx

#: How many of the newest results are looked at; a repository that has several of them is shown once.
RECENT = 500

_SHOWN = """c.host, c.owner, c.name, a.id AS analysis_id, a.commit_sha, a.completed_at, a.parser_version, a.summary"""
# The newest results by their index, whatever the number of repositories.
_NEWEST = text(f"""
    WITH recent AS MATERIALIZED (
        SELECT id, codebase_id, completed_at FROM analyses
         WHERE status = 'completed' ORDER BY completed_at DESC LIMIT {RECENT}),
    newest AS (SELECT DISTINCT ON (codebase_id) id FROM recent ORDER BY codebase_id, completed_at DESC)
    SELECT {_SHOWN} FROM newest JOIN analyses a USING (id) JOIN codebases c ON c.id = a.codebase_id
     WHERE NOT c.is_private AND (:with_local OR c.host <> :local)
     ORDER BY a.completed_at DESC, a.id LIMIT :most""")
_FOUND = text(f"""
    WITH named AS MATERIALIZED (
        SELECT id, host, owner, name FROM codebases
         WHERE NOT is_private AND (:with_local OR host <> :local)
           AND strpos(lower(host || '/' || owner || '/' || name), :part) > 0
         ORDER BY last_viewed_at DESC NULLS LAST LIMIT {RECENT})
    SELECT {_SHOWN} FROM named c CROSS JOIN LATERAL (
        SELECT * FROM analyses WHERE codebase_id = c.id AND status = 'completed'
         ORDER BY completed_at DESC LIMIT 1) AS a
     ORDER BY a.completed_at DESC, a.id LIMIT :most""")


def find(tx: Tx, part: str, *, local: str, with_local: bool, most: int) -> list[Row[Any]]:
    """Repositories with these letters in their address, newest result first; of many those that were viewed last.

    part: in lower case; empty for the repositories of the newest results.  local: the host of repositories of this
    machine, which are left out unless `with_local`.
    rows: host, owner, name, analysis_id, commit_sha, completed_at, parser_version, summary.
    """
    asked = {"part": part} if part else {}
    return list(tx.run(_FOUND if part else _NEWEST, local=local, with_local=with_local, most=most, **asked).all())
