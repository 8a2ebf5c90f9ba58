"""Broker: version 1 of the schema of celery-durable, as a frozen copy, and the six queues.

Later versions are brought by migrations of their own, which call `celery_durable.schema.upgrade` (docs/adr/0049).
"""

from pathlib import Path

from alembic import op

revision = "0000.2"
down_revision = "0000.1"

BROKER_VERSION = 1

HERE = Path(__file__).parent


def upgrade() -> None:
    for name in ("0000_2_broker.sql", "0000_2_broker_functions.sql"):
        op.execute(HERE.joinpath(name).read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("""
        DROP VIEW broker_queue, broker_message, broker_group, broker_dead_letter, broker_facts;
        DROP FUNCTION kombu_message_rank, kombu_message_wanted, kombu_message_sooner, kombu_message_publish,
            kombu_message_lease, kombu_message_claim, kombu_message_give_back, kombu_message_settle,
            kombu_message_take_in, kombu_message_promote, kombu_message_rescue, kombu_message_probe,
            kombu_message_poll, kombu_message_park, kombu_message_wake, kombu_message_redrive,
            kombu_message_estimate, kombu_message_count, kombu_message_numbers, kombu_message_summary,
            kombu_message_leases, kombu_message_facts, kombu_message_top, kombu_message_groups,
            broker_group_facts, broker_park, broker_wake, broker_move, broker_forget, broker_request_cancel,
            broker_pause, broker_resume, broker_redrive, broker_channel;
        DROP TABLE kombu_schema, kombu_queue, kombu_message, kombu_group, kombu_node, kombu_dead_letter,
            kombu_broadcast;
        DROP SEQUENCE queue_id_sequence, message_id_sequence""")
