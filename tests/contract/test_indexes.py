"""The statements of the hot path read their own index, on tables as full as a busy service has them."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import TextClause, text

from app.store import analyses, dead_letters, events, idempotency, messages, quota, requests
from app.store.unit_of_work import UnitOfWork

NOW = datetime.now(UTC)
USER, JOB = UUID(int=7), UUID(int=10)
IN_PERIOD = {"user_id": USER, "event_type": "analysis", "start": NOW - timedelta(days=30), "end": NOW}
COMMIT = {"codebase_id": UUID(int=11), "commit_sha": f"{10:040x}", "parser_version": "1"}
#: (statement, its parameters, the indexes it reads)
HOT: dict[str, tuple[TextClause, dict[str, object], set[str]]] = {
    "usage": (quota._USAGE, IN_PERIOD, {"usage_events_sum", "quota_reservations_sum"}),
    "settle": (quota._SETTLE, {"job_id": JOB, "resource_id": JOB, "now": NOW}, {"quota_reservations_job_id_key"}),
    "sweep": (
        quota._SWEEP,
        {"now": NOW - timedelta(days=1)},
        {
            "quota_reservations_expiry",
            "quota_reservations_pkey",
            "kombu_message_task_id",
            "analyses_pkey",
            "all of kombu_dead_letter",
        },
    ),
    "fence": (messages._FENCE, {"task_id": str(JOB), "lease_token": JOB}, {"kombu_message_task_id"}),
    "known": (analyses._COMPLETED, COMMIT, {"analyses_one_completed"}),
    "accepted": (requests._ACCEPTED, {"job_id": JOB}, {"analysis_requests_accept"}),
    "history": (requests._HISTORY, {"user_id": USER, "before": None, "most": 51}, {"analysis_requests_history"}),
    "timeline": (events._LIST, {"job_id": JOB}, {"job_events_job"}),
    "given up": (
        dead_letters._UNFINISHED,
        {"uuid": dead_letters.UUID_PATTERN},
        {
            "all of kombu_dead_letter",
            "analysis_requests_accept",
            "analysis_requests_one_per_user",
            "kombu_message_task_id",
            "analyses_pkey",
        },
    ),
    "replay": (idempotency._FIND, {"user_id": USER, "key": "6"}, {"idempotency_keys_pkey"}),
}
FILL = (
    """INSERT INTO users (id, email, created_at)
       SELECT lpad(to_hex(n), 32, '0')::uuid, n || '@example.org', now() FROM generate_series(1, 500) n""",
    """INSERT INTO codebases (id, host, owner, name, created_at)
       SELECT lpad(to_hex(n), 32, '0')::uuid, 'github.com', 'acme', 'shop' || n, now() FROM generate_series(1, 500) n""",
    """INSERT INTO quota_reservations (user_id, event_type, reserved_amount, job_id, accepted_at, expires_at)
       SELECT lpad(to_hex(1 + n % 500), 32, '0')::uuid, (ARRAY['analysis', 'specview'])[1 + n % 2]::usage_event_type, 1,
              gen_random_uuid(), now(), now() + interval '1 h' FROM generate_series(1, 6000) n""",
    """INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
       SELECT lpad(to_hex(1 + n % 500), 32, '0')::uuid, 'analysis', 1, gen_random_uuid(), gen_random_uuid(),
              now() - n * interval '1 min', now() FROM generate_series(1, 8000) n""",
    """INSERT INTO kombu_message (queue_id, payload, task_id, user_id, unique_key, visible, visible_at, delay_reason)
       SELECT 1 + n % 6, repeat('x', 200), lpad(to_hex(n), 32, '0')::uuid, lpad(to_hex(1 + n % 500), 32, '0')::uuid,
              'analysis:' || n, n % 3 = 0, CASE WHEN n % 3 > 0 THEN now() + interval '30 s' END,
              CASE n % 3 WHEN 1 THEN 'snooze' WHEN 2 THEN 'eta' END FROM generate_series(1, 6000) n""",
    """INSERT INTO analyses (id, codebase_id, commit_sha, status, parser_version, attempt, started_at, completed_at,
                             total_tests)
       SELECT lpad(to_hex(n), 32, '0')::uuid, lpad(to_hex(1 + n % 500), 32, '0')::uuid, lpad(to_hex(n), 40, '0'),
              'completed', '1', 1, now(), now(), 1 FROM generate_series(1, 4000) n""",
    """INSERT INTO analysis_requests (job_id, user_id, role, codebase_id, commit_sha, trigger, queue, requested_at)
       SELECT lpad(to_hex(n), 32, '0')::uuid, lpad(to_hex(1 + n % 500), 32, '0')::uuid, 'payer',
              lpad(to_hex(1 + n % 500), 32, '0')::uuid, 'c', 'user', 'analysis_default', now()
         FROM generate_series(1, 6000) n""",
    """INSERT INTO job_events (job_id, event)
       SELECT lpad(to_hex(1 + n % 4000), 32, '0')::uuid, 'started' FROM generate_series(1, 8000) n""",
    """INSERT INTO idempotency_keys (user_id, key, fingerprint, status, body, created_at)
       SELECT lpad(to_hex(1 + n % 500), 32, '0')::uuid, n, 'x', 202, '{}', now() FROM generate_series(1, 4000) n""",
)


@pytest.fixture
def busy(uow: UnitOfWork) -> UnitOfWork:
    """A database with 500 users and what they left."""
    with uow.begin() as tx:
        for statement in FILL:
            tx.run(text(statement))
        tx.run(text("ANALYZE"))
    return uow


def scans_of(uow: UnitOfWork, statement: TextClause, **parameters: object) -> set[str]:
    """Indexes a statement reads, and tables it reads from end to end."""
    with uow.begin() as tx:
        explain = text(f"EXPLAIN (FORMAT JSON) {statement.text}")
        given = {name: value for name, value in parameters.items() if f":{name}" in statement.text}
        plan = tx.run(explain, **given).scalar_one()[0]["Plan"]
    found = {
        str(node.get("Index Name") or f"all of {node.get('Relation Name')}") for node in nodes(plan) if scans(node)
    }
    return found - {"codebases_pkey", "all of codebases", "kombu_queue_pkey", "all of kombu_queue"}  # joined by key


def scans(node: dict[str, Any]) -> bool:
    return "Index Name" in node or node["Node Type"] == "Seq Scan"


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for child in plan.get("Plans", ()) for node in nodes(child))]


def test_every_statement_of_the_hot_path_reads_its_own_index(busy: UnitOfWork) -> None:
    found = {name: scans_of(busy, statement, **given) for name, (statement, given, _) in HOT.items()}
    assert found == {name: indexes for name, (_, _, indexes) in HOT.items()}
