"""The invariants, each as one query for the rows that violate it (docs/adr/0024)."""

from __future__ import annotations

from app.store.operations.invariants import delivery, jobs, quota, tenants
from app.store.operations.invariants.invariant import Invariant

__all__ = ["ALL", "Invariant"]

#: In the order in which they are listed.
ALL: tuple[Invariant, ...] = (
    quota.LIMIT,
    jobs.END,
    quota.BILL,
    quota.RESERVATION,
    delivery.SLOTS,
    delivery.FENCE,
    jobs.RESULT,
    tenants.KEYS,
    delivery.WAIT,
    delivery.SCHEDULE,
    tenants.TENANTS,
    tenants.SECRETS,
    quota.SUMS,
    quota.RECONCILED,
)
