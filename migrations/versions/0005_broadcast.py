"""Broadcast: a table for remote control and events, a row per message however many read it."""

from alembic import op

revision = "0005"
down_revision = "0004"

UPGRADE = """
-- not logged: a crash of the server may lose what would be out of date a minute later
CREATE UNLOGGED TABLE kombu_broadcast (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    exchange text NOT NULL,
    routing_key text NOT NULL,
    payload text NOT NULL,
    sent_by xid8 NOT NULL DEFAULT pg_current_xact_id(),
    sent_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX kombu_broadcast_new ON kombu_broadcast (exchange, sent_by);
CREATE INDEX kombu_broadcast_expired ON kombu_broadcast (expires_at);
ALTER TABLE kombu_broadcast SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0
);
"""


def upgrade() -> None:
    op.execute(UPGRADE)


def downgrade() -> None:
    op.execute("DROP TABLE kombu_broadcast")
