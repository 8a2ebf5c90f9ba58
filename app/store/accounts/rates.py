"""Rate limits: one token bucket per key, exact among all processes."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

# in sql/rates.sql
_CHARGE = text("SELECT wait, remaining FROM rate_charge(:key, :per_minute, :cost, :needed)")
# a bucket in debt is kept until it would be full under any limit
_PRUNE = text("""
    DELETE FROM rate_buckets WHERE refilled_at < clock_timestamp() - interval '1 hour'
       AND (tokens >= 0 OR refilled_at < clock_timestamp() - interval '1 day')""")


@dataclass(frozen=True, slots=True)
class Charged:
    """A bucket after a request.

    wait: 0 if it was granted, or the seconds until it may be; remaining: whole requests left, negative in debt.
    """

    wait: float
    remaining: int


def take(tx: Tx, key: str, *, per_minute: int) -> Charged:
    """Take one request from a bucket of `per_minute`.

    Locks: the bucket's row, for this transaction, which should be a short one of its own; its commit waits for no disk.
    """
    return _charge(tx, key, per_minute=per_minute, cost=1, needed=1)


def spend(tx: Tx, key: str, *, per_minute: int, cost: int) -> Charged:
    """Take `cost` more for a request that was counted as one; a full bucket grants any cost, as a debt.

    A bucket that is full but for that request is enough, so the cost of a request is never forgiven.  Locks: as take.
    """
    return _charge(tx, key, per_minute=per_minute, cost=cost, needed=min(cost, per_minute - 1))


def _charge(tx: Tx, key: str, *, per_minute: int, cost: int, needed: int) -> Charged:
    given = {"per_minute": float(per_minute), "cost": float(cost), "needed": float(needed)}
    row = tx.run(_CHARGE, key=key, **given).one()
    return Charged(row.wait, row.remaining)


def prune(tx: Tx) -> int:
    """Delete buckets that were not used for an hour, because they are full again."""
    return tx.run(_PRUNE).rowcount
