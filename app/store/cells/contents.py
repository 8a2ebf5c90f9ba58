"""What the jobs of an account have, copied while it works: results by content, records, timelines, documents."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.cells import histories
from app.store.cells.rows import CODEBASE, JsonRows, Shapes, array, gather, put, select
from app.store.core.unit_of_work import Tx

# A job that is dropped meanwhile would come in part: a record without its accept record is found by no prune.
_SNAPSHOT = text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
# A specification reads the analysis that it is of, whoever asked for that.
_JOBS = text("""
    WITH jobs AS (
        SELECT job_id AS id FROM analysis_requests WHERE user_id = :user_id
         UNION SELECT analysis_id FROM spec_requests WHERE user_id = :user_id
         UNION SELECT analysis_id FROM spec_documents WHERE user_id = :user_id)
    SELECT jobs.id, r.id AS request, coalesce(r.role = 'payer', false) AS is_payer,
           EXISTS (SELECT FROM broker_message m WHERE m.task_id = CAST(jobs.id AS text)) AS is_unfinished
      FROM jobs LEFT JOIN analysis_requests r ON r.job_id = jobs.id AND r.user_id = :user_id
     ORDER BY r.id NULLS LAST, jobs.id""")
_EVENT_IDS = text("SELECT id FROM job_events WHERE job_id = ANY (CAST(:jobs AS uuid[])) ORDER BY id")
# How much of a quota is used is the payer's, as are the ids of the payer's request.
_EVENTS = text(f"""
    WITH told AS (
        SELECT e.id, e.job_id, e.at, e.event, e.facts - CASE WHEN EXISTS (
                   SELECT FROM analysis_requests r
                    WHERE r.job_id = e.job_id AND r.role = 'payer' AND r.user_id = :user_id)
                   THEN CAST('{{}}' AS text[]) ELSE CAST('{{quota,request_id,traceparent}}' AS text[]) END AS facts
          FROM job_events e WHERE e.id = ANY (CAST(:ids AS bigint[])))
    {gather("told", "id")}""")
# Of others' copies of a job these events have lost what is the payer's; only they ever had it.
_ACCEPTS = "e.event IN ('accepted', 'payer_came_back')"
_UNTOLD = text(f"""
    SELECT r.job_id FROM analysis_requests r
     WHERE r.user_id = :user_id AND r.role = 'payer' AND EXISTS (
           SELECT FROM job_events e WHERE e.job_id = r.job_id AND {_ACCEPTS} AND NOT e.facts ? 'quota')""")
_TOLD = text(f"""
    WITH told AS (
        SELECT e.* FROM job_events e
          JOIN analysis_requests r ON r.job_id = e.job_id AND r.role = 'payer' AND r.user_id = :user_id
         WHERE e.job_id = ANY (CAST(:jobs AS uuid[])) AND {_ACCEPTS})
    {gather("told", "id")}""")
_TELL = text("""
    UPDATE job_events e SET facts = r.facts || e.facts
      FROM json_populate_recordset(CAST(NULL AS job_events), CAST(:rows AS json)) AS r
     WHERE e.job_id = r.job_id AND e.at = r.at AND e.event = r.event AND NOT e.facts @> r.facts""")
# No prune finds those of a job without an accept record.  Events of this cell's own say who wrote them.
_DROP_EVENTS = text("""
    DELETE FROM job_events e
     WHERE e.job_id = ANY (CAST(:jobs AS uuid[])) AND e.written_by IS NULL
       AND NOT EXISTS (SELECT FROM analysis_requests a WHERE a.job_id = e.job_id AND a.role = 'payer')""")
_DIGESTS = text("""
    SELECT DISTINCT encode(f.digest, 'hex') AS digest
      FROM analysis_file_lists l JOIN file_lists f ON f.id = l.file_list_id
      JOIN analyses a ON a.id = l.analysis_id AND a.status = 'completed'
     WHERE l.analysis_id = ANY (CAST(:jobs AS uuid[])) ORDER BY 1""")
# Noting the use keeps them from being pruned until the analysis is there.
_KNOWN = text("""
    WITH used AS (
        SELECT id FROM file_lists WHERE digest = ANY (
                   SELECT decode(one, 'hex') FROM unnest(CAST(:digests AS text[])) AS one)
         ORDER BY digest FOR NO KEY UPDATE)
    UPDATE file_lists l SET used_at = now() FROM used WHERE l.id = used.id
    RETURNING encode(l.digest, 'hex') AS digest""")
_LISTED = "l.digest = ANY (SELECT decode(one, 'hex') FROM unnest(CAST(:digests AS text[])) AS one)"
_LISTS = text(f"""
    WITH lists AS (SELECT encode(l.digest, 'hex') AS digest, l.size FROM file_lists l WHERE {_LISTED})
    {gather("lists", "digest")}""")
_INVENTORIES = text(f"""
    WITH tests AS (
        SELECT i.* FROM file_inventories i WHERE i.id IN (
               SELECT e.file_inventory_id FROM file_lists l JOIN file_list_entries e ON e.file_list_id = l.id
                WHERE {_LISTED}))
    {gather("tests", "digest")}""")
_ENTRIES = text(f"""
    WITH entries AS (
        SELECT encode(l.digest, 'hex') AS list, e.position, e.path, e.skipped, i.blob_id, i.parser_version,
               encode(i.digest, 'hex') AS tests
          FROM file_lists l JOIN file_list_entries e ON e.file_list_id = l.id
          LEFT JOIN file_inventories i ON i.id = e.file_inventory_id WHERE {_LISTED})
    {gather("entries")}""")
# With the entries of a new list only: who has a list has them.
_PUT_LISTS = text("""
    WITH new AS (
        INSERT INTO file_lists (digest, size)
        SELECT decode(digest, 'hex'), size FROM json_to_recordset(CAST(:lists AS json)) AS l(digest text, size integer)
         ORDER BY 1 ON CONFLICT DO NOTHING RETURNING id, digest)
    INSERT INTO file_list_entries (file_list_id, position, path, file_inventory_id, skipped)
    SELECT new.id, e.position, e.path, i.id, e.skipped
      FROM json_to_recordset(CAST(:entries AS json)) AS e(
           list text, position integer, path text, skipped text, blob_id text, parser_version text, tests text)
      JOIN new ON new.digest = decode(e.list, 'hex')
      LEFT JOIN file_inventories i ON i.blob_id = e.blob_id AND i.parser_version = e.parser_version
                                  AND i.digest = decode(e.tests, 'hex')""")
_RECORDS = {
    "codebases": """
        SELECT c.* FROM codebases c WHERE c.id IN (
               SELECT codebase_id FROM analysis_requests WHERE job_id = ANY (CAST(:jobs AS uuid[])))""",
    "analyses": "SELECT * FROM analyses WHERE id = ANY (CAST(:jobs AS uuid[])) AND status <> 'running'",
    "attached": """
        SELECT l.analysis_id, l.last_ordinal, l.first_ordinal, encode(f.digest, 'hex') AS digest
          FROM analysis_file_lists l JOIN file_lists f ON f.id = l.file_list_id
          JOIN analyses a ON a.id = l.analysis_id AND a.status = 'completed'
         WHERE l.analysis_id = ANY (CAST(:jobs AS uuid[]))""",
    "branch_commits": """
        SELECT b.* FROM branch_commits b WHERE (b.codebase_id, b.commit_sha) IN (
               SELECT codebase_id, commit_sha FROM analyses WHERE id = ANY (CAST(:jobs AS uuid[])))""",
    "analysis_requests": """
        SELECT * FROM analysis_requests WHERE job_id = ANY (CAST(:jobs AS uuid[])) AND role = 'payer' ORDER BY id""",
    "spec_requests": "SELECT * FROM spec_requests WHERE job_id = ANY (CAST(:jobs AS uuid[]))",
    "spec_documents": "SELECT * FROM spec_documents WHERE id = ANY (CAST(:jobs AS uuid[])) AND status <> 'running'",
    "spec_features": """
        SELECT f.* FROM spec_features f JOIN spec_documents d ON d.id = f.document_id AND d.draft = f.draft
         WHERE d.id = ANY (CAST(:jobs AS uuid[])) AND d.status = 'completed'""",
}
_READ = {table: text(f"WITH found AS ({statement}) {gather('found')}") for table, statement in _RECORDS.items()}
_ATTACH = text("""
    INSERT INTO analysis_file_lists (analysis_id, last_ordinal, first_ordinal, file_list_id)
    SELECT r.analysis_id, r.last_ordinal, r.first_ordinal, l.id
      FROM json_to_recordset(CAST(:rows AS json)) AS r(
           analysis_id uuid, last_ordinal integer, first_ordinal integer, digest text)
      LEFT JOIN file_lists l ON l.digest = decode(r.digest, 'hex')
     WHERE NOT EXISTS (SELECT FROM analysis_file_lists o WHERE o.analysis_id = r.analysis_id)""")
#: The result that this cell has of the commit of a completed analysis `r`.
_DUPLICATE = f"""(
    SELECT o.id FROM analyses o
     WHERE o.codebase_id = {CODEBASE} AND o.commit_sha = r.commit_sha AND o.parser_version = r.parser_version
       AND o.status = 'completed' AND o.duplicate_of IS NULL AND r.status = 'completed')"""
# A repository that was renamed there is known by the id that its host gave it.
_FIND = text("""
    SELECT CAST(coalesce(json_object_agg(r.id, c.id) FILTER (WHERE r.id <> c.id), '{}') AS text)
      FROM json_populate_recordset(CAST(NULL AS codebases), CAST(:rows AS json)) AS r
     CROSS JOIN LATERAL (
           SELECT c.id FROM codebases c
            WHERE c.host = r.host AND lower(c.owner) = lower(r.owner) AND lower(c.name) = lower(r.name)
           UNION ALL
           SELECT c.id FROM codebases c WHERE c.host = r.host AND c.external_id = r.external_id
            LIMIT 1) AS c""")
#: Which row a new one must be the same as to be left out; anything else that is in its way is an error.
_SAME = {
    "analyses": "ON CONFLICT (id) DO NOTHING",
    "branch_commits": "ON CONFLICT (codebase_id, commit_sha) DO NOTHING",
    "spec_documents": "ON CONFLICT (id) DO NOTHING",
    "spec_features": "ON CONFLICT (document_id, draft, position) DO NOTHING",
    "spec_requests": "ON CONFLICT (job_id) DO NOTHING",
}
# What one of both cells takes for private is shown by neither, until the next look at its host.
_HIDE = text("""
    UPDATE codebases c SET is_private = true
      FROM json_populate_recordset(CAST(NULL AS codebases), CAST(:rows AS json)) AS r
     WHERE r.is_private AND NOT c.is_private AND c.host = r.host
       AND lower(c.owner) = lower(r.owner) AND lower(c.name) = lower(r.name)""")


class JobRow(NamedTuple):
    """A job of whose result an account needs the record.

    request: the account's own, None if it only has a specification of it; is_payer: by that request.
    """

    id: UUID
    request: int | None
    is_payer: bool
    is_unfinished: bool

    @property
    def travels(self) -> bool:
        """Whether anything of it is copied: an unfinished job of another payer stays there with its accept record."""
        return self.is_payer or not self.is_unfinished


def jobs(tx: Tx, user_id: UUID) -> list[JobRow]:
    """The jobs in a user's history, in its order, and the analyses that the user's specifications are of."""
    return tx.run(_JOBS, user_id=user_id).values(JobRow)


def event_ids(tx: Tx, job_ids: Collection[UUID]) -> list[int]:
    """The events of these jobs, in the order in which they happened."""
    return list(tx.run(_EVENT_IDS, jobs=array(job_ids)).scalars())


def read_events(tx: Tx, user_id: UUID, ids: Sequence[int]) -> JsonRows:
    """Read events; what tells of another payer is left out."""
    return select(tx, _EVENTS, user_id=user_id, ids=array(ids))


def put_events(tx: Tx, shape: Shapes, taken: JsonRows) -> None:
    """Insert the events that are not there.  They were counted where they happened, and are not counted again."""
    new = "NOT EXISTS (SELECT FROM job_events e WHERE e.job_id = r.job_id AND e.at = r.at AND e.event = r.event)"
    put(tx, shape, "job_events", taken, condition=new, values={"written_by": "NULL"})


def untold(tx: Tx, user_id: UUID) -> list[UUID]:
    """Jobs that the user pays for, of whose accepts something is missing here: others have brought or kept them."""
    return list(tx.run(_UNTOLD, user_id=user_id).scalars())


def read_accepts(tx: Tx, user_id: UUID, job_ids: Collection[UUID]) -> JsonRows:
    """Read the accepts of those of the jobs that the user pays for, with what is the payer's."""
    return select(tx, _TOLD, user_id=user_id, jobs=array(job_ids))


