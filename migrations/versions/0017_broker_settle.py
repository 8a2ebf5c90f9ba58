"""Broker: nodes say how often they look by themselves; deliveries are settled by a function.

Added only: a node of the release before goes on with its own statements, and is told of delayed messages as it was.
"""

from alembic import op
from celery_durable.functions import FUNCTIONS
from celery_durable.names import fill
from celery_durable.options import Options

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.execute("ALTER TABLE kombu_node ADD COLUMN poll_seconds double precision")
    for function in FUNCTIONS:
        op.execute(fill(function, Options()))


def downgrade() -> None:
    op.execute("ALTER TABLE kombu_node DROP COLUMN poll_seconds")
