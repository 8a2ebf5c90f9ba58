"""Broker: fair order, parked groups, known nodes; the hot statements as functions.

The functions are code, not data: this runs the package's present text, and so does every later migration that needs a
newer one.  What is in them is looked up when they run.
"""

from pathlib import Path

from alembic import op

BROKER_FUNCTIONS = Path(__file__).parents[1].joinpath("broker_functions.sql").read_text(encoding="utf-8")

revision = "0004"
down_revision = "0003"

UPGRADE = """
-- the order inside a queue is by rank: a group's n-th message behind the first ones of all others
ALTER TABLE kombu_queue ADD COLUMN rank_floor bigint NOT NULL DEFAULT 0;
ALTER TABLE kombu_message ADD COLUMN rank bigint, ADD COLUMN rank_step integer NOT NULL DEFAULT 100;
ALTER TABLE kombu_message DROP CONSTRAINT kombu_message_delay_reason_check;
ALTER TABLE kombu_message ADD CHECK (delay_reason IN ('eta', 'retry', 'snooze', 'parked'));
-- each publish locked the row of its queue
ALTER TABLE kombu_message DROP CONSTRAINT kombu_message_queue_id_fkey;
-- what waits keeps its order
UPDATE kombu_message SET rank = id, visible_at = coalesce(visible_at, enqueued_at) WHERE visible;

DROP INDEX kombu_message_ready, kombu_message_lease_owner;
CREATE INDEX kombu_message_ready ON kombu_message (queue_id, rank, id) WHERE visible;
CREATE INDEX kombu_message_group ON kombu_message (queue_id, (coalesce(user_id, '')), rank)
    WHERE visible AND rank IS NOT NULL;
CREATE INDEX kombu_message_leased ON kombu_message (lease_owner, visible_at) WHERE lease_owner IS NOT NULL;
CREATE INDEX kombu_message_parked ON kombu_message (queue_id, user_id, id) WHERE delay_reason = 'parked';

CREATE TABLE kombu_group (
    queue_id integer NOT NULL,
    name text NOT NULL,
    probe_at timestamptz NOT NULL,
    probe_seconds double precision NOT NULL,
    PRIMARY KEY (queue_id, name)
);

CREATE TABLE kombu_node (
    lock bigint PRIMARY KEY,
    name text NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp()
);
"""

DOWNGRADE = """
DROP FUNCTION kombu_message_rank, kombu_message_wanted, kombu_message_publish, kombu_message_lease, kombu_message_claim,
    kombu_message_wake, kombu_message_take_in, kombu_message_promote, kombu_message_rescue, kombu_message_probe,
    kombu_message_park, kombu_message_poll, kombu_message_redrive, kombu_message_groups, kombu_message_top,
    kombu_message_facts, kombu_message_leases, kombu_message_summary, kombu_message_numbers, kombu_message_count,
    kombu_message_estimate, kombu_message_sooner, kombu_message_settle, kombu_message_give_back;
DROP TABLE kombu_node, kombu_group;
DROP INDEX kombu_message_ready, kombu_message_group, kombu_message_leased, kombu_message_parked;
UPDATE kombu_message SET delay_reason = 'snooze', visible_at = clock_timestamp() WHERE delay_reason = 'parked';
ALTER TABLE kombu_message DROP CONSTRAINT kombu_message_delay_reason_check;
ALTER TABLE kombu_message ADD CHECK (delay_reason IN ('eta', 'retry', 'snooze'));
ALTER TABLE kombu_message ADD FOREIGN KEY (queue_id) REFERENCES kombu_queue;
ALTER TABLE kombu_message DROP COLUMN rank, DROP COLUMN rank_step;
ALTER TABLE kombu_queue DROP COLUMN rank_floor;
CREATE INDEX kombu_message_ready ON kombu_message (queue_id, id) WHERE visible;
CREATE INDEX kombu_message_lease_owner ON kombu_message (lease_owner) WHERE lease_owner IS NOT NULL;
"""


def upgrade() -> None:
    op.execute(UPGRADE)
    op.execute(BROKER_FUNCTIONS)


def downgrade() -> None:
    op.execute(DOWNGRADE)
