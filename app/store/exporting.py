"""What is stored about a user, by parts, without hashes and without what leads to other people."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import RowMapping, text

from app.store.unit_of_work import Tx

_ADDRESS = "c.host, c.owner, c.name"
_PARTS = {
    "account": text("""
        SELECT id, email, email_verified_at, is_operator, is_read_only_operator, created_at, run_seconds, run_deviation,
               spec_run_seconds, spec_run_deviation, slot_limit FROM users WHERE id = :user_id"""),
    "password": text("SELECT changed_at FROM passwords WHERE user_id = :user_id"),
    "passkeys": text("""
        SELECT id, name, created_at, last_used_at FROM passkeys WHERE user_id = :user_id ORDER BY created_at, id"""),
    "github": text("SELECT github_id, login, linked_at FROM github_links WHERE user_id = :user_id"),
    "one_time_secrets": text("""
        SELECT purpose, expires_at FROM one_time_secrets WHERE user_id = :user_id ORDER BY expires_at"""),
    "subscriptions": text("""
        SELECT tier::text AS tier, anchor_at, status, ended_at FROM user_subscriptions
         WHERE user_id = :user_id ORDER BY id"""),
    "tokens": text("""
        SELECT id, prefix, name, scopes, created_at, expires_at, last_used_at, revoked_at FROM api_tokens
         WHERE user_id = :user_id ORDER BY created_at, id"""),
    "sessions": text("""
        SELECT id, created_at, last_used_at, expires_at FROM sessions
         WHERE user_id = :user_id ORDER BY created_at, id"""),
    "sign_in_links": text("SELECT expires_at FROM sign_in_links WHERE user_id = :user_id ORDER BY expires_at"),
    "requests": text(f"""
        SELECT r.job_id, r.role, r.service, {_ADDRESS}, r.commit_sha, r.ref, r.requested_at, r.retention_days,
               r.cancelled_at
          FROM analysis_requests r JOIN codebases c ON c.id = r.codebase_id
         WHERE r.user_id = :user_id ORDER BY r.id"""),
    "specifications_requested": text("""
        SELECT job_id, analysis_id, language, mode FROM spec_requests WHERE user_id = :user_id ORDER BY job_id"""),
    "specifications": text(f"""
        SELECT d.id, {_ADDRESS}, d.commit_sha, d.language, d.mode, d.generator, d.version, d.status::text AS status,
               d.started_at, d.completed_at, d.units,
               (SELECT h.created_at FROM spec_shares h WHERE h.document_id = d.id) AS shared_at,
               (SELECT jsonb_agg(jsonb_build_object('domain', f.domain, 'feature', f.feature,
                                                    'behaviours', f.behaviours) ORDER BY f.position)
                  FROM spec_features f WHERE f.document_id = d.id AND f.draft = d.draft) AS features
          FROM spec_documents d JOIN codebases c ON c.id = d.codebase_id
         WHERE d.user_id = :user_id ORDER BY d.started_at, d.id"""),
    "sentences": text(f"""
        SELECT {_ADDRESS}, w.words, w.used_at FROM spec_words w JOIN codebases c ON c.id = w.codebase_id
         WHERE w.user_id = :user_id ORDER BY w.key"""),
    "bookmarks": text(f"""
        SELECT {_ADDRESS}, b.created_at FROM bookmarks b JOIN codebases c ON c.id = b.codebase_id
         WHERE b.user_id = :user_id ORDER BY b.id"""),
    "webhooks": text("""
        SELECT id, url, description, events, created_at, disabled_at, disabled_because, failing_since FROM webhooks
         WHERE user_id = :user_id ORDER BY created_at, id"""),
    "webhook_deliveries": text("""
        SELECT d.webhook_id, d.message_id, d.job_id, d.type, d.happened_at, d.status, d.attempts, d.attempted_at,
               d.status_code, d.fault, d.answer
          FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
         WHERE w.user_id = :user_id ORDER BY d.id"""),
    "usage": text("""
        SELECT job_id, event_type::text AS event_type, quota_amount, accepted_at, created_at FROM usage_events
         WHERE user_id = :user_id ORDER BY id"""),
    "reservations": text("""
        SELECT job_id, event_type::text AS event_type, reserved_amount, accepted_at, expires_at
          FROM quota_reservations WHERE user_id = :user_id ORDER BY accepted_at, job_id"""),
    "slots": text("""
        SELECT job_id, service, taken_at FROM execution_slots WHERE user_id = :user_id ORDER BY service, slot_no"""),
    "idempotency_keys": text("""
        SELECT key, status, body, created_at FROM idempotency_keys
         WHERE user_id = :user_id ORDER BY created_at, key"""),
    "operators_log": text("""
        SELECT at, action, facts FROM audit_log WHERE subject = CAST(:user_id AS text) ORDER BY id"""),
}


def export(tx: Tx, user_id: UUID) -> dict[str, Sequence[RowMapping]]:
    """Rows by part; each part is whole, and no more than the user has caused."""
    return {part: list(tx.run(query, user_id=user_id).mappings()) for part, query in _PARTS.items()}
