"""Indexes for the operator's page: on snoozes, and on users with a limit of their own.

The previous release does not notice them.
"""

from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    # only snoozes pay for the one, and only users with such a limit for the other
    op.execute("CREATE INDEX job_events_snoozed ON job_events (at) WHERE event = 'snoozed'")
    op.execute("CREATE INDEX users_own_slot_limit ON users (slot_limit DESC, id) WHERE slot_limit IS NOT NULL")


def downgrade() -> None:
    op.execute("DROP INDEX users_own_slot_limit")
    op.execute("DROP INDEX job_events_snoozed")