def tell(tx: Tx, accepts: JsonRows) -> None:
    """Add to accepts what is missing of them here.

    Their payer has arrived, in this transaction: who takes such facts away (personal_data.leave_numbers) locks the
    accept record, so that is over, or finds a payer.
    """
    if accepts.number:
        tx.run(_TELL, rows=accepts.rows)


def drop_events(tx: Tx, jobs: Collection[UUID]) -> None:
    """Delete copied events of jobs whose accept records did not come, or have gone."""
    tx.write(_DROP_EVENTS, jobs=array(jobs))


def digests(tx: Tx, job_ids: Collection[UUID]) -> list[str]:
    """The lists of files of these jobs' results."""
    return list(tx.run(_DIGESTS, jobs=array(job_ids)).scalars())


def known(tx: Tx, some: Sequence[str]) -> set[str]:
    """Find which lists exist here.  Locks: them."""
    return set(tx.run(_KNOWN, digests=list(some)).scalars())


def read_lists(tx: Tx, some: Sequence[str]) -> dict[str, JsonRows]:
    """Read lists of files with the tests in them."""
    statements = {"lists": _LISTS, "file_inventories": _INVENTORIES, "entries": _ENTRIES}
    return {name: select(tx, statement, digests=list(some)) for name, statement in statements.items()}


