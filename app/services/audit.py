"""Check on the live database what always holds (docs/adr/0024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

from app.store.audit import TookTooLongError, broken
from app.store.invariants import ALL, Invariant
from app.store.unit_of_work import UnitOfWork

ROWS = 100
WITHIN = timedelta(minutes=10)

HOLDS, BROKEN, UNKNOWN = "holds", "broken", "unknown"


@dataclass(frozen=True, slots=True)
class Finding:
    """status: holds, broken, or unknown when there was no time; broken: how many rows; rows: the first of them."""

    number: str
    title: str
    sentence: str
    status: str
    seconds: float
    broken: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)


def audit(
    uow: UnitOfWork,
    *,
    since: datetime | None = None,
    most: int = ROWS,
    within: timedelta = WITHIN,
    invariants: Sequence[Invariant] = ALL,
) -> list[Finding]:
    """Ask each invariant in a short read-only transaction of its own, so that vacuum is held back only briefly.

    since: leaves out what began before; None: everything.  within: of each question.
    """
    return [_ask(uow, invariant, since=since, most=most, within=within) for invariant in invariants]


def _ask(uow: UnitOfWork, invariant: Invariant, *, since: datetime | None, most: int, within: timedelta) -> Finding:
    asked, total, rows = monotonic(), 0, list[dict[str, Any]]()
    try:
        with uow.begin() as tx:
            total, rows = broken(tx, invariant, since=since, most=most, within=within)
        status = BROKEN if total else HOLDS
    except TookTooLongError:
        status = UNKNOWN
    seconds = round(monotonic() - asked, 3)
    return Finding(invariant.number, invariant.title, invariant.sentence, status, seconds, total, rows)
