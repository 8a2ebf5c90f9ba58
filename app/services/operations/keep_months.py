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

    Returns: None if the tables were in use for too long; the next run has two months for it.  Locks: see the function
    in sql/webhooks.sql.  Each in a transaction of its own: who makes a part holds the default part, and would wait with
    it for those who use the table and wait for the default part.
    """
    try:
        with step(uow, dry_run=dry_run) as tx:
            made = webhook_deliveries.keep_months(tx, now=now, before=LONG_AGO).made
        with step(uow, dry_run=dry_run) as tx:
            done = webhook_deliveries.keep_months(tx, now=now, before=now - LOG_LIVES)
    except DBAPIError as error:
        if code_of(error) != LOCK_NOT_AVAILABLE:
            raise
        log.warning("months_in_use")
        return None
    done = done._replace(made=made)
    if (done.made or done.dropped) and not dry_run:
        log.info("months_kept", made=done.made, dropped=done.dropped)
    return done
