"""Rate limits: one token bucket per key, exact among all processes."""

from __future__ import annotations

from sqlalchemy import text

from app.store.unit_of_work import Tx

# A refused request spends nothing.
_TAKE = text("""
    INSERT INTO rate_buckets AS b (key, tokens, refilled_at) VALUES (:key, :burst - 1, clock_timestamp())
    ON CONFLICT (key) DO UPDATE SET
        tokens = least(:burst, b.tokens + :rate * extract(epoch FROM clock_timestamp() - b.refilled_at)) - 1,
        refilled_at = clock_timestamp()""")
_PEEK = text("""
    SELECT least(:burst, tokens + :rate * extract(epoch FROM clock_timestamp() - refilled_at)) FROM rate_buckets
     WHERE key = :key FOR UPDATE""")
_PRUNE = text("DELETE FROM rate_buckets WHERE refilled_at < clock_timestamp() - interval '1 hour'")


def take(tx: Tx, key: str, *, per_minute: int) -> float:
    """Take one request from a bucket of `per_minute`; returns 0, or the seconds until one is there.

    Locks: the bucket's row, for this transaction, which should be a short one of its own.
    """
    rate = per_minute / 60
    left = tx.run(_PEEK, key=key, burst=float(per_minute), rate=rate).scalar_one_or_none()
    if left is not None and float(left) < 1:
        return (1 - float(left)) / rate
    tx.run(_TAKE, key=key, burst=float(per_minute), rate=rate)
    return 0.0


def prune(tx: Tx) -> int:
    """Forget buckets unused for an hour, which are full again."""
    return tx.run(_PRUNE).rowcount
