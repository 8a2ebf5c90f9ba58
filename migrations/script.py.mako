"""${message}

Expand, then backfill in batches, then contract, each in a release of its own.
"""

from alembic import op

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    op.execute("""""")


def downgrade() -> None:
    op.execute("""""")
