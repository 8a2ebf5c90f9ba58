"""Version 9 of the broker's schema: two primary keys are the newest indexes of their tables.

So messages are looked up by them.  What is locked already is found again by its place.  The release before calls the
same functions.
"""

from alembic import op
from celery_durable import schema

from migrations import online

revision = "0059"
down_revision = "0058"

BROKER_VERSION = 9
LOCKS = {"durable_ready": "ACCESS EXCLUSIVE", "durable_waiting": "ACCESS EXCLUSIVE"}
ONLINE = {
    "durable_ready": "index durable_ready_pkey in place of the one of that name",
    "durable_waiting": "index durable_waiting_pkey in place of the one of that name",
}


def upgrade() -> None:
    for table in LOCKS:  # the step of the package takes those that it finds
        online.create_index(f"{table}_key", f"ON {table} (id)", is_unique=True)
    schema.upgrade(op.get_bind(), to=BROKER_VERSION)


def downgrade() -> None:
    schema.replace_functions(op.get_bind(), BROKER_VERSION - 1)
    op.execute(f"UPDATE kombu_schema SET version = {BROKER_VERSION - 1}")
