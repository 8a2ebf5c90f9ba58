-- The tables of celery-durable at version 1 of its schema, and the six queues of the service.
CREATE SEQUENCE queue_id_sequence;
CREATE SEQUENCE message_id_sequence;

CREATE TABLE kombu_schema (version integer NOT NULL);
INSERT INTO kombu_schema VALUES (1);

CREATE TABLE kombu_queue (
    id integer PRIMARY KEY DEFAULT nextval('queue_id_sequence'),
    name varchar(200) NOT NULL UNIQUE,
    paused_at timestamptz,
    rank_floor bigint NOT NULL DEFAULT 0
);

CREATE TABLE kombu_message (
    id bigint PRIMARY KEY DEFAULT nextval('message_id_sequence'),
    visible boolean NOT NULL DEFAULT true,
    timestamp timestamp,
    payload text NOT NULL,
    version smallint NOT NULL DEFAULT 1,
    queue_id integer NOT NULL,
    task_id text,
    user_id text,
    unique_key text,
    visible_at timestamptz,
    delay_reason text CHECK (delay_reason IN ('eta', 'retry', 'snooze', 'parked')),
    lease_token uuid,
    lease_owner bigint,
    started_at timestamptz,
    delivery_count integer NOT NULL DEFAULT 0,
    retry_count integer NOT NULL DEFAULT 0,
    snooze_count integer NOT NULL DEFAULT 0,
    lost_count integer NOT NULL DEFAULT 0,
    cancel_requested_at timestamptz,
    enqueued_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    rank bigint,
    rank_step integer NOT NULL DEFAULT 100
);
CREATE UNIQUE INDEX kombu_message_task_id ON kombu_message (task_id);
CREATE UNIQUE INDEX kombu_message_unique_key ON kombu_message (unique_key) WHERE unique_key IS NOT NULL;
CREATE INDEX kombu_message_ready ON kombu_message (queue_id, rank, id) WHERE visible;
CREATE INDEX kombu_message_group ON kombu_message (queue_id, (coalesce(user_id, '')), rank)
    WHERE visible AND rank IS NOT NULL;
CREATE INDEX kombu_message_due ON kombu_message (queue_id, visible_at) WHERE NOT visible;
CREATE INDEX kombu_message_leased ON kombu_message (lease_owner, visible_at) WHERE lease_owner IS NOT NULL;
CREATE INDEX kombu_message_waiting ON kombu_message (queue_id, delay_reason, (coalesce(user_id, '')), id)
    WHERE delay_reason IS NOT NULL;
CREATE INDEX kombu_message_started ON kombu_message (queue_id) WHERE started_at IS NOT NULL;
CREATE INDEX kombu_message_sample ON kombu_message (queue_id, (coalesce(delay_reason, 'ready')), (hashint8(id)))
    INCLUDE (id, delay_reason, user_id) WHERE lease_token IS NULL AND hashint8(id) & 31 = 0;
CREATE INDEX kombu_message_group_sample ON kombu_message
    (queue_id, (coalesce(user_id, '')), (coalesce(delay_reason, 'ready')), (hashint8(id)))
    INCLUDE (id, delay_reason, user_id) WHERE lease_token IS NULL AND hashint8(id) & 31 = 0;
ALTER TABLE kombu_message SET (
    autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0
);

CREATE TABLE kombu_group (
    queue_id integer NOT NULL,
    name text NOT NULL,
    probe_at timestamptz NOT NULL,
    probe_seconds double precision NOT NULL,
    rank bigint,
    PRIMARY KEY (queue_id, name)
);

CREATE TABLE kombu_node (
    lock bigint PRIMARY KEY,
    name text NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    poll_seconds double precision
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
    died_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    unique_key text,
    rank_step integer NOT NULL DEFAULT 100
);
CREATE INDEX kombu_dead_letter_queue ON kombu_dead_letter (queue, id);
CREATE INDEX kombu_dead_letter_sample ON kombu_dead_letter (queue, (hashint8(id)))
        INCLUDE (id) WHERE hashint8(id) & 31 = 0;

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
    autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0
);

INSERT INTO kombu_queue (name) VALUES
    ('analysis_priority'), ('analysis_default'), ('analysis_scheduled'),
    ('specview_priority'), ('specview_default'), ('specview_scheduled');
