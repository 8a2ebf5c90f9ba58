-- The tables of the broker, as SQL.
--
-- Where a message stands is its state.  Its payload and counts are a row of durable_message, which no claim changes, and
-- exactly one other row says what becomes of it: in durable_ready it can be claimed, in durable_lease a node holds it, in
-- durable_waiting it waits for its time or to be woken.  Who changes its state deletes that row and inserts another one.
--
-- There are no foreign keys.  Of a queue, because each publish would lock the queue's row, and publishers would meet
-- there.  Of a message, because each move would lock the message's row.
--
-- `tenant` is '' in the three tables, and NULL in durable_message, for a message of no tenant: so each of their indexes
-- finds it with one comparison.

CREATE SEQUENCE IF NOT EXISTS queue_id_sequence;
CREATE SEQUENCE IF NOT EXISTS message_id_sequence;

-- The version of what is here: one row.
CREATE TABLE kombu_schema (version integer NOT NULL);
INSERT INTO kombu_schema VALUES (0);

CREATE TABLE durable_queue (
    id integer PRIMARY KEY DEFAULT nextval('queue_id_sequence'),
    name varchar(200) NOT NULL UNIQUE,
    paused_at timestamptz,                  -- set: nobody claims from it
    rank_floor bigint NOT NULL DEFAULT 0,   -- below it nothing waits, or hardly anything: where to begin to read
    has_priorities boolean NOT NULL DEFAULT false,  -- a claim has found a message with one; it stays so
    has_limits boolean NOT NULL DEFAULT false       -- claims look for limits, see limits.sql
);

CREATE TABLE durable_message (
    id bigint PRIMARY KEY DEFAULT nextval('message_id_sequence'),
    payload text NOT NULL,
    queue_id integer NOT NULL,
    task_id text,
    tenant text,                            -- header "tenant": whose it is, the group of the fair order
    unique_key text,                        -- header "unique_key": at most one message holds it
    step integer NOT NULL DEFAULT 100,      -- 100 / weight: how far its rank is behind its group's last one
    delivery_count integer NOT NULL DEFAULT 0,  -- deliveries that are over; while it is leased there is one more
    retry_count integer NOT NULL DEFAULT 0,     -- retries in place that were failures
    snooze_count integer NOT NULL DEFAULT 0,    -- retries in place that were snoozes
    lost_count integer NOT NULL DEFAULT 0,      -- started deliveries whose worker died
    cancel_requested_at timestamptz,        -- set by the application
    enqueued_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    priority smallint                       -- 1 to 9: among those of its tenant; NULL: 0, the lowest
);
-- One message of a task for each queue: an exchange may route a task to several.  With its condition the index is no
-- key of the table, so that a message may go to another queue while somebody holds it FOR KEY SHARE.
CREATE UNIQUE INDEX durable_message_task ON durable_message (task_id, queue_id) WHERE task_id IS NOT NULL;
CREATE UNIQUE INDEX durable_message_unique_key ON durable_message (unique_key) WHERE unique_key IS NOT NULL;

-- Every row is deleted soon: the default of a fifth of the table is far too late.  A fiftieth is too soon: with 1,000,000
-- waiting a pass over all indexes every few seconds takes a quarter of the rate.
ALTER TABLE durable_message SET (
    autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0
);
CREATE TABLE kombu_group (                      -- the parked groups
    queue_id integer NOT NULL,
    name text NOT NULL,
    probe_at timestamptz NOT NULL,          -- then one of its messages is woken, should nobody else do it
    probe_seconds double precision NOT NULL,
    rank bigint,                            -- where its next message stands, at the earliest
    PRIMARY KEY (queue_id, name)
);

CREATE TABLE kombu_node (                       -- the nodes that hold an advisory lock, or died with it
    lock bigint PRIMARY KEY,
    name text NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    poll_seconds double precision,          -- how often it looks by itself; NULL: unknown
    queues text[],                          -- what it claims from; NULL: it has not polled yet
    prefetch_count integer,                 -- how many messages it takes at once; 0: any number
    spare_queues jsonb,                     -- {queue: so many of those it keeps free of it}; NULL: none
    suspected_at timestamptz                -- its lock was found free then, and it has not been back
);
-- When the nodes were judged, see upkeep.sql: one row, or none yet.  Not logged: it is written each second, and what a
-- crash forgets is done again.
CREATE UNLOGGED TABLE kombu_judgement (
    judged_at timestamptz NOT NULL,
    any_leases boolean NOT NULL,            -- a node held some
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one)
);

CREATE TABLE kombu_dead_letter (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue text,
    task_id text,
    user_id text,
    payload text,
    reason text NOT NULL,                   -- 'undecodable', 'rejected' or 'lost'
    delivery_count integer,
    lost_count integer,
    enqueued_at timestamptz,
    died_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    unique_key text,                        -- for its way back
    rank_step integer NOT NULL DEFAULT 100
);
CREATE INDEX kombu_dead_letter_queue ON kombu_dead_letter (queue, id);
CREATE INDEX kombu_dead_letter_sample ON kombu_dead_letter (queue, (hashint8(id)))
        INCLUDE (id) WHERE hashint8(id) & 31 = 0;

-- Fan-out.  Not logged: a crash of the server may lose what would be out of date a minute later.
CREATE UNLOGGED TABLE kombu_broadcast (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    exchange text NOT NULL,                 -- '' announces a reader of the exchange in routing_key
    routing_key text NOT NULL,
    payload text NOT NULL,
    sent_by xid8 NOT NULL DEFAULT pg_current_xact_id(),  -- what a reader's last snapshot did not see is new
    sent_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX kombu_broadcast_new ON kombu_broadcast (exchange, sent_by);
CREATE INDEX kombu_broadcast_expired ON kombu_broadcast (expires_at);
ALTER TABLE kombu_broadcast SET (
    autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0
);
