"""Broker: nodes say how often they look by themselves; deliveries are settled by a function.

Added only: a node of the release before goes on with its own statements, and is told of delayed messages as it was.
"""

from pathlib import Path

from alembic import op

BROKER_FUNCTIONS = Path(__file__).parents[1].joinpath("broker_functions.sql").read_text(encoding="utf-8")

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.execute("ALTER TABLE kombu_node ADD COLUMN poll_seconds double precision")
    op.execute(BROKER_FUNCTIONS)


def downgrade() -> None:
    op.execute("ALTER TABLE kombu_node DROP COLUMN poll_seconds")
