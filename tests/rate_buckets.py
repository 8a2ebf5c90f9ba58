"""Rate limits that do not depend on how long a test takes."""

from __future__ import annotations

from sqlalchemy import text

from app.store.core.unit_of_work import UnitOfWork

_STILL = text("UPDATE rate_buckets SET refilled_at = clock_timestamp() + interval '1 hour'")


def refill_nothing(uow: UnitOfWork) -> None:
    """Let no bucket be refilled before its next request: it was last used an hour from now."""
    with uow.begin() as tx:
        tx.run(_STILL)
