"""Broker: dead letters that can go back, and counts that are cheap at any size.

The functions go with 0004, which makes all of the present ones.
"""

from pathlib import Path

from alembic import op

BROKER_FUNCTIONS = Path(__file__).parents[1].joinpath("broker_functions.sql").read_text(encoding="utf-8")

revision = "0006"
down_revision = "0005"

UPGRADE = """
ALTER TABLE kombu_dead_letter ADD COLUMN unique_key text, ADD COLUMN rank_step integer NOT NULL DEFAULT 100;
CREATE INDEX kombu_dead_letter_queue ON kombu_dead_letter (queue, id);
CREATE INDEX kombu_dead_letter_sample ON kombu_dead_letter (queue, (hashint8(id)))
    INCLUDE (id) WHERE hashint8(id) & 31 = 0;

DROP INDEX kombu_message_parked;
CREATE INDEX kombu_message_waiting ON kombu_message (queue_id, delay_reason, (coalesce(user_id, '')), id)
    WHERE delay_reason IS NOT NULL;
CREATE INDEX kombu_message_sample ON kombu_message (queue_id, (coalesce(delay_reason, 'ready')), (hashint8(id)))
    INCLUDE (id, delay_reason, user_id) WHERE lease_token IS NULL AND hashint8(id) & 31 = 0;
CREATE INDEX kombu_message_group_sample ON kombu_message
    (queue_id, (coalesce(user_id, '')), (coalesce(delay_reason, 'ready')), (hashint8(id)))
    INCLUDE (id, delay_reason, user_id) WHERE lease_token IS NULL AND hashint8(id) & 31 = 0;
"""

DOWNGRADE = """
DROP INDEX kombu_message_waiting, kombu_message_sample, kombu_message_group_sample;
CREATE INDEX kombu_message_parked ON kombu_message (queue_id, user_id, id) WHERE delay_reason = 'parked';
DROP INDEX kombu_dead_letter_queue, kombu_dead_letter_sample;
ALTER TABLE kombu_dead_letter DROP COLUMN unique_key, DROP COLUMN rank_step;
"""


def upgrade() -> None:
    op.execute(UPGRADE)
    op.execute(BROKER_FUNCTIONS)


def downgrade() -> None:
    op.execute(DOWNGRADE)
