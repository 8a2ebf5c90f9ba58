"""The refusal to move an account whose jobs are not its own alone, or which is being deleted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar
from uuid import UUID

from app.errors import Conflict
from app.store.cells import arrivals, departures
from app.store.cells.departures import UnfinishedRow
from app.store.core.unit_of_work import Tx


class AccountBusy(Conflict):
    """The extension `waits_for` has the jobs that have to end before."""

    slug: ClassVar[str] = "account-busy"
    title: ClassVar[str] = "The account cannot move before a job ends"

    def __init__(self, detail: str, waits_for: Collection[UUID]) -> None:
        super().__init__(detail, waits_for=[str(job_id) for job_id in sorted(waits_for)])


def refuse_closed(tx: Tx, user_id: UUID) -> None:
    """Refuse an account whose deletion has begun: it would arrive without what was deleted, and live on.

    The caller has locked the users row.  Raises: Conflict.
    """
    if arrivals.is_closed(tx, user_id):
        raise Conflict("The account is being deleted; if that was interrupted, delete it again")


def refuse_busy(tx: Tx, user_id: UUID, unfinished: Sequence[UnfinishedRow]) -> None:
    """Refuse an account that shares an unfinished job: its message, its slot and its bill are in one cell only.

    unfinished: the jobs of the account.  Raises: AccountBusy.
    """
    if shared := [job.job_id for job in unfinished if job.is_shared and not job.has_left]:
        raise AccountBusy("Another account waits for the same unfinished job", shared)
    if dead := departures.letters(tx, user_id):
        raise AccountBusy("An operator has to put a dead letter back, or the sweep has to end its job", dead)
