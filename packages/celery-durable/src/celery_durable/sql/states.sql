-- Where a message stands, see tables.sql: one row of these three tables.

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
    reason text NOT NULL CHECK (reason IN ('eta', 'retry', 'snooze', 'parked')),
    due_at timestamptz CHECK ((due_at IS NULL) = (reason = 'parked')),  -- ready then; a parked one is woken
    priority smallint                       -- its message's
);
CREATE INDEX durable_waiting_due ON durable_waiting (queue_id, due_at) WHERE due_at IS NOT NULL;
-- The oldest of a group that waits to be woken.
CREATE INDEX durable_waiting_tenant ON durable_waiting (queue_id, reason, tenant, id);
CREATE INDEX durable_waiting_priority ON durable_waiting (queue_id, tenant, priority DESC, id)
    WHERE priority IS NOT NULL AND reason IN ('parked', 'snooze');

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
