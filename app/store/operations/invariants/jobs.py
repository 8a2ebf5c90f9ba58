"""The ends of jobs, and their results (docs/adr/0006, docs/adr/0009)."""

from __future__ import annotations

from app.store.operations.invariants.invariant import Invariant, job_of

# A job without a record has ended if and only if it has no asker: it was cancelled before any worker took it.
END = Invariant(
    "I2",
    "every accepted job ends once",
    "A job is either in flight or has completed, failed or been cancelled, exactly once; none is lost.",
    f"""
    WITH jobs AS (
        SELECT r.job_id, a.status::text AS record, m.id AS message, d.id AS letter,
               -- counted, as NOT EXISTS would hash all requests there are for the few that were cancelled
               coalesce(a.status <> 'running', r.cancelled_at IS NOT NULL AND (
                   SELECT count(*) FROM analysis_requests o
                    WHERE o.job_id = r.job_id AND o.cancelled_at IS NULL AND o.role <> 'left') = 0) AS ended
          FROM analysis_requests r
          LEFT JOIN job_records a ON a.id = r.job_id
          LEFT JOIN broker_message m ON {job_of("m")} = r.job_id
          LEFT JOIN (SELECT {job_of("l")} AS job_id, max(l.id) AS id FROM broker_dead_letter l GROUP BY 1) d
            ON d.job_id = r.job_id
         WHERE r.role = 'payer' AND (CAST(:since AS timestamptz) IS NULL OR r.requested_at >= :since)
    ), told AS (
        SELECT e.job_id, count(*) AS ends, min(e.event) AS event FROM job_events e
         WHERE e.event IN ('completed', 'failed', 'cancelled')
           AND (CAST(:since AS timestamptz) IS NULL OR e.at >= :since)
         GROUP BY e.job_id)
    SELECT job_id, coalesce(record, 'no record') AS record, NULL AS told, message,
           CASE WHEN ended THEN 'ended and queued' ELSE 'lost' END AS why
      FROM jobs WHERE (ended AND message IS NOT NULL) OR (NOT ended AND message IS NULL AND letter IS NULL)
    UNION ALL
    SELECT t.job_id, coalesce(a.status::text, 'no record'), t.event, NULL,
           CASE WHEN t.ends > 1 THEN 'ended twice' ELSE 'told otherwise' END
      FROM told t LEFT JOIN job_records a ON a.id = t.job_id
     WHERE t.ends > 1 OR t.event <> a.status::text""",
)

# A moved account brings its results, and a link, a bill and a history lead to each (docs/adr/0097).
RESULT = Invariant(
    "I7",
    "one whole result per commit and parser version",
    "Each parser version completes a commit at most once, with all of its tests; incomplete results are not visible.  A"
    " specification has all of its behaviours.",
    """
    SELECT NULL AS id, codebase_id, commit_sha, parser_version, count(*) AS completed, NULL AS said, NULL AS found
      FROM analyses WHERE status = 'completed' AND duplicate_of IS NULL
       AND (CAST(:since AS timestamptz) IS NULL OR completed_at >= :since)
     GROUP BY codebase_id, commit_sha, parser_version HAVING count(*) > 1
    UNION ALL
    SELECT a.id, a.codebase_id, a.commit_sha, a.parser_version, (a.status = 'completed')::int, a.total_tests, f.tests
      FROM analyses a
      LEFT JOIN (SELECT f.analysis_id, coalesce(sum(i.total_tests), 0) AS tests
                   FROM analysis_files f LEFT JOIN file_inventories i ON i.id = f.file_inventory_id
                  GROUP BY f.analysis_id) f ON f.analysis_id = a.id
     WHERE (CAST(:since AS timestamptz) IS NULL OR coalesce(a.completed_at, a.started_at) >= :since)
       AND CASE WHEN a.status = 'completed' THEN a.total_tests <> coalesce(f.tests, 0)
                ELSE f.analysis_id IS NOT NULL END
    UNION ALL
    SELECT d.id, d.codebase_id, d.commit_sha, d.generator, d.version, CAST(d.summary->>'behaviours' AS bigint), f.total
      FROM spec_documents d
     CROSS JOIN LATERAL (SELECT coalesce(sum(total), 0) AS total FROM spec_features
                          WHERE document_id = d.id AND draft = d.draft) f
     WHERE d.status = 'completed' AND (CAST(:since AS timestamptz) IS NULL OR d.completed_at >= :since)
       AND f.total <> CAST(d.summary->>'behaviours' AS bigint)""",
)
