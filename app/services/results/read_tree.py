"""Read one directory of a result: what it contains, with numbers of tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.directories import DirectoryEntry, entries
from app.services.jobs.visibility import read_result
from app.services.results.outline import Outline
from app.store.accounts.users import Account
from app.store.core.unit_of_work import UnitOfWork
from app.store.results import results

SIZE = 200  # entries on a page


@dataclass(frozen=True, slots=True)
class Level:
    """One page of a directory.

    under: the directory with its slash, "" for the root; entries: directories first; number, of: which page of how
    many; most: the largest number of tests of any entry.
    """

    under: str
    entries: Sequence[DirectoryEntry]
    number: int
    of: int
    most: int

    @property
    def above(self) -> list[tuple[str, str]]:
        """Name and path of each directory on the way here."""
        parts = self.under.rstrip("/").split("/") if self.under else []
        return [(part, "/".join(parts[: place + 1]) + "/") for place, part in enumerate(parts)]


def read_tree(
    uow: UnitOfWork,
    job_id: UUID,
    viewer: Account | None,
    outline: Outline,
    *,
    under: str = "",
    number: int = 1,
    now: datetime,
) -> Level:
    """The files of an outline as a tree, of which one directory is shown.  Reads the paths of all files below it.

    Raises: NotFound, Conflict.
    """
    counts = outline.counts()
    rows = read_result(uow, job_id, viewer, lambda tx: results.paths(tx, job_id, outline.files, under=under), now=now)
    found = entries({row.path: counts[row.ordinal] for row in rows}, under)
    of = max(1, -(-len(found) // SIZE))
    number = min(number, of)
    page = found[(number - 1) * SIZE : number * SIZE]
    return Level(under, page, number, of, max((entry.tests for entry in found), default=0))
