"""Running totals of what happened to jobs, for monitors; each event notes the transaction that wrote it.

Events that the previous release writes get the same note, by a default.  It counts nothing.
"""

from pathlib import Path

from alembic import op

revision = "0056"
down_revision = "0055"

LOCKS = {"job_events": "ACCESS EXCLUSIVE"}

HERE = Path(__file__).parent


def upgrade() -> None:
    op.execute(HERE.joinpath("0056_event_totals.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("DROP TABLE event_totals_position; DROP TABLE event_totals")
    op.execute("ALTER TABLE job_events DROP COLUMN written_by")
