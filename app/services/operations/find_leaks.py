"""Search everything that the database keeps for secrets, as a dump, or a reader of the tables, would see it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic

from app.domain.canaries import Canaries, tokens
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.operations import canaries as kept
from app.store.operations.audit import TookTooLongError


@dataclass(frozen=True, slots=True)
class Leak:
    """A place that contains a secret.  secret: its name, never the secret itself; place, row: where it was found."""

    secret: str
    place: str
    row: str


#: (place, row, text found there)
_Text = tuple[str, str, str]


def find_leaks(uow: UnitOfWork, secrets: Mapping[str, str], *, within: timedelta) -> list[Leak]:
    """Rows that contain a secret or an API token.

    secrets: by name; within: time for everything.  Each table is read in a transaction of its own, so that vacuum is
    held back no longer than that takes.  Raises: TookTooLongError.
    """
    ends, canaries = monotonic() + within.total_seconds(), Canaries.of(secrets)
    with uow.begin() as tx:
        tables = kept.tables(tx)
        found = _leaks(tx, kept.others(tx), canaries)
    for table in tables:
        with uow.begin() as tx:
            found += _leaks(tx, list(_suspects(tx, table, canaries, ends)), canaries)
    return found


def _suspects(tx: Tx, table: str, canaries: Canaries, ends: float) -> Iterator[_Text]:
    """Candidate rows; they are checked later, because no other query can run while a table is read."""
    for rows in kept.rows(tx, table, within=timedelta(seconds=ends - monotonic())):
        if monotonic() > ends:
            raise TookTooLongError
        together = "\n".join(words for _, words in rows)
        if canaries.found(together) or tokens(together):
            yield from ((table, row, words) for row, words in rows if canaries.found(words) or tokens(words))


def _leaks(tx: Tx, texts: Iterable[_Text], canaries: Canaries) -> list[Leak]:
    found = list[Leak]()
    for place, row, words in texts:
        names = canaries.found(words) | ({"API token"} if kept.tokens(tx, tokens(words)) else set())
        found += [Leak(name, place, row) for name in sorted(names)]
    return found
