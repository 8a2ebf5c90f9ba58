"""Calls of language models: what each day cost, and which endpoints fail, for all processes together."""

from alembic import op

revision = "0024"
down_revision = "0023"

# The rows are few and each is written by every call: they are kept on one page with room to update in place.
UPGRADE = """
CREATE TABLE model_days (
    day date PRIMARY KEY,
    calls bigint NOT NULL DEFAULT 0,
    input_tokens bigint NOT NULL DEFAULT 0,
    output_tokens bigint NOT NULL DEFAULT 0,
    cost numeric NOT NULL DEFAULT 0
) WITH (fillfactor = 20);
COMMENT ON COLUMN model_days.day IS 'of UTC, by the clock of the database';
COMMENT ON COLUMN model_days.cost IS 'calls under way, and those that never came back, count with their estimate';
CREATE TABLE model_circuits (
    endpoint text PRIMARY KEY,
    failures integer NOT NULL DEFAULT 0,
    opened_at timestamptz,
    probe uuid,
    probing_until timestamptz,
    held_until timestamptz,
    asked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK (opened_at IS NOT NULL OR probe IS NULL),
    CHECK ((probe IS NULL) = (probing_until IS NULL))
) WITH (fillfactor = 20);
COMMENT ON COLUMN model_circuits.opened_at IS 'null while the circuit is closed';
COMMENT ON COLUMN model_circuits.probe IS 'the one call of all processes that tries whether the endpoint works again';
"""


def upgrade() -> None:
    op.execute(UPGRADE)


def downgrade() -> None:
    op.execute("DROP TABLE model_days, model_circuits")
