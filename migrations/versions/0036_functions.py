"""How long the messages of a queue wait for a slot of their own user."""

from pathlib import Path

from alembic import op

revision = "0036"
down_revision = "0035"

HERE = Path(__file__).parent


def upgrade() -> None:
    op.execute(HERE.joinpath("0036_functions.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("DROP FUNCTION queue_parked_since")
