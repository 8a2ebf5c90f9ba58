"""Read the bills of a closed month (docs/adr/0094)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from app.errors import Conflict, Message
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import bills
from app.store.operations.bills import BillRow

#: What one statement reads: at 10 million jobs a day, 400,000 bills.
WINDOW = timedelta(hours=1)


def export_bills(uow: UnitOfWork, month: datetime, *, now: datetime) -> Iterator[list[BillRow]]:
    """The bills of jobs that were accepted in a month of UTC, hour by hour, as one moment saw them.

    month: its first instant.  The transaction stays open until the last hour was read.
    Raises: Conflict before the first one if the month is not over, or one of its jobs may still be billed.
    """
    end = (month + timedelta(days=31)).replace(day=1)
    if now < end:
        raise Conflict(
            Message("The month ends at %(day)s 00:00 UTC; its bills are not complete before", day=f"{end:%Y-%m-%d}")
        )
    with uow.begin() as tx:
        bills.see_one_moment(tx)
        if left := bills.unfinished(tx, end):
            raise Conflict(
                Message(
                    "%(jobs)s jobs that were accepted before %(day)s have not ended, and may still be billed",
                    jobs=left,
                    day=f"{end:%Y-%m-%d}",
                )
            )
        begin = month
        while begin < end:
            if rows := bills.between(tx, begin, begin + WINDOW):
                yield rows
            begin += WINDOW
