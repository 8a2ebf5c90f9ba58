"""The database and the code that uses it say the same."""

import pytest
from celery_durable import schema
from sqlalchemy import text

from app.domain.lifecycle import RecordStatus
from app.domain.plans import SOLD_PLANS, EventType, Plan, Tier
from app.domain.queues import ALL_QUEUES, Service
from tests.conftest import raw_connection
from tests.contract.catalogs import columns_of, enum_values, schema_of

BROKER = ("durable_", "kombu_", "broker_", "queue_id_sequence", "message_id_sequence")


def test_the_queues_are_rows_in_the_order_of_the_domain(migrated_url: str) -> None:
    with raw_connection(migrated_url) as connection:
        names = connection.execute(text("SELECT name FROM kombu_queue ORDER BY id")).scalars().all()
    assert tuple(names) == ALL_QUEUES


def test_the_plans_of_the_migration_are_the_plans_of_the_rules(migrated_url: str) -> None:
    with raw_connection(migrated_url) as connection:
        rows = connection.execute(text("SELECT * FROM subscription_plans ORDER BY tier")).all()
    plans = [
        Plan(Tier(r.tier), r.concurrent_jobs, r.analyses_per_period, r.spec_units_per_period, r.retention_days)
        for r in rows
    ]
    assert tuple(plans) == SOLD_PLANS
    assert [r.price for r in rows] == [0, 15, 59, None]


@pytest.mark.parametrize(
    ("enum", "members"),
    [("plan_tier", Tier), ("usage_event_type", EventType), ("analysis_status", RecordStatus)],
)
def test_an_enum_has_the_same_values_in_the_same_order_on_both_sides(
    migrated_url: str, enum: str, members: type[Tier]
) -> None:
    with raw_connection(migrated_url) as connection:
        assert enum_values(connection, enum) == [member.value for member in members]


def test_every_service_may_hold_slots(migrated_url: str) -> None:
    with raw_connection(migrated_url) as connection:
        check = schema_of(connection)["constraint execution_slots.execution_slots_service_check"]
    assert {service for service in Service if f"'{service}'" in check} == set(Service)


def test_the_migrations_broker_tables_are_the_ones_the_broker_asks_for(migrated_url: str, empty_url: str) -> None:
    with raw_connection(empty_url) as connection:
        schema.upgrade(connection)
        schema.add_stock_names(connection)  # as the previous release's statements use them
        asked = schema_of(connection, prefixes=BROKER)
    with raw_connection(migrated_url) as connection:
        assert schema_of(connection, prefixes=BROKER) == asked
    assert {what.split(" ")[1].split(".")[0] for what in asked if what.startswith("table ")} == {
        "durable_queue", "durable_message", "durable_ready", "durable_lease", "durable_waiting", "durable_limit",
        "durable_line", "kombu_group", "kombu_node", "kombu_dead_letter", "kombu_broadcast", "kombu_schema", "kombu_judgement",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("quota_reservations", "user_id event_type reserved_amount job_id expires_at"),
        ("usage_events", "user_id event_type quota_amount job_id resource_id created_at"),
        (
            "analyses",
            "id status commit_sha parser_version started_at completed_at error_code total_tests",
        ),
        ("execution_slots", "user_id service slot_no job_id lease_expires_at"),
        ("broker_queue", "id name paused_at"),
        (
            "broker_message",
            "id queue_id task_id tenant unique_key is_ready ready_at lease_token started_at delivery_count snooze_count enqueued_at",
        ),
        ("broker_dead_letter", "id queue task_id reason died_at"),
        ("kombu_queue", "id name"),
        (
            "kombu_message",
            "id queue_id task_id user_id unique_key visible visible_at lease_token delivery_count snooze_count enqueued_at",
        ),
        ("job_events", "job_id at event facts"),
        ("users", "id email"),
        ("user_subscriptions", "user_id tier anchor_at status"),
        ("subscription_plans", "tier concurrent_jobs analyses_per_period spec_units_per_period retention_days"),
    ],
)
def test_what_auditors_read_is_there(migrated_url: str, table: str, columns: str) -> None:
    with raw_connection(migrated_url) as connection:
        assert set(columns.split()) <= columns_of(connection, table)


@pytest.mark.parametrize("table", ["quota_reservations", "usage_events", "execution_slots"])
def test_a_job_has_one_row_at_most_by_constraint(migrated_url: str, table: str) -> None:
    with raw_connection(migrated_url) as connection:
        assert schema_of(connection)[f"constraint {table}.{table}_job_id_key"] == "UNIQUE (job_id)"


def test_every_reference_to_a_user_says_what_happens_when_the_user_goes(migrated_url: str) -> None:
    with raw_connection(migrated_url) as connection:
        found = schema_of(connection)
    references = [how for what, how in found.items() if what.startswith("constraint ") and "REFERENCES users" in how]
    assert len(references) >= 8
    assert all("ON DELETE CASCADE" in how or "ON DELETE SET NULL" in how for how in references)
    assert "SET NULL" in found["constraint usage_events.usage_events_user_id_fkey"]  # billing outlives the account


def test_every_instant_in_the_database_has_a_zone(migrated_url: str) -> None:
    with raw_connection(migrated_url) as connection:
        found = schema_of(connection)
    naive = [what for what, how in found.items() if what.startswith("column ") and "without time zone" in how]
    assert naive == []
