"""Rate limits: one token bucket per key, exact among all processes."""

from __future__ import annotations

from sqlalchemy import text

from app.store.unit_of_work import Tx

_LEVEL = "least(:burst, b.tokens + :rate * extract(epoch FROM clock_timestamp() - b.refilled_at))"
# One statement, as a bucket that is new has no row to lock: to look first would let all its first requests pass.
# A refused request spends nothing, and so gets no row back.
_TAKE = text(f"""
    INSERT INTO rate_buckets AS b (key, tokens, refilled_at) VALUES (:key, :burst - 1, clock_timestamp())
    ON CONFLICT (key) DO UPDATE SET tokens = {_LEVEL} - 1, refilled_at = clock_timestamp() WHERE {_LEVEL} >= 1
    RETURNING key""")
# A crash of the server may forget the last requests of a bucket, which harms nobody; a wait for the disk at each would.
_NO_WAIT = text("SET LOCAL synchronous_commit = off")
_PEEK = text(f"SELECT {_LEVEL} FROM rate_buckets b WHERE key = :key")
_PRUNE = text("DELETE FROM rate_buckets WHERE refilled_at < clock_timestamp() - interval '1 hour'")


def take(tx: Tx, key: str, *, per_minute: int) -> float:
    """Take one request from a bucket of `per_minute`; returns 0, or the seconds until one is there.

    Locks: the bucket's row, for this transaction, which should be a short one of its own; its commit is asynchronous.
    """
    bucket = {"key": key, "burst": float(per_minute), "rate": per_minute / 60}
    tx.write(_NO_WAIT)
    if tx.run(_TAKE, **bucket).one_or_none() is not None:
        return 0.0
    left = float(tx.run(_PEEK, **bucket).scalar_one())
    return max(0.001, (1 - left) * 60 / per_minute)  # it may have filled up since, yet nothing was taken


def prune(tx: Tx) -> int:
    """Forget buckets unused for an hour, which are full again."""
    return tx.run(_PRUNE).rowcount
