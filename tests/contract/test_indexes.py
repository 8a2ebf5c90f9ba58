"""The statements of the hot path read their own index, on tables as full as a busy service has them."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg2
import pytest
from sqlalchemy import TextClause, text
from sqlalchemy.engine import make_url

from app import embedded
from app.domain.queues import Service
from app.store import (
    analyses,
    dead_letters,
    events,
    failures,
    heartbeats,
    histories_of_tests,
    idempotency,
    job_search,
    messages,
    quota,
    requests,
    snoozes,
    spec_documents,
    spec_words,
    users,
    webhook_deliveries,
)
from app.store.connections import make_engine
from app.store.unit_of_work import UnitOfWork
from tests.conftest import publishing
from tests.databases import Databases

NOW = datetime.now(UTC)
USER, JOB = UUID(int=7), UUID(int=10)
IN_PERIOD = {"user_id": USER, "event_type": "analysis", "start": NOW - timedelta(days=30), "end": NOW}
COMMIT = {"codebase_id": UUID(int=11), "commit_sha": f"{10:040x}", "parser_version": "1"}
#: (statement, its parameters, the indexes it reads)
HOT: dict[str, tuple[TextClause, dict[str, object], set[str]]] = {
    "usage": (quota._USAGE, IN_PERIOD, {"usage_events_sum", "quota_reservations_sum"}),
    "settle": (
        quota._SETTLE,
        {"job_id": JOB, "resource_id": JOB, "cost": None, "now": NOW},
        {"quota_reservations_job_id_key"},
    ),
    "sweep": (
        quota._SWEEP,
        {"now": NOW - timedelta(days=1), "most": 1000},
        {
            "quota_reservations_expiry",
            "quota_reservations_pkey",
            "kombu_message_task_id",
            "analyses_pkey",
            "spec_documents_pkey",
            "all of kombu_dead_letter",
        },
    ),
    "fence": (
        messages._FENCE,
        {"job_id": JOB, "task_id": str(JOB), "lease_token": JOB, "user_id": USER, "service": None, "now": None},
        {
            "kombu_message_task_id",
            "users_pkey",
            "user_subscriptions_one_active",
            "execution_slots_job_id_key",
            "subscription_plans_pkey",
        },
    ),
    "fence of a start": (
        messages._FENCE,
        {"job_id": JOB, "task_id": str(JOB), "lease_token": JOB, "user_id": USER, "service": "analysis", "now": None},
        {
            "kombu_message_task_id",
            "users_pkey",
            "user_subscriptions_one_active",
            "execution_slots_job_id_key",
            "execution_slots_pkey",
            "subscription_plans_pkey",
            "analyses_pkey",
        },
    ),
    "heartbeat": (
        heartbeats._BEAT[Service.ANALYSIS],
        {
            "job_id": JOB,
            "task_id": str(JOB),
            "lease_token": JOB,
            "lease_seconds": 15,
            "progress": '{"phase": "parsing", "done": 1, "total": 2}',
        },
        {"kombu_message_task_id", "execution_slots_job_id_key", "analyses_pkey"},
    ),
    "carrier and payer": (
        messages._USERS,
        {"task_id": str(JOB), "lease_token": JOB, "user_id": USER},
        {"kombu_message_task_id", "users_pkey"},
    ),
    "known": (analyses._COMPLETED, COMMIT, {"analyses_one_completed"}),
    "accepted": (requests._ACCEPTED, {"job_id": JOB}, {"analysis_requests_accept"}),
    "history": (requests._HISTORY, {"user_id": USER, "before": None, "most": 51}, {"analysis_requests_history"}),
    "dashboard": (
        requests._UNFINISHED,
        {"user_id": USER, "searched": 500, "most": 20},
        {"analysis_requests_history", "kombu_message_task_id"},
    ),
    "timeline": (events._LIST, {"job_id": JOB, "with_bill": False}, {"job_events_job"}),
    "snoozes": (
        snoozes._FIND,
        {"since": NOW - timedelta(days=1), "recent": NOW - timedelta(hours=1), "most": 1000, "users": 10},
        {"job_events_snoozed", "analysis_requests_one_per_user", "all of users"},
    ),
    "limits of their own": (
        users._WITH_OWN_SLOT_LIMIT,
        {"most": 100},
        {"users_own_slot_limit", "user_subscriptions_one_active", "subscription_plans_pkey"},
    ),
    "given up": (
        dead_letters._UNFINISHED,
        {"uuid": dead_letters.UUID_PATTERN},
        {
            "all of kombu_dead_letter",
            "analysis_requests_accept",
            "analysis_requests_one_per_user",
            "kombu_message_task_id",
            "analyses_pkey",
            "spec_documents_pkey",
        },
    ),
    "kept words": (spec_words._KNOWN, {"keys": [b"1"]}, {"spec_words_pkey"}),
    "paid words": (spec_words._PAID, {"keys": [b"1"]}, {"spec_words_pkey"}),
    "newest document": (
        spec_documents._NEWEST,
        {"user_id": USER, "analysis_id": JOB, "language": "en"},
        {"spec_documents_version"},
    ),
    "failures": (
        failures._FIND,
        {"since": NOW - timedelta(days=1), "most": 100},  # 10,000 of a real table, where reading all of it costs more
        {"analyses_failed", "spec_documents_failed", "analysis_requests_accept"},
    ),
    "webhooks that are due": (
        webhook_deliveries._DUE,
        {"most": 100},
        {"webhook_deliveries_due", "webhooks_pkey", "kombu_message_unique_key"},
    ),
    "next delivery": (
        webhook_deliveries._NEXT,
        {"webhook_id": UUID(int=7)},
        {"webhook_deliveries_due", "webhooks_pkey"},
    ),
    "search for jobs": (
        job_search._SEARCH,
        asdict(job_search.JobFilter(state="failed")) | {"before": None, "most": 51, "searched": 50},
        {"analysis_requests_pkey", "analyses_pkey", "spec_documents_pkey", "kombu_message_task_id"},
    ),
    "log of a webhook": (
        webhook_deliveries._LIST,
        {"webhook_id": UUID(int=7), "before": None, "most": 26},
        {"webhook_deliveries_log"},
    ),
    "history of a test": (
        histories_of_tests._FIND,
        {"analyses": [UUID(int=n) for n in range(1, 51)], "path": "test_7.py", "name": "test_a", "suites": "[]"},
        {"analysis_file_lists_pkey", "analysis_file_lists_list", "file_list_entries_pkey", "file_inventories_pkey"},
    ),
    "replay": (idempotency._FIND, {"user_id": USER, "key": "6"}, {"idempotency_keys_pkey"}),
}
FILL = (
    """INSERT INTO users (id, email, created_at)
       SELECT lpad(to_hex(n), 32, '0')::uuid, n || '@example.org', now() FROM generate_series(1, 500) n""",
    """INSERT INTO user_subscriptions (user_id, tier, anchor_at) SELECT id, 'pro', now() FROM users""",
    """INSERT INTO execution_slots (user_id, service, slot_no, slot_limit, job_id, lease_token, taken_at,
                                    lease_expires_at)
       SELECT id, 'analysis', 1, 1, gen_random_uuid(), gen_random_uuid(), now(), now() FROM users""",
    """INSERT INTO api_tokens (id, user_id, token_hash, prefix, name, scopes, created_at)
       SELECT gen_random_uuid(), lpad(to_hex(n), 32, '0')::uuid, convert_to('hash ' || n, 'UTF8'), 'fl_', '', '{read}',
              now() FROM generate_series(1, 500) n""",
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
    """INSERT INTO analyses (id, codebase_id, commit_sha, status, parser_version, attempt, started_at, completed_at,
                             error_code, error_message)
       SELECT lpad(to_hex(10000 + n), 32, '0')::uuid, lpad(to_hex(1 + n % 500), 32, '0')::uuid, lpad(to_hex(n), 40, '0'),
              'failed', '2', 1, now() - n * interval '1 h', now() - n * interval '1 h', 'timed_out', 'It took too long'
         FROM generate_series(1, 2000) n""",
    """INSERT INTO file_lists (digest, size) SELECT decode(md5(n::text), 'hex'), 16 FROM generate_series(1, 5000) n""",
    """INSERT INTO file_list_entries (file_list_id, position, path, skipped)
       SELECT l.id, n, 'test_' || l.id * 16 + n || '.py', 'binary' FROM file_lists l, generate_series(1, 16) n""",
    """INSERT INTO analysis_file_lists (analysis_id, last_ordinal, first_ordinal, file_list_id)
       SELECT lpad(to_hex(a), 32, '0')::uuid, 16 * n, 16 * n - 15, 1 + (10 * (a / 50) + n) % 5000
         FROM generate_series(1, 4000) a, generate_series(1, 10) n""",
    """INSERT INTO file_inventories (blob_id, parser_version, digest, framework, tests, total_tests)
       SELECT n, '1', decode(md5(n::text), 'hex'), 'pytest', '[]', 1 FROM generate_series(1, 2000) n""",
    """INSERT INTO webhooks (id, user_id, url, description, events, secret, created_at)
       SELECT lpad(to_hex(n), 32, '0')::uuid, lpad(to_hex(1 + n % 500), 32, '0')::uuid, 'https://example.org/', '',
              '{analysis.completed}', 'x', now() FROM generate_series(1, 5000) n""",
    """INSERT INTO webhook_deliveries (webhook_id, event_id, job_id, type, happened_at, status, due_at)
       SELECT lpad(to_hex(1 + n % 5000), 32, '0')::uuid, n, gen_random_uuid(), 'analysis.completed', now(),
              CASE WHEN n % 400 = 0 THEN 'pending' ELSE 'delivered' END, CASE WHEN n % 400 = 0 THEN now() END
         FROM generate_series(1, 20000) n""",
    """INSERT INTO spec_documents (id, user_id, codebase_id, commit_sha, analysis_id, language, mode, generator, version,
                                   status, attempt, started_at, completed_at, summary, units)
       SELECT lpad(to_hex(6000 + n), 32, '0')::uuid, lpad(to_hex(1 + n % 500), 32, '0')::uuid,
              lpad(to_hex(1 + n % 500), 32, '0')::uuid, 'c', lpad(to_hex(n), 32, '0')::uuid, 'en', 'initial', 'g', 1,
              'completed', 1, now(), now(), '{}', 1 FROM generate_series(1, 4000) n""",
    """INSERT INTO spec_words (key, codebase_id, words, is_paid)
       SELECT decode(md5(n::text), 'hex'), lpad(to_hex(1 + n % 500), 32, '0')::uuid, '"x"', true
         FROM generate_series(1, 20000) n""",
    """INSERT INTO analysis_requests (job_id, user_id, role, codebase_id, commit_sha, trigger, queue, requested_at)
       SELECT lpad(to_hex(n), 32, '0')::uuid, lpad(to_hex(1 + n % 500), 32, '0')::uuid, 'payer',
              lpad(to_hex(1 + n % 500), 32, '0')::uuid, 'c', 'user', 'analysis_default', now()
         FROM generate_series(1, 6000) n""",
    """INSERT INTO job_events (job_id, event)
       SELECT lpad(to_hex(1 + n % 4000), 32, '0')::uuid, 'started' FROM generate_series(1, 8000) n""",
    """INSERT INTO job_events (job_id, event, at)
       SELECT lpad(to_hex(1 + n % 4000), 32, '0')::uuid, 'snoozed', now() - n * interval '1 min'
         FROM generate_series(1, 8000) n""",
    """INSERT INTO idempotency_keys (user_id, key, fingerprint, status, body, created_at)
       SELECT lpad(to_hex(1 + n % 500), 32, '0')::uuid, n, 'x', 202, '{}', now() FROM generate_series(1, 4000) n""",
)


@pytest.fixture(scope="module")
def busy(databases: Databases) -> Iterator[UnitOfWork]:
    """A database with 500 users and what they left; no test commits a change of it."""
    with databases.copy() as url:
        engine = make_engine(url)
        uow = UnitOfWork(engine, publishing())
        with uow.begin() as tx:
            for statement in FILL:
                tx.run(text(statement))
            tx.run(text("ANALYZE"))
        yield uow
        engine.dispose()


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


#: What the functions of an accept and of the console read: (call, indexes).
FUNCTIONS = {
    "look": (
        f"SELECT accept_look('{USER}', 'new key', 'github.com', 'Acme', 'shop11', '{0:040x}', 'analysis:0', '1', now())",
        {
            "idempotency_keys_pkey", "users_pkey", "user_subscriptions_one_active", "subscription_plans_pkey",
            "codebases_address", "kombu_message_unique_key", "analyses_one_completed", "analyses_commit",
            "usage_events_sum", "quota_reservations_sum",
        },
    ),
    "caller": (
        "SELECT caller_find('hash 7', now(), 60)",
        {
            "api_tokens_token_hash_key", "users_pkey", "user_subscriptions_one_active", "subscription_plans_pkey",
        },
    ),
    "line": (
        "SELECT job_line(task_id, 1000, NULL, NULL, NULL) FROM kombu_message WHERE visible AND queue_id = 1 LIMIT 1",
        {
            "kombu_message_task_id", "kombu_queue_pkey", "kombu_message_ready", "kombu_message_started",
            "analyses_completed_at", "execution_slots_pkey",
        },
    ),
    "line of one held back": (
        "SELECT job_line(task_id, 1000, NULL, NULL, NULL) FROM kombu_message WHERE delay_reason = 'snooze' AND queue_id <= 3 LIMIT 1",
        {
            "kombu_message_task_id", "kombu_queue_pkey", "kombu_message_waiting", "kombu_message_group",
            "kombu_message_started", "analyses_completed_at", "execution_slots_pkey",
        },
    ),
    "line of a specification": (
        "SELECT job_line(task_id, 1000, NULL, NULL, NULL) FROM kombu_message WHERE visible AND queue_id = 4 LIMIT 1",
        {
            "kombu_message_task_id", "kombu_queue_pkey", "kombu_message_ready", "kombu_message_started",
            "spec_documents_completed_at", "execution_slots_pkey",
        },
    ),
    "turns": (
        f"SELECT job_turns(task_id, '{USER}', 'analysis_default', 3, 100, 100) FROM kombu_message LIMIT 1",
        {
            "kombu_message_task_id", "kombu_queue_name_key", "kombu_queue_pkey", "kombu_message_ready",
            "kombu_message_group", "kombu_group_pkey", "kombu_message_started", "execution_slots_pkey",
            "kombu_message_waiting",
        },
    ),
    "oldest parked": ("SELECT queue_parked_since(2, 10)", {"kombu_message_waiting"}),
    "wake": (
        f"SELECT wake_user('{USER}', 'analysis', 1, 100)",
        {"kombu_queue_name_key", "kombu_message_waiting", "kombu_group_pkey"},
    ),
}  # fmt: skip
NESTED = """
    LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on;
    SET auto_explain.log_format = json; SET client_min_messages = log"""


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_functions_read_their_own_indexes(busy: UnitOfWork, server: embedded.Server, function: str) -> None:
    call, indexes = FUNCTIONS[function]
    url = make_url(server.admin_url).set(drivername="postgresql", database=busy.engine.url.database)
    connection = psycopg2.connect(url.render_as_string(hide_password=False))
    with connection.cursor() as cursor:
        cursor.execute(NESTED)
        cursor.execute(call)
    plans = [json.loads(notice.partition("plan:")[2])["Plan"] for notice in connection.notices if "plan:" in notice]
    connection.close()
    inside = [node for plan in plans[:-1] for node in nodes(plan)]  # the last is the call itself
    assert {str(node.get("Index Name") or node["Relation Name"]) for node in inside if scans(node)} == indexes
