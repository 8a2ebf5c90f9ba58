"""Store tests share one database per process and empty it before each test: a fresh one costs ten times as much."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from app import embedded
from app.domain.plans import SOLD_PLANS
from tests.conftest import _run_sql, raw_connection

KEPT = {"alembic_version", "kombu_queue", "kombu_schema", "subscription_plans", "schema_support"}
#: what refers to others first
EMPTIED = (
    "spec_shares", "spec_words", "spec_features", "spec_documents", "spec_requests",
    "analysis_file_lists", "file_list_entries", "file_lists", "analyses", "file_inventories", "blob_facts",
    "analysis_requests", "codebases",
    "quota_reservations", "usage_events", "idempotency_keys", "execution_slots", "job_events", "schedule_runs",
    "kombu_message", "kombu_group", "kombu_node", "kombu_dead_letter", "kombu_broadcast", "api_tokens", "sessions",
    "sign_in_links", "audit_log", "rate_buckets", "reconciliations", "host_clocks",
    "model_days", "model_circuits",
    "user_subscriptions", "users",
)  # fmt: skip
# TRUNCATE makes a new file for each table and index: 120 ms, where deleting a few rows takes 5
EMPTY = text("; ".join(f"DELETE FROM {table}" for table in EMPTIED))
TABLES = text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
PLANS = text("""
    UPDATE subscription_plans SET concurrent_jobs = :jobs, analyses_per_period = :analyses,
           spec_units_per_period = :units, retention_days = :days WHERE tier = CAST(:tier AS plan_tier)""")


@pytest.fixture(scope="session")
def shared_url(server: embedded.Server, template: str) -> Iterator[str]:
    url = make_url(server.url)
    name = f"store_{uuid4().hex}"
    _run_sql(server.admin_url, f"CREATE DATABASE {name} OWNER {url.username} TEMPLATE {template} STRATEGY file_copy")
    yield url.set(database=name).render_as_string(hide_password=False)
    _run_sql(server.admin_url, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def database_url(shared_url: str) -> str:
    """The shared database as a migration leaves it."""
    with raw_connection(shared_url) as connection:
        assert set(connection.execute(TABLES).scalars()) == KEPT | set(EMPTIED)
        connection.execute(EMPTY)
        connection.execute(text("UPDATE kombu_queue SET paused_at = NULL"))
        for plan in SOLD_PLANS:
            given = {"jobs": plan.concurrent_jobs, "analyses": plan.analyses_per_period}
            given |= {"units": plan.spec_units_per_period, "days": plan.retention_days, "tier": plan.tier.value}
            connection.execute(PLANS, given)
        connection.commit()
    return shared_url
