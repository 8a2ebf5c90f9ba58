-- The tables of the broker, as SQL.
--
-- A stock `sqla+` producer of kombu can insert into the same tables: every added column has a default or may be NULL,
-- and the sequences have the names that kombu gives them.

CREATE SEQUENCE IF NOT EXISTS queue_id_sequence;
CREATE SEQUENCE IF NOT EXISTS message_id_sequence;

-- The version of what is here: one row.
CREATE TABLE kombu_schema (version integer NOT NULL);
INSERT INTO kombu_schema VALUES (0);

CREATE TABLE kombu_queue (
    id integer PRIMARY KEY DEFAULT nextval('queue_id_sequence'),
    name varchar(200) NOT NULL UNIQUE,
    paused_at timestamptz,                  -- set: nobody claims from it
    rank_floor bigint NOT NULL DEFAULT 0    -- below it nothing waits, or hardly anything: where to begin to read
);

-- No foreign key to the queue: each publish would lock the queue's row, and publishers would meet there.
CREATE TABLE kombu_message (
    id bigint PRIMARY KEY DEFAULT nextval('message_id_sequence'),
    visible boolean NOT NULL DEFAULT true,  -- ready to be claimed
    timestamp timestamp,                    -- stock kombu's own, unused here
    payload text NOT NULL,
    version smallint NOT NULL DEFAULT 1,    -- stock kombu's own, unused here
    queue_id integer NOT NULL,
    task_id text,
    user_id text,                           -- header "tenant": whose it is, the group of the fair order
    unique_key text,                        -- header "unique_key": at most one message holds it
    visible_at timestamptz,                 -- not visible: ready then (end of the delay or of the lease), NULL when
                                            -- parked; visible: ready since then
    delay_reason text CHECK (delay_reason IN ('eta', 'retry', 'snooze', 'parked')),  -- NULL when ready or leased
    rank bigint,                            -- order of the ready ones; NULL: a stock producer's, to be taken in
    rank_step integer NOT NULL DEFAULT 100, -- 100 / weight: how far behind its group's last one
    lease_token uuid,                       -- one per delivery; every later write is fenced by it
    lease_owner bigint,                     -- advisory lock of the node; NULL when it holds none
    started_at timestamptz,                 -- the consumer's code really began on this delivery
    delivery_count integer NOT NULL DEFAULT 0,  -- claims
    retry_count integer NOT NULL DEFAULT 0,     -- retries in place that were failures
    snooze_count integer NOT NULL DEFAULT 0,    -- retries in place that were snoozes
    lost_count integer NOT NULL DEFAULT 0,      -- started deliveries whose worker died
    cancel_requested_at timestamptz,        -- set by the application
    enqueued_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- One message of a task for each queue: an exchange may route a task to several.  With its condition the index is no
-- key of the table, so that a message may go to another queue while somebody holds it FOR KEY SHARE.
CREATE UNIQUE INDEX kombu_message_task_id ON kombu_message (task_id, queue_id) WHERE task_id IS NOT NULL;
CREATE UNIQUE INDEX kombu_message_unique_key ON kombu_message (unique_key) WHERE unique_key IS NOT NULL;
-- The claim reads this one in order; it holds claimable rows only, so its cost does not grow with waiting or leased.
CREATE INDEX kombu_message_ready ON kombu_message (queue_id, rank, id) WHERE visible;
-- The last ready message of a group.
CREATE INDEX kombu_message_group ON kombu_message (queue_id, (coalesce(user_id, '')), rank)
    WHERE visible AND rank IS NOT NULL;
CREATE INDEX kombu_message_due ON kombu_message (queue_id, visible_at) WHERE NOT visible;
-- With the end of the lease, so that a search can leave out the many that ended before.
CREATE INDEX kombu_message_leased ON kombu_message (lease_owner, visible_at) WHERE lease_owner IS NOT NULL;
-- What waits for its time or to be woken, by group.
CREATE INDEX kombu_message_waiting ON kombu_message (queue_id, delay_reason, (coalesce(user_id, '')), id)
    WHERE delay_reason IS NOT NULL;
CREATE INDEX kombu_message_started ON kombu_message (queue_id) WHERE started_at IS NOT NULL;
-- Every 32nd of those not leased, in an order of no meaning: to estimate numbers, see counting.sql.
CREATE INDEX kombu_message_sample ON kombu_message (queue_id, (coalesce(delay_reason, 'ready')), (hashint8(id)))
    INCLUDE (id, delay_reason, user_id) WHERE lease_token IS NULL AND hashint8(id) & 31 = 0;
CREATE INDEX kombu_message_group_sample ON kombu_message
    (queue_id, (coalesce(user_id, '')), (coalesce(delay_reason, 'ready')), (hashint8(id)))
    INCLUDE (id, delay_reason, user_id) WHERE lease_token IS NULL AND hashint8(id) & 31 = 0;

-- Every message is updated once or twice and then deleted: the default of a fifth of the table is far too late.  A
-- fiftieth is too soon: with 1,000,000 waiting a pass over all indexes every few seconds takes a quarter of the rate.
ALTER TABLE kombu_message SET (
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
