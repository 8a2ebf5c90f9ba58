"""Broker: version 4 of the schema of celery-durable, and the six queues.

Later versions are brought by migrations of their own (docs/adr/0049).
"""

from alembic import op
from celery_durable import schema

revision = "0036.2"
down_revision = "0036.1"

BROKER_VERSION = 4


def upgrade() -> None:
    schema.upgrade(op.get_bind(), to=BROKER_VERSION)
    op.execute("""
        INSERT INTO kombu_queue (name) VALUES
            ('analysis_priority'), ('analysis_default'), ('analysis_scheduled'),
            ('specview_priority'), ('specview_default'), ('specview_scheduled')""")


def downgrade() -> None:
    op.execute("""
        DROP VIEW broker_queue, broker_message, broker_group, broker_dead_letter, broker_node, broker_facts;
        DROP FUNCTION kombu_message_rank, kombu_message_wanted, kombu_message_sooner, kombu_message_publish,
            kombu_message_lease, kombu_message_claim, kombu_message_give_back, kombu_message_settle,
            kombu_message_take_in, kombu_message_promote, kombu_message_rescue, kombu_message_probe,
            kombu_message_poll, kombu_message_park, kombu_message_wake, kombu_message_redrive,
            kombu_message_estimate, kombu_message_count, kombu_message_numbers, kombu_message_summary,
            kombu_message_leases, kombu_message_facts, kombu_message_top, kombu_message_groups,
            kombu_message_place, kombu_message_parks, kombu_message_retry,
            broker_is_node_idle, broker_next_rank, broker_regroup,
            broker_group_facts, broker_park, broker_wake, broker_move, broker_forget, broker_request_cancel,
            broker_pause, broker_resume, broker_redrive, broker_channel;
        DROP TABLE kombu_schema, kombu_queue, kombu_message, kombu_group, kombu_node, kombu_dead_letter,
            kombu_broadcast;
        DROP SEQUENCE queue_id_sequence, message_id_sequence""")
