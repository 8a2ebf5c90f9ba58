"""Version 2 of the broker's schema, and the service's functions over what its interface now offers."""

from pathlib import Path

from alembic import op
from celery_durable import schema

revision = "0027"
down_revision = "0026"

BROKER_VERSION = 2

LOCKS = {"kombu_node": "ACCESS EXCLUSIVE"}

HERE = Path(__file__).parent


def upgrade() -> None:
    schema.upgrade(op.get_bind())
    op.execute(HERE.joinpath("0027_functions.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    # on a new database `upgrade` brought the newest version, which is 5
    op.execute("""
        DROP VIEW broker_node, broker_message;
        DROP FUNCTION kombu_message_poll(text[], bigint, boolean, timestamptz, integer);
        ALTER TABLE kombu_node DROP COLUMN queues, DROP COLUMN prefetch_count, DROP COLUMN spare_queues""")
    for name in ("0027_functions_before.sql", "0000_2_broker_functions.sql"):
        op.execute(HERE.joinpath(name).read_text(encoding="utf-8"))
    op.execute("""
        DROP FUNCTION kombu_message_place, kombu_message_parks, kombu_message_retry,
            broker_is_node_idle, broker_next_rank, broker_regroup;
        UPDATE kombu_schema SET version = 1""")
