"""Read-only operators; version 3 of the broker's schema, which shows the nodes.

The previous release takes a read-only operator for a user without rights, so it grants nothing too much.
"""

from alembic import op
from celery_durable import schema

revision = "0030"
down_revision = "0029"

BROKER_VERSION = 3

LOCKS = {"users": "ACCESS EXCLUSIVE", "kombu_node": "ACCESS EXCLUSIVE"}


def upgrade() -> None:
    schema.upgrade(op.get_bind())
    op.execute("""
        ALTER TABLE users ADD COLUMN is_read_only_operator boolean NOT NULL DEFAULT false;
        COMMENT ON COLUMN users.is_read_only_operator IS
            'sees what operators see and changes nothing; without effect for an operator'""")


def downgrade() -> None:
    # on a new database an earlier migration brought the broker's version, and takes it back
    op.execute("ALTER TABLE users DROP COLUMN is_read_only_operator")
