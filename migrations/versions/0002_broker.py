"""Broker: kombu's two tables with the columns of the durable transport, and the six queues."""

from alembic import op

revision = "0002"
down_revision = "0001"

UPGRADE = """
CREATE SEQUENCE queue_id_sequence;
CREATE SEQUENCE message_id_sequence;

CREATE TABLE kombu_queue (
    id integer PRIMARY KEY DEFAULT nextval('queue_id_sequence'),
    name varchar(200) NOT NULL UNIQUE,
    paused_at timestamptz
);
INSERT INTO kombu_queue (name) VALUES
    ('analysis_priority'), ('analysis_default'), ('analysis_scheduled'),
    ('specview_priority'), ('specview_default'), ('specview_scheduled');

CREATE TABLE kombu_message (
    id bigint PRIMARY KEY DEFAULT nextval('message_id_sequence'),
    visible boolean NOT NULL DEFAULT true,
    timestamp timestamp,
    payload text NOT NULL,
    version smallint NOT NULL DEFAULT 1,
    queue_id integer NOT NULL REFERENCES kombu_queue,
    task_id text,
    user_id text,
    unique_key text,
    visible_at timestamptz,
    delay_reason text CHECK (delay_reason IN ('eta', 'retry', 'snooze')),
    lease_token uuid,
    lease_owner bigint,
    started_at timestamptz,
    delivery_count integer NOT NULL DEFAULT 0,
    retry_count integer NOT NULL DEFAULT 0,
    snooze_count integer NOT NULL DEFAULT 0,
    lost_count integer NOT NULL DEFAULT 0,
    cancel_requested_at timestamptz,
    enqueued_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX kombu_message_task_id ON kombu_message (task_id);
CREATE UNIQUE INDEX kombu_message_unique_key ON kombu_message (unique_key) WHERE unique_key IS NOT NULL;
CREATE INDEX kombu_message_ready ON kombu_message (queue_id, id) WHERE visible;
CREATE INDEX kombu_message_due ON kombu_message (queue_id, visible_at) WHERE NOT visible;
CREATE INDEX kombu_message_lease_owner ON kombu_message (lease_owner) WHERE lease_owner IS NOT NULL;
CREATE INDEX kombu_message_started ON kombu_message (queue_id) WHERE started_at IS NOT NULL;
CREATE INDEX kombu_message_snoozed ON kombu_message (user_id, id) WHERE delay_reason = 'snooze';
-- every message is updated once or twice and then deleted: the default of a fifth of the table is far too late
ALTER TABLE kombu_message SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0
);

CREATE TABLE kombu_dead_letter (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue text,
    task_id text,
    user_id text,
    payload text,
    reason text NOT NULL,
    delivery_count integer,
    lost_count integer,
    enqueued_at timestamptz,
    died_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
"""

DOWNGRADE = """
DROP TABLE kombu_dead_letter, kombu_message, kombu_queue;
DROP SEQUENCE message_id_sequence;
DROP SEQUENCE queue_id_sequence;
"""


def upgrade() -> None:
    op.execute(UPGRADE)


def downgrade() -> None:
    op.execute(DOWNGRADE)
