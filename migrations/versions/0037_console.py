"""For the operator's page: version 4 of the broker's schema, which shows lent queues, and two indexes.

The indexes are on snoozes and on users with a limit of their own.  The previous release notices none of this.
"""

from alembic import op
from celery_durable import schema

from migrations import online

revision = "0037"
down_revision = "0036"

BROKER_VERSION = 4

LOCKS = {"kombu_node": "ACCESS EXCLUSIVE"}
ONLINE = {"job_events": "index job_events_snoozed", "users": "index users_own_slot_limit"}


def upgrade() -> None:
    # only snoozes pay for the one, and only users with such a limit for the other
    online.create_index("job_events_snoozed", "ON job_events (at) WHERE event = 'snoozed'")
    online.create_index("users_own_slot_limit", "ON users (slot_limit DESC, id) WHERE slot_limit IS NOT NULL")
    schema.upgrade(op.get_bind())


def downgrade() -> None:
    # on a new database an earlier migration brought the broker's version, and takes it back
    op.execute("DROP INDEX users_own_slot_limit")
    op.execute("DROP INDEX job_events_snoozed")
