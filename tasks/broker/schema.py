"""The tables of the broker, as SQL.

For stand-alone use and for tests: `create_tables(cursor)`.  An application with migrations copies `DDL` into one of
them; nothing here runs when a worker starts (several processes creating tables at first use race, and some die).

A stock `sqla+` producer of kombu can insert into the same tables: every added column has a default or may be NULL.
"""

from typing import Protocol

#: In the order they are created; each one stands alone, so a migration can run them one by one.
DDL: tuple[str, ...] = (
    "CREATE SEQUENCE queue_id_sequence",
    "CREATE SEQUENCE message_id_sequence",
    """
    CREATE TABLE kombu_queue (
        id integer PRIMARY KEY DEFAULT nextval('queue_id_sequence'),
        name varchar(200) NOT NULL UNIQUE,
        paused_at timestamptz                   -- set: nobody claims from it
    )
    """,
    """
    CREATE TABLE kombu_message (
        id bigint PRIMARY KEY DEFAULT nextval('message_id_sequence'),
        visible boolean NOT NULL DEFAULT true,  -- ready to be claimed
        timestamp timestamp,                    -- stock kombu's own, unused here
        payload text NOT NULL,
        version smallint NOT NULL DEFAULT 1,    -- stock kombu's own, unused here
        queue_id integer NOT NULL REFERENCES kombu_queue (id),
        task_id text,
        user_id text,                           -- header "tenant": whom the message belongs to
        unique_key text,                        -- header "unique_key": at most one message holds it
        visible_at timestamptz,                 -- not visible: ready then (end of the delay or of the lease);
                                                -- visible: ready since then, NULL since it was enqueued
        delay_reason text CHECK (delay_reason IN ('eta', 'retry', 'snooze')),  -- NULL when ready or leased
        lease_token uuid,                       -- one per delivery; every later write is fenced by it
        lease_owner bigint,                     -- advisory lock of the node; NULL when it holds none
        started_at timestamptz,                 -- the consumer's code really began on this delivery
        delivery_count integer NOT NULL DEFAULT 0,  -- claims
        retry_count integer NOT NULL DEFAULT 0,     -- retries in place that were failures
        snooze_count integer NOT NULL DEFAULT 0,    -- retries in place that were snoozes
        lost_count integer NOT NULL DEFAULT 0,      -- started deliveries whose worker died
        cancel_requested_at timestamptz,        -- set by the application
        enqueued_at timestamptz NOT NULL DEFAULT clock_timestamp()
    )
    """,
    "CREATE UNIQUE INDEX kombu_message_task_id ON kombu_message (task_id)",
    "CREATE UNIQUE INDEX kombu_message_unique_key ON kombu_message (unique_key) WHERE unique_key IS NOT NULL",
    # The claim reads this one in order; it holds claimable rows only, so its cost does not grow with waiting or leased.
    "CREATE INDEX kombu_message_ready ON kombu_message (queue_id, id) WHERE visible",
    "CREATE INDEX kombu_message_due ON kombu_message (queue_id, visible_at) WHERE NOT visible",
    "CREATE INDEX kombu_message_lease_owner ON kombu_message (lease_owner) WHERE lease_owner IS NOT NULL",
    "CREATE INDEX kombu_message_started ON kombu_message (queue_id) WHERE started_at IS NOT NULL",
    "CREATE INDEX kombu_message_snoozed ON kombu_message (user_id, id) WHERE delay_reason = 'snooze'",
    # Every message is updated once or twice and then deleted: the default of a fifth of the table is far too late.
    """
    ALTER TABLE kombu_message SET (
        autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
        autovacuum_analyze_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0
    )
    """,
    """
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
        died_at timestamptz NOT NULL DEFAULT clock_timestamp()
    )
    """,
)


class Cursor(Protocol):
    """What is needed of a DB-API cursor."""

    def execute(self, query: str, /) -> object:
        """As DB-API."""


def create_tables(cursor: Cursor) -> None:
    """Create the broker's tables in the current schema, in the caller's transaction.  Raises when they exist."""
    for statement in DDL:
        cursor.execute(statement)
