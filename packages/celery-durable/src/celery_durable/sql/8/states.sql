-- Where a message stands, see tables.sql: one row of the first three tables.

CREATE TABLE durable_ready (
    id bigint PRIMARY KEY,
    queue_id integer NOT NULL,
    tenant text NOT NULL,
    rank bigint NOT NULL,                   -- the order of claims
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    priority smallint,                      -- its message's; 0: of one that gave its turn away; see priority.sql
    own_rank bigint                         -- the rank that it came with, if it has another turn now
);
-- A claim reads this one in its order.
CREATE INDEX durable_ready_order ON durable_ready (queue_id, rank, id);
-- The last ready message of a group.
CREATE INDEX durable_ready_tenant ON durable_ready (queue_id, tenant, rank, id);
-- The next message of a tenant, and whether a queue has one that is not just the next by its rank.
CREATE INDEX durable_ready_priority ON durable_ready (queue_id, tenant, priority DESC, coalesce(own_rank, rank), id)
    WHERE priority IS NOT NULL;
CREATE INDEX durable_ready_prioritized ON durable_ready (queue_id, rank) WHERE priority IS NOT NULL;

CREATE TABLE durable_lease (
    id bigint PRIMARY KEY,
    queue_id integer NOT NULL,
    rank bigint NOT NULL,                   -- where it stands if it comes back
    token uuid NOT NULL,                    -- one per delivery; every later write is fenced by it
    node bigint,                            -- advisory lock of the node; NULL when it holds none
    until timestamptz NOT NULL,
    started_at timestamptz                  -- the consumer's code really began on this delivery
);
-- With the end of the lease, so that a search can leave out the many that ended before.
CREATE INDEX durable_lease_node ON durable_lease (node, until);
CREATE INDEX durable_lease_until ON durable_lease (queue_id, until);

CREATE TABLE durable_waiting (
    id bigint PRIMARY KEY,
    queue_id integer NOT NULL,
    tenant text NOT NULL,
    reason text NOT NULL CHECK (reason IN ('eta', 'retry', 'snooze', 'parked', 'limited')),
    due_at timestamptz CHECK ((due_at IS NULL) = (reason IN ('parked', 'limited'))),  -- ready then; the others are woken
    priority smallint,                      -- its message's; of a limited one 0, too, if it goes by its age
    line bigint CHECK ((line IS NULL) = (reason <> 'limited')),  -- of a limited one: where it waits, and its place there
    rank bigint
);
CREATE INDEX durable_waiting_due ON durable_waiting (queue_id, due_at) WHERE due_at IS NOT NULL;
-- The oldest of a group that waits to be woken.
CREATE INDEX durable_waiting_tenant ON durable_waiting (queue_id, reason, tenant, id);
CREATE INDEX durable_waiting_priority ON durable_waiting (queue_id, tenant, priority DESC, id)
    WHERE priority IS NOT NULL AND reason IN ('parked', 'snooze');
-- A line in its order, the last one of a tenant, and its next one with a priority.
CREATE INDEX durable_waiting_line ON durable_waiting (line, rank, id) WHERE line IS NOT NULL;
CREATE INDEX durable_waiting_line_tenant ON durable_waiting (line, tenant, rank) WHERE line IS NOT NULL;
CREATE INDEX durable_waiting_line_priority ON durable_waiting (line, tenant, priority DESC, id)
    WHERE line IS NOT NULL AND priority IS NOT NULL;

-- How often messages of a queue may start, see limits.sql.
CREATE TABLE durable_limit (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue_id integer NOT NULL,
    task text,                              -- of the task of this name; NULL: of any
    tenant text,                            -- of this tenant, '' for none; NULL: of any
    per_tenant boolean NOT NULL CHECK (NOT per_tenant OR tenant IS NULL),  -- each tenant by itself
    seconds double precision NOT NULL,      -- between two starts; 0: the limit is removed, and goes with its last line;
                                            -- the same one set again is another one, with lines of its own
    burst integer NOT NULL,                 -- so many may start at once after a pause
    changed_at timestamptz                  -- its lines do not all know it yet
);
CREATE UNIQUE INDEX durable_limit_scope
    ON durable_limit (queue_id, per_tenant, coalesce(task, ''), coalesce('=' || tenant, '')) WHERE seconds > 0;
-- What a limit knows of what it counts, for each tenant if it is per tenant: there is no row while nothing started and
-- nobody waits.  Found by its time, of which the last one is not dead: an old transaction keeps the entries of each
-- start.  So no index of it is unique; claims lock it by its name (durable_line_lock).
CREATE TABLE durable_line (
    id bigint NOT NULL,
    queue_id integer NOT NULL,
    limit_id integer NOT NULL,
    tenant text NOT NULL,                   -- '' if the limit is not per tenant
    next_at timestamptz NOT NULL,           -- when one more may start if none may start at once
    woken bigint[] NOT NULL,                -- messages that may start next: they were woken, and are still ready
    wake_at timestamptz,                    -- when the next is woken; NULL: nobody waits
    rank bigint NOT NULL                    -- nobody waits below it
);
CREATE INDEX durable_line_last ON durable_line (limit_id, tenant, next_at DESC);
CREATE INDEX durable_line_wake ON durable_line (queue_id, wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX durable_line_idle ON durable_line (queue_id, next_at) WHERE wake_at IS NULL;

-- Every 32nd row, in an order of no meaning: to estimate numbers, see counting.sql.
CREATE INDEX durable_ready_sample ON durable_ready (queue_id, (hashint8(id))) INCLUDE (id, tenant)
    WHERE hashint8(id) & 31 = 0;
CREATE INDEX durable_ready_tenant_sample ON durable_ready (queue_id, tenant, (hashint8(id))) INCLUDE (id)
    WHERE hashint8(id) & 31 = 0;
CREATE INDEX durable_waiting_sample ON durable_waiting (queue_id, reason, (hashint8(id))) INCLUDE (id, tenant)
    WHERE hashint8(id) & 31 = 0;
CREATE INDEX durable_waiting_tenant_sample ON durable_waiting (queue_id, tenant, reason, (hashint8(id))) INCLUDE (id)
    WHERE hashint8(id) & 31 = 0;

-- As those of durable_message.
ALTER TABLE durable_ready SET (
    autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0
);
ALTER TABLE durable_lease SET (
    autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0
);
ALTER TABLE durable_waiting SET (
    autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0
);
ALTER TABLE durable_line SET (
    autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0
);
