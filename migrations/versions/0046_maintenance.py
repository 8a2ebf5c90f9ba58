"""A queue for maintenance, and the days that are reconciled.  The previous release notices neither."""

from pathlib import Path

from alembic import op

revision = "0046"
down_revision = "0045"

HERE = Path(__file__).parent


def upgrade() -> None:
    op.execute(HERE.joinpath("0046_maintenance.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("DROP TABLE reconciled_days")
    op.execute("DELETE FROM kombu_message USING kombu_queue q WHERE queue_id = q.id AND q.name = 'maintenance'")
    op.execute("DELETE FROM kombu_queue WHERE name = 'maintenance'")
