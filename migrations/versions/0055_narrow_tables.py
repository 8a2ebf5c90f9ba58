"""Version 8 of the broker's schema: where a message stands is its state, a table for each (docs/adr/0075).

Publishers and workers wait for it, about nine seconds for a million messages; those of the previous release go on after
it, by views that have the names of the tables of before.
"""

from pathlib import Path

from alembic import op
from celery_durable import schema

revision = "0055"
down_revision = "0054"

BROKER_VERSION = 8
LOCKS = {
    "kombu_dead_letter": "ACCESS EXCLUSIVE",
    "kombu_group": "ACCESS EXCLUSIVE",
    "kombu_judgement": "ACCESS EXCLUSIVE",
    "kombu_message": "ACCESS EXCLUSIVE",
    "kombu_node": "ACCESS EXCLUSIVE",
    "kombu_queue": "ACCESS EXCLUSIVE",
}

HERE = Path(__file__).parent
#: What version 7 has as tables, in the order of their columns; those with an identity last.
KEPT = (
    "kombu_queue",
    "kombu_message",
    "kombu_group",
    "kombu_node",
    "kombu_judgement",
    "kombu_dead_letter",
    "kombu_broadcast",
)
VIEWS = (
    "broker_facts",
    "broker_node",
    "broker_group",
    "broker_dead_letter",
    "broker_queue",
    "broker_message",
    "broker_ready",
    "broker_lease",
    "broker_waiting",
    "broker_limit",
    "kombu_queue",
    "kombu_message",
)
TABLES = (
    "durable_queue", "durable_message", "durable_ready", "durable_lease", "durable_waiting", "durable_limit",
    "durable_line", "kombu_schema",
)  # fmt: skip
#: Version 7 has no limits.
NO_LIMITS = """
    WITH gone AS (DELETE FROM durable_waiting WHERE reason = 'limited' RETURNING id, queue_id, tenant, rank),
    placed AS (
        SELECT id, queue_id, tenant, row_number() OVER (PARTITION BY queue_id, tenant ORDER BY rank, id) AS place
          FROM gone)
    INSERT INTO durable_ready (id, queue_id, tenant, rank)
    SELECT id, queue_id, tenant, durable_rank(queue_id, tenant, 100) + 100 * (place - 1) FROM placed
        ON CONFLICT DO NOTHING"""


def upgrade() -> None:
    schema.upgrade(op.get_bind(), to=BROKER_VERSION)
    execute("0055_functions.sql")


def downgrade() -> None:
    schema.lock(op.get_bind(), (*VIEWS, *TABLES, *KEPT[2:]))
    execute("0055_keep_rights.sql")
    schema.add_stock_names(op.get_bind())  # which somebody may have dropped
    op.execute(NO_LIMITS)
    for table in KEPT:
        op.execute(f"CREATE TEMP TABLE kept_{table} ON COMMIT DROP AS SELECT * FROM {table}")
    op.execute(f"DROP VIEW {', '.join(VIEWS)}")
    op.execute(r"""
        DO $$
        DECLARE
            one regprocedure;
        BEGIN
            FOR one IN SELECT oid FROM pg_proc
                        WHERE pronamespace = current_schema()::regnamespace
                          AND proname ~ '^(durable|kombu|broker)_' LOOP
                EXECUTE 'DROP FUNCTION ' || one;
            END LOOP;
        END $$""")
    op.execute(f"DROP TABLE {', '.join((*TABLES, *KEPT[2:]))}")
    schema.upgrade(op.get_bind(), to=BROKER_VERSION - 1)
    for table in KEPT:
        op.execute(f"INSERT INTO {table} OVERRIDING SYSTEM VALUE SELECT * FROM kept_{table}")
    for table in KEPT[-2:]:
        op.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM kept_{table}")
    execute("0055_functions_before.sql")
    execute("0055_give_rights.sql")


def execute(name: str) -> None:
    op.execute(HERE.joinpath(name).read_text(encoding="utf-8"))
