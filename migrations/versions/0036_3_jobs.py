"""Jobs: repositories, requests, records, quota, slots, keys and events."""

from pathlib import Path

from alembic import op

revision = "0036.3"
down_revision = "0036.2"


def upgrade() -> None:
    op.execute(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("""
        DROP TABLE job_events, idempotency_keys, usage_events, quota_reservations, execution_slots, analyses,
            analysis_requests, codebases;
        DROP TYPE analysis_status""")
