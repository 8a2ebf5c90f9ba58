"""Indexes for the schedule, by host and last view, and for carried jobs; the previous release ignores both."""

from alembic import op

from migrations import online

revision = "0047"
down_revision = "0046"

ONLINE = {"codebases": "index codebases_schedule", "analysis_requests": "index analysis_requests_carried"}


def upgrade() -> None:
    online.create_index("codebases_schedule", "ON codebases (host, last_viewed_at DESC, id DESC) WHERE NOT is_private")
    # only a job that came into another user's line pays for it
    online.create_index(
        "analysis_requests_carried", "ON analysis_requests (job_id, carried_at DESC) WHERE carried_at IS NOT NULL"
    )


def downgrade() -> None:
    op.execute("DROP INDEX analysis_requests_carried")
    op.execute("DROP INDEX codebases_schedule")
