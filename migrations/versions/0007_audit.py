"""Audit: what the daily reconciliation found, the limit a slot was taken under, and indexes for windows of time."""

from alembic import op

revision = "0007"
down_revision = "0006"

UPGRADE = """
CREATE TABLE reconciliations (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ran_at timestamptz NOT NULL,
    since timestamptz NOT NULL,
    jobs bigint NOT NULL,
    events bigint NOT NULL,
    differences jsonb NOT NULL
);
COMMENT ON COLUMN reconciliations.differences IS 'a row per user and period whose two sides are not equal';

ALTER TABLE execution_slots ADD COLUMN slot_limit integer;
COMMENT ON COLUMN execution_slots.slot_limit IS 'the limit the slot was taken under; a plan may be lowered meanwhile';

-- a few pages each, so that a window of time is not paid for by the accept and the finish
CREATE INDEX analysis_requests_when ON analysis_requests USING brin (requested_at);
CREATE INDEX usage_events_when ON usage_events USING brin (accepted_at);
CREATE INDEX job_events_when ON job_events USING brin (at);
-- events so rare that nobody pays for the index
CREATE INDEX job_events_rare ON job_events (event, job_id)
    WHERE event IN ('payer_came_back', 'reservation_orphaned');
"""

DOWNGRADE = """
DROP INDEX job_events_rare, job_events_when, usage_events_when, analysis_requests_when;
ALTER TABLE execution_slots DROP COLUMN slot_limit;
DROP TABLE reconciliations;
"""


def upgrade() -> None:
    op.execute(UPGRADE)


def downgrade() -> None:
    op.execute(DOWNGRADE)
