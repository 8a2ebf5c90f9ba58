"""The broker's tables, functions and views have a version now, and celery-durable brings them up to date.

A change of them in the package is a version there and a migration here.  On a new database the first of these
migrations brings the newest version at once, and the others find nothing to do.
"""

from alembic import op
from celery_durable import schema

revision = "0025"
down_revision = "0024"

BROKER_VERSION = 1


def upgrade() -> None:
    schema.upgrade(op.get_bind())


def downgrade() -> None:
    op.execute("""
        DROP VIEW broker_queue, broker_message, broker_group, broker_dead_letter, broker_facts;
        DROP FUNCTION broker_group_facts, broker_park, broker_wake, broker_move, broker_forget, broker_request_cancel,
                      broker_pause, broker_resume, broker_redrive, broker_channel;
        DROP TABLE kombu_schema""")
