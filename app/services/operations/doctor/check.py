"""The shape of a check, of what it uses, and of its outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from sqlalchemy import TextClause

from app.domain.objects import Objects
from app.services.operations.shown_rows import ShownRow
from app.services.policy import Policy
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations.faults.finding import find

#: Time for one statement of a check.
WITHIN = timedelta(seconds=10)
OK, FOUND, MENDED, UNKNOWN = "ok", "found", "mended", "unknown"


class CannotCheckError(Exception):
    """A check cannot say anything; its text is the reason."""


class CannotMendError(Exception):
    """A fault cannot be mended now; its text is the reason."""


@dataclass(frozen=True, slots=True)
class Instruments:
    """What the checks use.

    uow: as the application's role; as_owner: opens transactions as the owner of the tables; seconds: time limits of
    jobs by the first part of their queue's name; folder: FAIRLANE_HOME; hears: whether a node here would hear a
    notification; take_back: does once what idle nodes do, False if it is too early for that; migrate: migrates and
    returns the revision; objects: the store of what is not in the database, None if there is none; pause: seconds
    between two looks at what may be under way, longer than a node needs to notice that another one died.
    """

    uow: UnitOfWork
    policy: Policy
    actor: str
    seconds: Mapping[str, float]
    folder: Path
    as_owner: Callable[[], UnitOfWork]
    hears: Callable[[], bool]
    take_back: Callable[[], bool]
    migrate: Callable[[], str]
    objects: Objects | None = None
    pause: float = 4.0

    def rows(self, fault: TextClause, **values: object) -> list[ShownRow]:
        """The rows that a statement finds in a transaction of its own."""
        with self.uow.begin() as tx:
            return list(find(tx, fault, within=WITHIN, **values))


@dataclass(frozen=True, slots=True)
class Check:
    """One kind of fault.

    look: the rows that show it; mend: does what can be done, and says what that was.  Raises: CannotCheckError,
    CannotMendError.

    same: columns that name what a row is about, for a fault that may be under way: it counts if it is there at a second
    look some seconds later.
    """

    name: str
    looks_at: str
    means: str
    by_hand: str
    look: Callable[[Instruments], Sequence[ShownRow]]
    mend: Callable[[Instruments, Sequence[ShownRow]], str] | None = None
    same: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The outcome of a check.

    status: ok, found, mended, or unknown, with the reason in `why`; rows: as they were found; mended: what --fix did;
    by_hand: what is left to be done.
    """

    name: str
    status: str
    looked_at: str
    means: str
    seconds: float
    rows: list[ShownRow] = field(default_factory=list)
    why: str | None = None
    mended: str | None = None
    by_hand: str | None = None
