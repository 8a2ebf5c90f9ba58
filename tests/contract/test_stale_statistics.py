"""Maintenance reads its own indexes whatever the planner believes: its waves change tables faster than ANALYZE looks."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from durable_harness.plans import nodes
from sqlalchemy import TextClause, text

from app.services.analyses.reschedule import VIEWED_WITHIN
from app.services.operations.run_in_batches import step
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from app.store.fairness import waits
from app.store.operations import reconciliations, retention
from app.store.repositories import codebases
from tests.conftest import publishing
from tests.databases import UNVACUUMED, Databases

pytestmark = pytest.mark.proof

NOW = datetime.now(UTC)
JOBS, WAVE = 40_000, 20_000
FILL = (
    "INSERT INTO users (id, email, created_at) VALUES (lpad('1', 32, '0')::uuid, 'one@example.org', now())",
    """INSERT INTO codebases (id, host, owner, name, created_at, last_viewed_at)
       SELECT lpad(to_hex(n), 32, '0')::uuid, (ARRAY['github.com', 'gitlab.com'])[1 + n % 2], 'acme', 'shop' || n, now(),
              now() - n * interval '1 min' FROM generate_series(1, 20000) n""",
    f"""INSERT INTO analysis_requests (job_id, user_id, role, codebase_id, commit_sha, trigger, queue, requested_at)
       SELECT lpad(to_hex(n), 32, '0')::uuid, lpad('1', 32, '0')::uuid, 'payer', lpad(to_hex(1 + n % 20000), 32, '0')::uuid,
              'c', 'user', 'analysis_default', now() - interval '90 days' + n * interval '3 min'
         FROM generate_series(1, {JOBS}) n""",
    f"""INSERT INTO analyses (id, codebase_id, commit_sha, status, parser_version, attempt, started_at, completed_at,
                             total_tests)
       SELECT lpad(to_hex(n), 32, '0')::uuid, lpad(to_hex(1 + n % 20000), 32, '0')::uuid, lpad(to_hex(n), 40, '0'),
              'completed', '1', 1, now(), now(), 1 FROM generate_series(1, {JOBS}) n""",
    f"""INSERT INTO job_events (job_id, event, at)
       SELECT lpad(to_hex(n), 32, '0')::uuid, e, now() - interval '90 days' + n * interval '3 min'
         FROM generate_series(1, {JOBS}) n, unnest('{{accepted,started,completed}}'::text[]) e""",
    f"""INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
       SELECT lpad('1', 32, '0')::uuid, 'analysis', 1, lpad(to_hex(n), 32, '0')::uuid, lpad(to_hex(n), 32, '0')::uuid,
              now() - interval '90 days' + n * interval '3 min', now() FROM generate_series(1, {JOBS}) n""",
)
#: A wave of expired history, after the planner has looked.
FORGET = f"UPDATE analysis_requests SET user_id = NULL WHERE id <= {WAVE}"
#: (statement, its parameters, the table and the largest number of its rows that one batch may read)
STATEMENTS: dict[str, tuple[TextClause, dict[str, object], str, int]] = {
    "ids of nobody's jobs": (retention._NOBODYS, {"after": 0, "most": 10}, "analysis_requests", 10),
    "nobody's jobs, a small batch": (
        retention._JOBS_BY_REQUEST,
        {"ids": list(range(101, 111)), "days": 30, "now": NOW},
        "analysis_requests",
        20,
    ),
    "nobody's jobs, a large batch": (
        retention._JOBS_BY_REQUEST,
        {"ids": list(range(101, 501)), "days": 30, "now": NOW},
        "analysis_requests",
        800,
    ),
    "expired history": (retention._EXPIRE, {"after": 100, "upto": 200, "now": NOW}, "analysis_requests", 200),
    "repositories of a host": (
        codebases._VIEWED_BEFORE,
        {"host": "github.com", "viewed_since": NOW - VIEWED_WITHIN, "most": 50}
        | {"last_viewed_at": NOW - timedelta(minutes=3000), "id": UUID(int=0)},
        "codebases",
        60,
    ),
    "how repositories ended": (
        codebases._ENDS,
        {"ids": [str(UUID(int=n)) for n in range(1, 51)], "most": 5},
        "analyses",
        250,
    ),
    "hosts": (codebases._HOSTS, {}, "codebases", 10),
}


@pytest.fixture(scope="module")
def surprised(databases: Databases) -> Iterator[UnitOfWork]:
    """A database whose statistics are of before a wave."""
    with databases.copy() as url:
        engine = make_engine(url)
        uow = UnitOfWork(engine, publishing())
        with uow.begin() as tx:
            tx.run(text(UNVACUUMED))  # it would make new statistics
            for statement in FILL:
                tx.run(text(statement))
            tx.run(text("ANALYZE"))
            tx.run(text(FORGET))
            for index in ("analysis_requests_when", "job_events_when", "usage_events_when"):  # as a vacuum does
                tx.run(text(f"SELECT brin_summarize_new_values('{index}')"))
        yield uow
        engine.dispose()


def rows_read(uow: UnitOfWork, statement: TextClause, table: str, given: dict[str, object]) -> float:
    """Rows of a table that its scans return and throw away."""
    with step(uow, dry_run=True) as tx:  # EXPLAIN ANALYZE changes rows
        explain = text(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement.text}")
        plan = tx.run(explain, **given).scalar_one()[0]["Plan"]
    scans = [node for node in nodes(plan) if node.get("Relation Name") == table and "Scan" in node["Node Type"]]
    thrown = ("Rows Removed by Filter", "Rows Removed by Index Recheck")
    return sum((one["Actual Rows"] + sum(one.get(why, 0) for why in thrown)) * one["Actual Loops"] for one in scans)


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_batch_reads_its_own_rows_with_statistics_of_before(surprised: UnitOfWork, name: str) -> None:
    statement, given, table, most = STATEMENTS[name]
    assert rows_read(surprised, statement, table, given) <= most


def test_a_window_of_the_reconciliation_reads_its_jobs_and_no_others(surprised: UnitOfWork) -> None:
    day = {"begin": NOW - timedelta(days=50), "end": NOW - timedelta(days=50, hours=-4), "most": 10}
    # 80 jobs and their neighbours on the pages of the index of times
    for table in ("analysis_requests", "analyses", "job_events", "usage_events"):
        assert rows_read(surprised, reconciliations._COUNT, table, day) < JOBS / 2, table


def test_courses_are_read_without_the_jobs_of_other_days(surprised: UnitOfWork) -> None:
    span = {"since": NOW - timedelta(days=9), "until": NOW - timedelta(days=8), "most": 10_000}
    assert rows_read(surprised, waits._COURSES, "analysis_requests", span) < JOBS / 2
