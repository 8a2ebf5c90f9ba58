"""Indexes on failed records, and what beat sends as rows.  The previous release notices neither."""

from pathlib import Path

from alembic import op

revision = "0035"
down_revision = "0034"

HERE = Path(__file__).parent


def upgrade() -> None:
    op.execute(HERE.joinpath("0035_console.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("DROP TABLE schedule_leader, schedule_entries")
    op.execute("DROP INDEX spec_documents_failed, analyses_failed")
