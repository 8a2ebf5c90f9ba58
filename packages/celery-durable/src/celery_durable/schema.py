"""The tables of the broker, as SQL.

For stand-alone use and for tests: `create_tables(cursor)`.  An application with migrations copies `DDL` into one of
them; nothing here runs when a worker starts (several processes creating tables at first use race, and some die).

A stock `sqla+` producer of kombu can insert into the same tables: every added column has a default or may be NULL.
"""

from typing import Protocol

from .functions import FUNCTIONS
from .names import fill
from .options import Options

QUEUE = """
    CREATE TABLE {queue} (
        id integer PRIMARY KEY DEFAULT nextval('queue_id_sequence'),
        name varchar(200) NOT NULL UNIQUE,
        paused_at timestamptz,                  -- set: nobody claims from it
        rank_floor bigint NOT NULL DEFAULT 0    -- below it nothing waits, or hardly anything: where to begin to read
    )"""

#: No foreign key to the queue: each publish would lock the queue's row, and publishers would meet there.
MESSAGE = """
    CREATE TABLE {message} (
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
    )"""

INDEXES = (
    "CREATE UNIQUE INDEX {name}_task_id ON {message} (task_id)",
    "CREATE UNIQUE INDEX {name}_unique_key ON {message} (unique_key) WHERE unique_key IS NOT NULL",
    # The claim reads this one in order; it holds claimable rows only, so its cost does not grow with waiting or leased.
    "CREATE INDEX {name}_ready ON {message} (queue_id, rank, id) WHERE visible",
    # The last ready message of a group.
    """CREATE INDEX {name}_group ON {message} (queue_id, (coalesce(user_id, '')), rank)
        WHERE visible AND rank IS NOT NULL""",
    "CREATE INDEX {name}_due ON {message} (queue_id, visible_at) WHERE NOT visible",
    # With the end of the lease, so that a search can leave out the many that ended before.
    "CREATE INDEX {name}_leased ON {message} (lease_owner, visible_at) WHERE lease_owner IS NOT NULL",
    # What waits for its time or to be woken, by group.
    """CREATE INDEX {name}_waiting ON {message} (queue_id, delay_reason, (coalesce(user_id, '')), id)
        WHERE delay_reason IS NOT NULL""",
    "CREATE INDEX {name}_started ON {message} (queue_id) WHERE started_at IS NOT NULL",
    # Every 32nd of those not leased, in an order of no meaning: to estimate numbers, see counting.py.
    """CREATE INDEX {name}_sample ON {message} (queue_id, (coalesce(delay_reason, 'ready')), (hashint8(id)))
        INCLUDE (id, delay_reason, user_id) WHERE lease_token IS NULL AND hashint8(id) & 31 = 0""",
    """CREATE INDEX {name}_group_sample ON {message}
        (queue_id, (coalesce(user_id, '')), (coalesce(delay_reason, 'ready')), (hashint8(id)))
        INCLUDE (id, delay_reason, user_id) WHERE lease_token IS NULL AND hashint8(id) & 31 = 0""",
)

#: Every message is updated once or twice and then deleted: the default of a fifth of the table is far too late.  A
#: fiftieth is too soon: with 1,000,000 waiting a pass over all indexes every few seconds takes a quarter of the rate.
VACUUM = """
    ALTER TABLE {message} SET (
        autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 1000,
        autovacuum_analyze_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0
    )"""

GROUP = """
    CREATE TABLE {group} (                      -- the parked groups
        queue_id integer NOT NULL,
        name text NOT NULL,
        probe_at timestamptz NOT NULL,          -- then one of its messages is woken, should nobody else do it
        probe_seconds double precision NOT NULL,
        rank bigint,                            -- where its next message stands, at the earliest
        PRIMARY KEY (queue_id, name)
    )"""

NODE = """
    CREATE TABLE {node} (                       -- the nodes that hold an advisory lock, or died with it
        lock bigint PRIMARY KEY,
        name text NOT NULL,
        since timestamptz NOT NULL DEFAULT clock_timestamp(),
        poll_seconds double precision           -- how often it looks by itself; NULL: unknown
    )"""

DEAD_LETTER = (
    """
    CREATE TABLE {dead_letter} (
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
    )""",
    "CREATE INDEX {dead_letter_name}_queue ON {dead_letter} (queue, id)",
    """CREATE INDEX {dead_letter_name}_sample ON {dead_letter} (queue, (hashint8(id)))
        INCLUDE (id) WHERE hashint8(id) & 31 = 0""",
)

#: Fan-out.  Not logged: a crash of the server may lose what would be out of date a minute later.
BROADCAST = (
    """
    CREATE UNLOGGED TABLE {broadcast} (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        exchange text NOT NULL,                 -- '' announces a reader of the exchange in routing_key
        routing_key text NOT NULL,
        payload text NOT NULL,
        sent_by xid8 NOT NULL DEFAULT pg_current_xact_id(),  -- what a reader's last snapshot did not see is new
        sent_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        expires_at timestamptz NOT NULL
    )""",
    "CREATE INDEX {broadcast_name}_new ON {broadcast} (exchange, sent_by)",
    "CREATE INDEX {broadcast_name}_expired ON {broadcast} (expires_at)",
    VACUUM.replace("{message}", "{broadcast}"),
)


def ddl(options: Options) -> tuple[str, ...]:
    """Statements that make the tables and functions, in their order; each one stands alone."""
    sequences = tuple(f"CREATE SEQUENCE IF NOT EXISTS {name}_id_sequence" for name in ("queue", "message"))
    tables = (QUEUE, MESSAGE, *INDEXES, VACUUM, GROUP, NODE, *DEAD_LETTER, *BROADCAST)
    return (*sequences, *(fill(statement, options) for statement in (*tables, *FUNCTIONS)))


DDL = ddl(Options())


class Cursor(Protocol):
    """What is needed of a DB-API cursor."""

    def execute(self, query: str, /) -> object:
        """As DB-API."""


def create_tables(cursor: Cursor, options: Options | None = None) -> None:
    """Create the broker's tables in the current schema, in the caller's transaction.  Raises when they exist."""
    for statement in ddl(options or Options()):
        cursor.execute(statement)
