"""Keep the parts of the tables that have one for each month (docs/adr/0094)."""

from __future__ import annotations

from datetime import UTC, datetime

import structlog
from sqlalchemy.exc import DBAPIError

from app.domain.webhooks import LOG_LIVES
from app.services.operations.run_in_batches import step
from app.store.core.database_errors import code_of
from app.store.core.unit_of_work import UnitOfWork
from app.store.webhooks import webhook_deliveries
from app.store.webhooks.webhook_deliveries import MonthsRow

#: Of which nothing is dropped.
LONG_AGO = datetime.min.replace(tzinfo=UTC)

#: SQLSTATE of a lock that was not to be had in the time that was given.
LOCK_NOT_AVAILABLE = "55P03"

log = structlog.get_logger(__name__)


def keep_months(uow: UnitOfWork, *, now: datetime, dry_run: bool = False) -> MonthsRow | None:
    """Make the parts of the months to come, and drop the months of which the log shows nothing any more.

    Returns: None if the tables were in use for too long, and something was left; the next run has two months for it.
    Locks: see the function in sql/webhooks.sql.  Each in a transaction of its own: who makes a part holds the default
    part, and would wait with it for those who use the table and wait for the default part.
    """
    made, done = _kept(uow, now=now, before=LONG_AGO, dry_run=dry_run), None
    if made is not None and (dropped := _kept(uow, now=now, before=now - LOG_LIVES, dry_run=dry_run)) is not None:
        done = dropped._replace(made=made.made)
    changed = done or made
    if changed is not None and (changed.made or changed.dropped) and not dry_run:
        log.info("months_kept", made=changed.made, dropped=changed.dropped)
    if done is None:
        log.warning("months_in_use")
    return done


def _kept(uow: UnitOfWork, *, now: datetime, before: datetime, dry_run: bool) -> MonthsRow | None:
    try:
        with step(uow, dry_run=dry_run) as tx:
            return webhook_deliveries.keep_months(tx, now=now, before=before)
    except DBAPIError as error:
        if code_of(error) != LOCK_NOT_AVAILABLE:
            raise
        return None