def put_lists(tx: Tx, shape: Shapes, taken: dict[str, JsonRows]) -> None:
    """Insert lists that are not there."""
    put(tx, shape, "file_inventories", taken["file_inventories"], conflict="ON CONFLICT DO NOTHING")
    tx.run(_PUT_LISTS, lists=taken["lists"].rows, entries=taken["entries"].rows)


def take_snapshot(tx: Tx) -> None:
    """Read everything as it is at one instant; the first statement of its transaction."""
    tx.write(_SNAPSHOT)


def read_records(tx: Tx, job_ids: Collection[UUID]) -> dict[str, JsonRows]:
    """Read the records of ended jobs, their accept records and documents."""
    ids = array(job_ids)
    return {table: select(tx, statement, jobs=ids) for table, statement in _READ.items()}


def put_codebases(tx: Tx, shape: Shapes, taken: JsonRows) -> str:
    """Insert the repositories that are not there.  -> JSON: their ids there -> here, where they differ."""
    put(tx, shape, "codebases", taken, conflict="ON CONFLICT DO NOTHING")
    tx.run(_HIDE, rows=taken.rows)
    return known_as(tx, taken)


def known_as(tx: Tx, taken: JsonRows) -> str:
    """Find repositories of another cell here.  -> JSON: their ids there -> here, where they differ."""
    return str(tx.run(_FIND, rows=taken.rows).scalar_one())


def put_records(tx: Tx, shape: Shapes, taken: dict[str, JsonRows], places: Mapping[int, int]) -> None:
    """Insert the records of ended jobs that are not there; until their user comes they are nobody's.

    The lists of their files are there.  places: requests of the account -> their ids here.
    """
    known_as = put_codebases(tx, shape, taken["codebases"])

    def add(table: str, *, condition: str = "true", **values: str) -> None:
        put(tx, shape, table, taken[table], known_as, condition=condition, conflict=_SAME[table], values=values)

    # a second result of a commit finds the first one here
    add("analyses", condition="r.duplicate_of IS NULL", duplicate_of=_DUPLICATE)
    add("analyses", condition="r.duplicate_of IS NOT NULL", duplicate_of=_DUPLICATE)
    if taken["attached"].number:
        tx.run(_ATTACH, rows=taken["attached"].rows)
    add("branch_commits")
    histories.put_accepts(tx, shape, taken["analysis_requests"], known_as, places)
    for table in ("spec_requests", "spec_documents"):
        add(table, user_id="NULL")
    add("spec_features")
