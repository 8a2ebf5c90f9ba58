"""The data of one tenant only: keys, rows and secrets (docs/adr/0007, docs/adr/0018)."""

from __future__ import annotations

from app.store.operations.invariants.invariant import Invariant, job_of

# The primary key ensures that a key has one row.
KEYS = Invariant(
    "I8",
    "an idempotency key leads to its own jobs",
    "The answer stored under an idempotency key is that of an accept or a batch, and its jobs exist.",
    """
    SELECT k.user_id, k.created_at, k.status, n.job_id, octet_length(k.fingerprint) AS fingerprint
      FROM idempotency_keys k
      LEFT JOIN LATERAL (
          SELECT true AS named, k.body->>'id' AS job_id WHERE NOT k.body ? 'items'
          UNION ALL
          SELECT true, i->'job'->>'id' FROM jsonb_array_elements(k.body->'items') AS i WHERE i ? 'job') AS n ON true
     WHERE (k.status NOT IN (200, 202) OR octet_length(k.fingerprint) <> 32
            OR (n.named AND n.job_id IS NULL)
            OR (n.job_id IS NOT NULL
                AND NOT EXISTS (SELECT FROM analysis_requests r WHERE r.job_id = CAST(n.job_id AS uuid))))
       AND (CAST(:since AS timestamptz) IS NULL OR k.created_at >= :since)""",
)

# A payer whose account was deleted has left rows without a user.
TENANTS = Invariant(
    "I11",
    "all rows of a job are its payer's, its slot and message an asker's",
    "The reservation and the usage event of a job name its payer; its slot and message name one of its askers.",
    f"""
    WITH owned AS (
        SELECT 'quota_reservations' AS place, job_id, user_id FROM quota_reservations
        UNION ALL SELECT 'usage_events', job_id, user_id FROM usage_events
                   WHERE CAST(:since AS timestamptz) IS NULL OR accepted_at >= :since
        UNION ALL SELECT 'execution_slots', job_id, user_id FROM execution_slots
        UNION ALL SELECT 'broker_message', r.job_id, CAST(m.group_name AS uuid)
                    FROM broker_message m JOIN analysis_requests r ON r.role = 'payer' AND r.job_id = {job_of("m")})
    SELECT o.place, o.job_id, o.user_id, r.user_id AS payer
      FROM owned o JOIN analysis_requests r ON r.job_id = o.job_id AND r.role = 'payer'
     WHERE (o.user_id <> r.user_id OR (o.user_id IS NOT NULL AND r.trigger = 'scheduled'))
       AND (o.place NOT IN ('execution_slots', 'broker_message')
            OR NOT EXISTS (SELECT FROM analysis_requests a WHERE a.job_id = o.job_id AND a.user_id = o.user_id))""",
)

# A hash has 32 bytes, some of which are not letters; the text of a token is longer, and all letters.
SECRETS = Invariant(
    "I12",
    "no secret is stored in plain form",
    "Tokens, sessions and links are stored as hashes; no row contains a token or one of the service's own secrets.",
    r"""
    WITH kept AS (
        SELECT 'api_tokens' AS place, id::text AS id, token_hash AS hash FROM api_tokens
        UNION ALL SELECT 'sessions', user_id::text, id_hash FROM sessions
        UNION ALL SELECT 'sign_in_links', user_id::text, token_hash FROM sign_in_links
        UNION ALL SELECT 'spec_shares', document_id::text, secret_hash FROM spec_shares
    ), written AS (
        SELECT 'api_tokens' AS place, id::text AS id, concat_ws(' ', name, prefix) AS words FROM api_tokens
        UNION ALL SELECT 'audit_log', id::text, concat_ws(' ', actor, subject, facts::text) FROM audit_log
        UNION ALL SELECT 'analyses', id::text, error_message FROM analyses
                   WHERE error_message IS NOT NULL
                     AND (CAST(:since AS timestamptz) IS NULL OR completed_at >= :since)
        UNION ALL SELECT 'spec_documents', id::text, error_message FROM spec_documents
                   WHERE error_message IS NOT NULL
                     AND (CAST(:since AS timestamptz) IS NULL OR completed_at >= :since))
    SELECT place, id, octet_length(hash) AS size FROM kept
     WHERE octet_length(hash) <> 32 OR encode(hash, 'escape') ~ '^[ -\[\]-~]+$'
    UNION ALL
    SELECT place, id, octet_length(words) FROM written WHERE words ~ 'fl_[A-Za-z0-9_-]{20}|://[^/\s:@]+:[^/\s@]+@'""",
)
