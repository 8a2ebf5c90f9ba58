"""Rate limits: one token bucket per key, exact among all processes."""

from __future__ import annotations

from sqlalchemy import text

from app.store.unit_of_work import Tx

# the function is in migration 0012
_TAKE = text("SELECT rate_take(:key, :per_minute)")
_PRUNE = text("DELETE FROM rate_buckets WHERE refilled_at < clock_timestamp() - interval '1 hour'")


def take(tx: Tx, key: str, *, per_minute: int) -> float:
    """Take one request from a bucket of `per_minute`; returns 0, or the seconds until one is there.

    Locks: the bucket's row, for this transaction, which should be a short one of its own; its commit waits for no disk.
    """
    return float(tx.run(_TAKE, key=key, per_minute=float(per_minute)).scalar_one())


def prune(tx: Tx) -> int:
    """Forget buckets unused for an hour, which are full again."""
    return tx.run(_PRUNE).rowcount
