"""Requests that count for several: a batch for each of its items."""

from alembic import op

revision = "0019"
down_revision = "0018"

# The request itself was counted before its body was read (0012), so a full bucket has all but one.  One that costs more
# than a bucket holds is let in when the bucket is full, and paid off afterwards: no cost is ever left out.
LEVEL = "least(per_minute, b.tokens + per_minute / 60 * extract(epoch FROM clock_timestamp() - b.refilled_at))"
NEEDED = "least(cost, per_minute - 1)"
SPEND = f"""
CREATE FUNCTION rate_spend(bucket text, per_minute double precision, cost double precision) RETURNS double precision
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO rate_buckets AS b (key, tokens, refilled_at) VALUES (bucket, per_minute - cost, clock_timestamp())
    ON CONFLICT (key) DO UPDATE SET tokens = {LEVEL} - cost, refilled_at = clock_timestamp() WHERE {LEVEL} >= {NEEDED};
    IF FOUND THEN
        RETURN 0;
    END IF;
    -- it may have filled up since, yet nothing was taken
    RETURN (SELECT greatest(0.001, ({NEEDED} - {LEVEL}) * 60 / per_minute) FROM rate_buckets b WHERE b.key = bucket);
END $$"""


def upgrade() -> None:
    op.execute(SPEND)


def downgrade() -> None:
    op.execute("DROP FUNCTION rate_spend")
