"""All data about a user, by parts and pages, without hashes and without anything that leads to other people.

The database writes each row as JSON, so that a large copy costs this process little.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import TextClause, text

from app.domain.webhooks import OWN
from app.store.core.unit_of_work import Tx

#: Where the next page begins: the values of the key of the previous row, as text.
After = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExportedPage:
    """A page of a user's data.  rows: JSON objects; after: the last one's key, None on the last page."""

    rows: list[str]
    after: After | None


@dataclass(frozen=True, slots=True)
class _Part:
    """The query of one part of a user's data.

    query: of a page; key: how many columns the key has; most: rows of a page.
    """

    query: TextClause
    key: int
    most: int


def _part(columns: str, tables: str, *key: str, most: int = 1_000) -> _Part:
    """Compose the query of a part.

    key: columns that order the rows, with their types; most: fewer where a row may be large.
    """
    names, types = zip(*(column.split() for column in key), strict=True)
    given = [f"CAST(:after_{number} AS {type_})" for number, type_ in enumerate(types)]
    keys = [f"key_{number}" for number in range(len(key))]
    shown = ", ".join(f"p.{column.split()[-1].rpartition('.')[2]}" for column in columns.split(","))
    # Only the rows of the page are written.  Those that follow are sorted for each page, without their large values,
    # where no index has their order; of features, those of one document.  The bound of the first column says nothing
    # new, but an index of one table can use it.
    query = text(f"""
        SELECT (SELECT CAST(to_json(o) AS text) FROM (SELECT {shown}) AS o) AS row,
               {", ".join(f"CAST(p.{one} AS text) AS {one}" for one in keys)}
          FROM (SELECT {columns}, {", ".join(f"{name} AS {one}" for name, one in zip(names, keys, strict=True))}
                  FROM {tables} AND ({given[0]} IS NULL
                       OR {names[0]} >= {given[0]} AND ({", ".join(names)}) > ({", ".join(given)}))
                 ORDER BY {", ".join(names)} LIMIT :most) AS p
         ORDER BY {", ".join(f"p.{one}" for one in keys)}""")
    return _Part(query, len(key), most)


_ADDRESS = "c.host, c.owner, c.name"
_PARTS = {
    "account": _part(
        """id, email, email_verified_at, is_operator, is_read_only_operator, created_at, run_seconds, run_deviation,
           spec_run_seconds, spec_run_deviation, slot_limit""",
        "users WHERE id = :user_id",
        "id uuid",
    ),
    "password": _part("changed_at", "passwords WHERE user_id = :user_id", "user_id uuid"),
    "passkeys": _part(
        "id, name, created_at, last_used_at", "passkeys WHERE user_id = :user_id", "created_at timestamptz", "id uuid"
    ),
    "github": _part("github_id, login, linked_at", "github_links WHERE user_id = :user_id", "user_id uuid"),
    "one_time_secrets": _part(
        "purpose, expires_at",
        "one_time_secrets WHERE user_id = :user_id",
        "expires_at timestamptz",
        "secret_hash bytea",
    ),
    "subscriptions": _part(
        "tier, anchor_at, status, ended_at", "user_subscriptions WHERE user_id = :user_id", "id bigint"
    ),
    "tokens": _part(
        "id, prefix, name, scopes, created_at, expires_at, last_used_at, revoked_at",
        "api_tokens WHERE user_id = :user_id",
        "created_at timestamptz",
        "id uuid",
    ),
    "sessions": _part(
        "id, created_at, last_used_at, expires_at",
        "sessions WHERE user_id = :user_id",
        "created_at timestamptz",
        "id uuid",
    ),
    "sign_in_links": _part(
        "expires_at", "sign_in_links WHERE user_id = :user_id", "expires_at timestamptz", "token_hash bytea"
    ),
    "requests": _part(
        f"""r.job_id, r.role, r.service, {_ADDRESS}, r.commit_sha, r.ref, r.requested_at, r.retention_days,
            r.cancelled_at""",
        "analysis_requests r JOIN codebases c ON c.id = r.codebase_id WHERE r.user_id = :user_id",
        "r.id bigint",
    ),
    "specifications_requested": _part(
        "job_id, analysis_id, language, mode", "spec_requests WHERE user_id = :user_id", "job_id uuid"
    ),
    "specifications": _part(
        f"""d.id, {_ADDRESS}, d.commit_sha, d.language, d.mode, d.generator, d.version, d.status, d.started_at,
            d.completed_at, d.units, h.created_at AS shared_at""",
        """spec_documents d JOIN codebases c ON c.id = d.codebase_id LEFT JOIN spec_shares h ON h.document_id = d.id
           WHERE d.user_id = :user_id""",
        "d.started_at timestamptz",
        "d.id uuid",
    ),
    "features": _part(
        "d.id AS specification, f.domain, f.feature, f.behaviours",
        """spec_documents d JOIN spec_features f ON f.document_id = d.id AND f.draft = d.draft
           WHERE d.user_id = :user_id""",
        "d.id uuid",
        "f.position integer",
        most=20,
    ),
    "sentences": _part(
        f"{_ADDRESS}, w.words, w.used_at",
        "spec_words w JOIN codebases c ON c.id = w.codebase_id WHERE w.user_id = :user_id",
        "w.key bytea",
    ),
    "bookmarks": _part(
        f"{_ADDRESS}, b.created_at",
        "bookmarks b JOIN codebases c ON c.id = b.codebase_id WHERE b.user_id = :user_id",
        "b.id bigint",
    ),
    "webhooks": _part(
        f"id, {', '.join(OWN)}, created_at, disabled_at, disabled_because, failing_since",
        "webhooks WHERE user_id = :user_id",
        "created_at timestamptz",
        "id uuid",
    ),
    "webhook_deliveries": _part(
        """d.webhook_id, d.message_id, d.job_id, d.type, d.happened_at, d.status, d.attempts, d.attempted_at,
           d.status_code, d.fault, d.answer""",
        "webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE w.user_id = :user_id",
        "d.id bigint",
        most=200,
    ),
    "usage": _part(
        "job_id, event_type, quota_amount, accepted_at, created_at",
        "usage_events WHERE user_id = :user_id",
        "id bigint",
    ),
    "model_shares": _part("day, tokens, cost", "model_shares WHERE user_id = :user_id", "user_id uuid"),
    "reservations": _part(
        "job_id, event_type, reserved_amount, accepted_at, expires_at",
        "quota_reservations WHERE user_id = :user_id",
        "accepted_at timestamptz",
        "job_id uuid",
    ),
    "slots": _part(
        "job_id, service, taken_at", "execution_slots WHERE user_id = :user_id", "service text", "slot_no integer"
    ),
    "idempotency_keys": _part(
        "key, status, body, created_at",
        "idempotency_keys WHERE user_id = :user_id",
        "created_at timestamptz",
        "key text",
        most=20,
    ),
    "operators_log": _part("at, action, facts", "audit_log WHERE subject = CAST(:user_id AS text)", "id bigint"),
}
#: Names of the parts, in the order of the copy.
PARTS = tuple(_PARTS)
_SIZE = text("""
    SELECT (SELECT count(*) FROM analysis_requests WHERE user_id = :user_id)
         + (SELECT count(*) FROM usage_events WHERE user_id = :user_id)
         + (SELECT count(*) FROM spec_words WHERE user_id = :user_id)
         + (SELECT count(*) FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE w.user_id = :user_id)
         + (SELECT coalesce(sum(CAST(summary->>'behaviours' AS bigint)), 0) FROM spec_documents
             WHERE user_id = :user_id AND status = 'completed')""")


def page(tx: Tx, part: str, user_id: UUID, after: After | None) -> ExportedPage:
    """Rows of a part.  after: as of the previous page, None for the first one."""
    of = _PARTS[part]
    given: Mapping[str, str | None] = {f"after_{n}": after[n] if after else None for n in range(of.key)}
    found = tx.run(of.query, user_id=user_id, most=of.most, **given).all()
    last: After | None = tuple(found[-1][1:]) if len(found) == of.most else None
    return ExportedPage([row.row for row in found], last)


def size(tx: Tx, user_id: UUID) -> int:
    """About how many rows and behaviours a copy has."""
    return int(tx.run(_SIZE, user_id=user_id).scalar_one())
