"""Indexes on failed records, and what beat sends as rows.  The previous release notices neither."""

from pathlib import Path

from alembic import op

from migrations import online

revision = "0035"
down_revision = "0034"

ONLINE = {"analyses": "index analyses_failed", "spec_documents": "index spec_documents_failed"}

HERE = Path(__file__).parent


def upgrade() -> None:
    # what failed in a window, for the operator's page; only failed records pay for these
    failed = "(completed_at DESC) WHERE status = 'failed'"
    online.create_index("analyses_failed", f"ON analyses {failed}")
    online.create_index("spec_documents_failed", f"ON spec_documents {failed}")
    op.execute(HERE.joinpath("0035_console.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("DROP TABLE schedule_leader, schedule_entries")
    op.execute("DROP INDEX spec_documents_failed, analyses_failed")
