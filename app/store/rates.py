"""Rate limits: one token bucket per key, exact among all processes."""

from __future__ import annotations

from sqlalchemy import text

from app.store.unit_of_work import Tx

# both functions are in sql/rates.sql
_TAKE = text("SELECT rate_take(:key, :per_minute)")
_SPEND = text("SELECT rate_spend(:key, :per_minute, :cost)")
# a bucket in debt is kept until it would be full under any limit
_PRUNE = text("""
    DELETE FROM rate_buckets WHERE refilled_at < clock_timestamp() - interval '1 hour'
       AND (tokens >= 0 OR refilled_at < clock_timestamp() - interval '1 day')""")


def take(tx: Tx, key: str, *, per_minute: int) -> float:
    """Take one request from a bucket of `per_minute`.  Returns: 0, or the seconds until one is available.

    Locks: the bucket's row, for this transaction, which should be a short one of its own; its commit waits for no disk.
    """
    return float(tx.run(_TAKE, key=key, per_minute=float(per_minute)).scalar_one())


def spend(tx: Tx, key: str, *, per_minute: int, cost: int) -> float:
    """Take `cost` more for a request that was counted as one; a full bucket grants any cost, as a debt.

    Returns and locks: as take.
    """
    return float(tx.run(_SPEND, key=key, per_minute=float(per_minute), cost=float(cost)).scalar_one())


def prune(tx: Tx) -> int:
    """Delete buckets that were not used for an hour, because they are full again."""
    return tx.run(_PRUNE).rowcount
