"""The statements of the hot path read their own index, on tables as full as a busy service has them."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg2
import pytest
from durable_harness.plans import nodes
from sqlalchemy import TextClause, text
from sqlalchemy.engine import make_url

from app import embedded
from app.domain.queues import Service
from app.store.accounts import users
from app.store.analyses import analyses, other_results
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from app.store.fairness import snoozes
from app.store.jobs import events, heartbeats, idempotency, messages, quota, requests
from app.store.operations import dead_letters, failures, job_search
from app.store.repositories import branch_commits
from app.store.results import explore, histories_of_tests
from app.store.specifications import spec_documents, spec_words
from tests.conftest import publishing
from tests.contract.busy_rows import FILL
from tests.databases import UNVACUUMED, Databases

pytestmark = pytest.mark.proof

NOW = datetime.now(UTC)
USER, JOB = UUID(int=7), UUID(int=10)
IN_PERIOD = {"user_id": USER, "event_type": "analysis", "start": NOW - timedelta(days=30), "end": NOW}
COMMIT = {"codebase_id": UUID(int=11), "commit_sha": f"{10:040x}", "parser_version": "1"}
#: (statement, its parameters, the indexes it reads)
HOT: dict[str, tuple[TextClause, dict[str, object], set[str]]] = {
    "usage": (quota._USAGE, IN_PERIOD, {"quota_reservations_sum"}),  # and what usage_used reads
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
            "durable_message_task",
            "analyses_pkey",
            "spec_documents_pkey",
            "all of kombu_dead_letter",
        },
    ),
    "fence": (
        messages._FENCE,
        {"job_id": JOB, "task_id": str(JOB), "lease_token": JOB, "user_id": USER, "service": None, "now": None},
        {
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
        {"execution_slots_job_id_key", "analyses_pkey"},
    ),
    "carrier and payer": (
        messages._USERS,
        {"task_id": str(JOB), "lease_token": JOB, "user_id": USER},
        {"users_pkey"},
    ),
    "known": (analyses._COMPLETED, COMMIT, {"analyses_one_result", "branch_commits_pkey"}),
    "accepted": (requests._ACCEPTED, {"job_id": JOB}, {"analysis_requests_accept"}),
    "history": (requests._HISTORY, {"user_id": USER, "before": None, "most": 51}, {"analysis_requests_history"}),
    "dashboard": (
        requests._UNFINISHED,
        {"user_id": USER, "searched": 500, "most": 20},
        {"analysis_requests_history", "durable_message_task", "durable_lease_pkey"},
    ),
    "timeline": (
        events._LIST,
        {"job_id": JOB, "with_bill": False, "with_lines": False},
        {"job_events_job"},
    ),
    "own requests": (
        requests._OF_USER,
        {"job_ids": [str(JOB)], "user_id": USER},
        {"analysis_requests_one_per_user"},
    ),
    "newest results": (
        analyses._NEWEST,
        {"codebase_id": UUID(int=11), "most": 20},
        {
            "branch_commits_newest",
            "analyses_one_result",
            "analyses_commit_order",
            "branch_commits_pkey",
            "analysis_requests_one_per_user",
        },
    ),
    "commits to judge": (
        branch_commits._JUDGED,
        {"codebase_id": UUID(int=11), "commit_sha": f"{10:040x}", "most": 100},
        {"analyses_commit_order", "branch_commits_newest", "analyses_one_result", "branch_commits_pkey"},
    ),
    "newest commit of the branch": (
        branch_commits._NOTE_HEAD,
        {"codebase_id": UUID(int=11), "analysis_id": JOB, "now": NOW},
        {"analyses_pkey", "analyses_commit", "analyses_commit_order", "branch_commits_pkey", "branch_commits_newest"},
    ),
    "last look at the branch": (
        branch_commits._STALE,
        {"codebase_id": UUID(int=11), "commit_sha": f"{10:040x}", "most": 1},
        {"branch_commits_newest", "durable_message_unique_key"},
    ),
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
            "durable_message_task",
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
    "search for jobs": (
        job_search._SEARCH,
        asdict(job_search.JobFilter(state="failed")) | {"before": None, "most": 51, "searched": 50},
        {
            "analysis_requests_pkey",
            "analyses_pkey",
            "spec_documents_pkey",
            "durable_message_task",
            "durable_lease_pkey",
            "durable_waiting_pkey",
        },
    ),
    "history of a test": (
        histories_of_tests._FIND,
        {"analyses": [UUID(int=n) for n in range(1, 51)], "path": "test_7.py", "name": "test_a", "suites": "[]"},
        {"analysis_file_lists_pkey", "analysis_file_lists_list", "file_list_entries_pkey", "file_inventories_pkey"},
    ),
    "replay": (idempotency._FIND, {"user_id": USER, "key": "6"}, {"idempotency_keys_pkey"}),
}


@pytest.fixture(scope="module")
def busy(databases: Databases) -> Iterator[UnitOfWork]:
    """A database with 500 users and what they left; no test commits a change of it."""
    with databases.copy() as url:
        engine = make_engine(url)
        uow = UnitOfWork(engine, publishing())
        with uow.begin() as tx:
            tx.run(text(UNVACUUMED))
            for statement in FILL:
                tx.run(text(statement))
            tx.run(text("ANALYZE"))
        yield uow
        engine.dispose()


#: Index of a part of a table -> that of the table; an empty part may be read in whatever way.
PARTS = """
    SELECT i.relname AS name, inhparent::regclass::text AS whole FROM pg_inherits
      JOIN pg_class i ON i.oid = inhrelid WHERE i.relkind = 'i'
    UNION ALL SELECT 'all of ' || relname, NULL FROM pg_class WHERE relispartition AND relkind = 'r' AND reltuples = 0"""


def scans_of(uow: UnitOfWork, statement: TextClause, **parameters: object) -> set[str]:
    """Indexes a statement reads, and tables it reads from end to end."""
    with uow.begin() as tx:
        explain = text(f"EXPLAIN (FORMAT JSON) {statement.text}")
        given = {name: value for name, value in parameters.items() if f":{name}" in statement.text}
        plan = tx.run(explain, **given).scalar_one()[0]["Plan"]
        read = [node.get("Index Name") or f"all of {node.get('Relation Name')}" for node in nodes(plan) if scans(node)]
        parts = {row.name: row.whole for row in tx.run(text(PARTS))}
    found = {str(name) for one in read if (name := parts.get(one, one))}
    return found - {"codebases_pkey", "all of codebases", "durable_queue_pkey", "all of durable_queue"}  # joined by key


def scans(node: dict[str, Any]) -> bool:
    return "Index Name" in node or node["Node Type"] == "Seq Scan"


def test_every_statement_of_the_hot_path_reads_its_own_index(busy: UnitOfWork) -> None:
    found = {name: scans_of(busy, statement, **given) for name, (statement, given, _) in HOT.items()}
    # the results of one repository are found by either of two indexes that begin with it, as the statistics have it
    assert found["newest results"] | {"analyses_commit_order"} == HOT["newest results"][2]
    assert found == {name: indexes for name, (_, _, indexes) in HOT.items()} | {
        "newest results": found["newest results"]
    }


def test_other_commits_of_a_repository_are_found_without_reading_those_of_all(busy: UnitOfWork) -> None:
    given = {
        "id": JOB, "codebase_id": UUID(int=11), "commit_sha": f"{10:040x}", "user_id": USER, "sees_all": False,
        "prefix": "", "before": None, "most": 50,
    }  # fmt: skip
    found = scans_of(busy, other_results._OTHERS, **given)
    assert "branch_commits_newest" in found
    assert [name for name in found if name.startswith("all of")] == []


#: Where a message stands is looked up by its id.
STATES = ("durable_ready_pkey", "durable_lease_pkey", "durable_waiting_pkey")
DELIVERY = {"durable_message_task", "durable_lease_pkey"}
#: What the functions of an accept, of a run and of the console read: (call, indexes).
FUNCTIONS = {
    "delivery": (f"SELECT broker_delivery('{JOB}', '{JOB}')", DELIVERY),
    "fence": (f"SELECT broker_fence('{JOB}', '{JOB}')", DELIVERY),
    "start": (f"SELECT broker_start('{JOB}', '{JOB}')", DELIVERY),
    "messages": (
        f"SELECT job_messages('{{{JOB}}}', true)", {"durable_message_task", "durable_queue_pkey", *STATES},
    ),
    "look": (
        f"SELECT accept_look('{USER}', 'new key', 'github.com', 'Acme', 'shop11', '{0:040x}', 'analysis:0', '1', now())",
        {
            "idempotency_keys_pkey", "users_pkey", "user_subscriptions_one_active", "subscription_plans_pkey",
            "codebases_address", "durable_message_unique_key", "analyses_one_result", "analyses_commit",
            "usage_sums_pkey", "usage_events_sum", "quota_reservations_sum",
        },
    ),
    "units of a period": (
        f"SELECT usage_used('{USER}', 'analysis', now() - interval '3 d', now())",
        {"usage_sums_pkey", "usage_events_sum"},
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
            "durable_message_task", "durable_queue_pkey", "durable_ready_order", "durable_lease_until",
            "analyses_completed_at", "execution_slots_pkey", *STATES,
        },
    ),
    "line of one held back": (
        "SELECT job_line(task_id, 1000, NULL, NULL, NULL) FROM kombu_message WHERE delay_reason = 'snooze' AND queue_id <= 3 LIMIT 1",
        {
            "durable_message_task", "durable_queue_pkey", "durable_waiting_tenant", "durable_ready_tenant",
            "durable_lease_until", "analyses_completed_at", "execution_slots_pkey", *STATES,
        },
    ),
    "line of a specification": (
        "SELECT job_line(task_id, 1000, NULL, NULL, NULL) FROM kombu_message WHERE visible AND queue_id = 4 LIMIT 1",
        {
            "durable_message_task", "durable_queue_pkey", "durable_ready_order", "durable_lease_until",
            "spec_documents_completed_at", "execution_slots_pkey", *STATES,
        },
    ),
    "turns": (
        f"SELECT job_turns(task_id, '{USER}', 'analysis_default', 3, 100, 100) FROM kombu_message LIMIT 1",
        {
            "durable_message_task", "durable_queue_name_key", "durable_queue_pkey", "durable_ready_order",
            "durable_ready_tenant", "kombu_group_pkey", "durable_lease_until", "execution_slots_pkey",
            "durable_waiting_tenant", "durable_lease_pkey", "durable_ready_pkey",
        },
    ),
    "oldest parked": ("SELECT queue_parked_since(2, 10)", {"durable_waiting_tenant", "durable_message_pkey"}),
    "wake": (
        f"SELECT wake_user('{USER}', 'analysis', 1, 100)",
        {"durable_queue_name_key", "durable_waiting_tenant", "kombu_group_pkey"},
    ),
    "webhooks that are due": (
        "SELECT webhooks_due(100)",
        {"webhook_deliveries_due", "webhooks_pkey", "webhooks_of_user", "durable_message_unique_key"},
    ),
    "turns of webhooks": ("SELECT webhooks_claim(9, 3)", {"webhook_deliveries_due", "webhooks_pkey", "webhooks_of_user"}),
    "next delivery": (
        f"SELECT webhook_next('{UUID(int=7)}')",
        {"webhook_deliveries_due", "webhooks_pkey", "job_events_job", "analysis_requests_accept"},
    ),
    "log of a webhook": (f"SELECT webhook_log('{UUID(int=7)}', '2020-01-01', NULL, 26)", {"webhook_deliveries_log"}),
    "deliveries that wait": ("SELECT webhooks_waiting(9)", {"webhook_deliveries_due", "webhooks_pkey", "webhooks_of_user"}),
}  # fmt: skip
NESTED = """
    LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on;
    SET auto_explain.log_format = json; SET client_min_messages = log"""


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_functions_read_their_own_indexes(busy: UnitOfWork, server: embedded.Server, function: str) -> None:
    call, indexes = FUNCTIONS[function]
    read = [str(node.get("Index Name") or node["Relation Name"]) for node in inside(busy, server, call) if scans(node)]
    with busy.begin() as tx:
        parts = {row.name: row.whole for row in tx.run(text(PARTS))}
    assert {name for one in read if (name := parts.get(one, one))} == indexes


def test_a_page_of_a_log_is_read_in_its_order(busy: UnitOfWork, server: embedded.Server) -> None:
    """A webhook may have much more deliveries than the average one, for which the plan is made."""
    assert not [node for node in inside(busy, server, FUNCTIONS["log of a webhook"][0]) if "Sort" in node["Node Type"]]


def inside(busy: UnitOfWork, server: embedded.Server, call: str) -> list[dict[str, Any]]:
    url = make_url(server.admin_url).set(drivername="postgresql", database=busy.engine.url.database)
    connection = psycopg2.connect(url.render_as_string(hide_password=False))
    with connection.cursor() as cursor:
        cursor.execute(NESTED)
        cursor.execute(call)
    plans = [json.loads(notice.partition("plan:")[2])["Plan"] for notice in connection.notices if "plan:" in notice]
    connection.close()
    return [node for plan in plans[:-1] for node in nodes(plan)]  # the last is the call itself


def test_a_search_for_a_part_of_an_address_reads_neither_all_addresses_nor_all_results(busy: UnitOfWork) -> None:
    """20,000 repositories: the part of a few of them is found by its own index, and their newest results by theirs."""
    many = """
        INSERT INTO codebases (id, host, owner, name, created_at, last_viewed_at, default_branch)
        SELECT gen_random_uuid(), 'github.com', 'owner' || n % 1000, md5(n::text), now(), now() - n * interval '1 s',
               'main' FROM generate_series(1, 20000) n"""
    asked = {"pattern": "%c0ffee%", "local": "local", "with_local": False, "most": 50}
    with busy.begin() as tx:
        tx.run(text(many))
        tx.run(text("ANALYZE codebases"))
        plan = tx.run(text(f"EXPLAIN (FORMAT JSON) {explore._FOUND.text}"), **asked).scalar_one()[0]["Plan"]
        found = {str(node.get("Index Name") or node["Relation Name"]) for node in nodes(plan) if scans(node)}
        tx.run(text("DELETE FROM codebases WHERE owner LIKE 'owner%'"))
        tx.run(text("ANALYZE codebases"))
    assert found == {
        "codebases_viewed", "codebases_address_parts", "branch_commits_newest", "analyses_one_result",
        "analyses_commit_order", "branch_commits_pkey", "analysis_requests_one_per_user", "analyses_pkey",
    }  # fmt: skip


@pytest.mark.parametrize("function", ["job_turns", "job_line"])
def test_running_jobs_are_counted_by_the_end_of_their_leases(busy: UnitOfWork, function: str) -> None:
    """While an old snapshot is open, the index has an entry of each lease that ever was."""
    body = "SELECT prosrc FROM pg_proc WHERE proname = :function"
    with busy.begin() as tx:
        source = str(tx.run(text(body), function=function).scalar_one())
        [count] = re.findall(r"workers := \((SELECT count.*?)\);", source, re.DOTALL)
        count = re.sub(r"\b(which\.id|me\.queue_id)", "1", count)
        tx.run(text("SET LOCAL enable_seqscan = off"))
        tx.run(text("SET LOCAL enable_bitmapscan = off"))
        plan = tx.run(text(f"EXPLAIN (FORMAT JSON) {count}")).scalar_one()[0]["Plan"]
    [scan] = [node for node in nodes(plan) if scans(node)]
    assert scan["Index Name"] == "durable_lease_until"
    assert "until > now()" in scan["Index Cond"]
