"""An index on snoozes, which the operator's page counts.  The previous release does not notice it."""

from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    # only snoozes pay for it
    op.execute("CREATE INDEX job_events_snoozed ON job_events (at) WHERE event = 'snoozed'")


def downgrade() -> None:
    op.execute("DROP INDEX job_events_snoozed")
