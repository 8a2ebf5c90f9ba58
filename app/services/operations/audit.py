"""Check the invariants on the live database (docs/adr/0024)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from time import monotonic

from app.services.operations.find_leaks import find_leaks
from app.services.operations.shown_rows import ShownRow
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations.audit import TookTooLongError, broken
from app.store.operations.invariants import ALL, Invariant
from app.store.operations.invariants.tenants import SECRETS

ROWS = 100
WITHIN = timedelta(minutes=10)

HOLDS, BROKEN, UNKNOWN = "holds", "broken", "unknown"


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of checking one invariant.

    status: holds, broken, or unknown if time ran out; broken: the number of rows; rows: the first of them.
    """

    number: str
    title: str
    sentence: str
    status: str
    seconds: float
    broken: int = 0
    rows: list[ShownRow] = field(default_factory=list)


def audit(
    uow: UnitOfWork,
    *,
    since: datetime | None = None,
    most: int = ROWS,
    within: timedelta = WITHIN,
    invariants: Sequence[Invariant] = ALL,
    canaries: Mapping[str, str] | None = None,
) -> list[Finding]:
    """Run each invariant's query in a short read-only transaction of its own, so that vacuum is held back only briefly.

    since: leave out jobs that were accepted earlier; None: everything.  within: time for each query.  canaries: secrets
    by name to search for in every row, whatever its age; None: the rows are not read.
    """
    bounds = _Bounds(since, most, within)
    return [_ask(uow, invariant, bounds, canaries if invariant is SECRETS else None) for invariant in invariants]


@dataclass(frozen=True, slots=True)
class _Bounds:
    since: datetime | None
    most: int
    within: timedelta


def _ask(uow: UnitOfWork, invariant: Invariant, bounds: _Bounds, canaries: Mapping[str, str] | None) -> Finding:
    began, total, rows = monotonic(), 0, list[ShownRow]()
    try:
        with uow.begin() as tx:
            total, found = broken(tx, invariant, since=bounds.since, most=bounds.most, within=bounds.within)
        rows += found
        if canaries is not None:
            leaking = find_leaks(uow, canaries, within=bounds.within)
            total, rows = total + len(leaking), [*rows, *map(asdict, leaking)][: bounds.most]
        status = BROKEN if total else HOLDS
    except TookTooLongError:
        status = UNKNOWN
    seconds = round(monotonic() - began, 3)
    return Finding(invariant.number, invariant.title, invariant.sentence, status, seconds, total, rows)
