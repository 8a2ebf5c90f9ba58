"""Find the cell in which an account lives, by what somebody who wants to be let in has.

The directory knows accounts and addresses, and learns keys: when a token, a session or a link is first used, the cells
are asked whose it is.  So nothing has to be written in two databases when a key is made, and none of it can be lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.domain.cells import AccountCell
from app.lru_cache import LruCache
from app.services.accounts import sessions
from app.services.cells.cells import Cells
from app.services.cells.register import note
from app.services.cells.threads import CellThreads, SilentError
from app.store.accounts.credentials import hashed
from app.store.cells import directory, keys
from app.store.cells.keys import PersonRow, Whose
from app.store.core.unit_of_work import Tx, UnitOfWork

#: Keys whose cell a process remembers, 300 bytes each; and those of nobody, which browsers send with every request
#: while they keep a session that has ended.
REMEMBERED, NOBODYS = 50_000, 10_000
NOBODYS_SECONDS = 10.0
#: Threads that may wait for the directory, which is asked once for each key, and the connections of a process with it:
#: further threads would wait for one of these, five seconds after the other if the directory is away.
MOST_AT_DIRECTORY = 4
log = structlog.get_logger(__name__)


class CellAwayError(Exception):
    """No cell that answers knows the key, and this one does not answer.  cell: its name."""

    def __init__(self, cell: str) -> None:
        super().__init__(f"cell {cell} is away")
        self.cell = cell


class DirectoryAwayError(Exception):
    """The directory does not answer."""


@dataclass
class AccountCells:
    """What a process knows of who lives where.

    A key that it remembers is sent to its cell without asking anybody.  If the account has moved meanwhile, that cell
    has no such account any more and refuses it, and `after_refusal` says where it is now.

    threads: those that wait for each cell; clock: seconds that only grow.
    """

    cells: Cells
    clock: Callable[[], float] = time.monotonic
    threads: dict[str, CellThreads] = field(init=False)
    at_directory: CellThreads = field(default_factory=lambda: CellThreads(MOST_AT_DIRECTORY))
    _known: LruCache[bytes, str] = field(default_factory=lambda: LruCache(REMEMBERED))
    _nobodys: LruCache[bytes, float] = field(default_factory=lambda: LruCache(NOBODYS))

    def __post_init__(self) -> None:
        self.threads = {cell: CellThreads() for cell in self.cells.uows}

    def remembered(self, key: bytes) -> str | None:
        """The cell in which this process found the account of a key, the hash of a secret."""
        return self._known.get(key)

    def of_key(self, key: bytes) -> str | None:
        """The cell of the account with this key; None if nobody has it.  Raises: CellAwayError, DirectoryAwayError."""
        if (self._nobodys.get(key) or 0.0) > self.clock():
            return None
        with self._directory() as tx:
            place = directory.place_of_key(tx, key)
        place = place or self._found(key, lambda tx: keys.owner(tx, key))
        if place is None:
            self._nobodys.keep(key, self.clock() + NOBODYS_SECONDS)
            return None
        cell = self._cell(place, lambda tx: keys.owner(tx, key))
        self._keep(key, cell)
        return cell

    def of_address(self, email: str) -> str | None:
        """The cell of the account with this e-mail address; None if nobody has it.  Raises: DirectoryAwayError.

        The cells are not asked: an unknown address would take longer than a known one, and wait for one that is away.
        """
        with self._directory() as tx:
            place = directory.place_of_address(tx, email)
        return self._cell(place, lambda tx: keys.person(tx, email)) if place else None

    def of_user(self, user_id: UUID) -> str | None:
        """The cell of an account; None if the directory does not know it.  Raises: DirectoryAwayError."""
        with self._directory() as tx:
            place = directory.place_of(tx, user_id)
        return self._cell(place, lambda tx: keys.person_of(tx, user_id)) if place else None

    def of_github(self, github_id: int, own: str) -> str | None:
        """The cell of the account that is linked to this account of GitHub; None if none is.

        A link may have been removed, and another account linked, since the directory learned it: so its cell is asked.
        own: the cell that is asked first.  Raises: CellAwayError, DirectoryAwayError, SilentError, SQLAlchemyError.
        """
        key, whose = keys.github(github_id), partial(keys.owner_of_github, github_id=github_id)
        with self.cells.uows[own].once() as tx:  # whose thread the request holds
            if whose(tx):
                return own
        with self._directory() as tx:
            place = directory.place_of_key(tx, key)
        if place and self._person_in(cell := self._cell(place, whose), whose):
            return cell
        found = self._found(key, whose)
        return self._cell(found, whose) if found else None

    @contextmanager
    def answering(self, cell: str) -> Iterator[UnitOfWork]:
        """Transactions in a cell, while one of its threads is held.  Raises: CellAwayError, SilentError."""
        if cell not in self.threads:
            raise CellAwayError(cell)
        with self.threads[cell].one():
            yield self.cells.uows[cell]

    def after_refusal(self, key: bytes, refused: Collection[str]) -> str | None:
        """The cell to ask when `refused` did not know the key's account; None if the key is good nowhere else.

        Raises: DirectoryAwayError.
        """
        with self._directory() as tx:
            place = directory.place_of_key(tx, key)
        return next((cell for cell in place.cells() if cell not in refused), None) if place else None

    def lives_in(self, key: bytes, cell: str) -> None:
        """Note which cell has answered for the account of a key."""
        if self._known.get(key) != cell:
            self._keep(key, cell)

    def sign_out(self, secret: str, *, but: str) -> None:
        """End the session of a browser that has begun another one in the cell `but`, if its cell can be reached."""
        key, refused = hashed(secret), list[str]()
        try:
            cell = self.remembered(key) or self.of_key(key)
            while cell in self.threads and (refused or cell != but):
                with self.answering(cell) as uow:
                    if sessions.sign_out(uow, secret):
                        return
                refused.append(cell)
                cell = self.after_refusal(key, refused)  # the account may have moved meanwhile
        except (SQLAlchemyError, SilentError, CellAwayError, DirectoryAwayError) as error:
            log.warning("session_not_ended", error=type(error).__name__)

    def _keep(self, key: bytes, cell: str) -> None:
        if cell in self.cells.uows:  # else this process does not know a new cell yet, or an old one any more
            self._known.keep(key, cell)

    @contextmanager
    def _directory(self) -> Iterator[Tx]:
        try:
            with self.at_directory.one(), self.cells.directory.once() as tx:
                yield tx
        except (SQLAlchemyError, SilentError) as error:
            log.warning("directory_away", error=type(error).__name__)
            raise DirectoryAwayError from error

    def _found(self, key: bytes, whose: Whose) -> AccountCell | None:
        """Ask each cell, and let the directory know the key.  Raises: CellAwayError.

        One that is silent is asked last.  All but the last one are asked a second time: an account that moves meanwhile
        may have been nowhere when it was looked for, as it is in its new cell before it leaves the old one.
        """
        names, away = sorted(self.threads, key=lambda cell: self.threads[cell].is_silent), list[str]()
        for cell in [*names, *names[:-1]]:
            if cell in away:
                continue
            try:
                found = self._person_in(cell, whose)
            except (SQLAlchemyError, SilentError):
                away.append(cell)
                continue
            if found:
                return self._learned(key, found, cell)
        if away:
            raise CellAwayError(away[0])
        return None

    def _cell(self, place: AccountCell, whose: Whose) -> str:
        """Where it lives.  An account may have arrived while the one that it has left is still cleared up."""
        to = place.moving_to
        try:
            return to if to in self.threads and self._person_in(to, whose) else place.cell
        except (SQLAlchemyError, SilentError):
            return place.cell

    def _person_in(self, cell: str, whose: Whose) -> PersonRow | None:
        with self.answering(cell) as uow, uow.once() as tx:
            return whose(tx)

    def _learned(self, key: bytes, found: PersonRow, cell: str) -> AccountCell:
        """Note a key and its account.  A directory that takes no writes keeps nobody from using the key."""
        try:
            place = note(self.cells.directory, found.user_id, cell, found.email)
            with self.cells.directory.begin() as tx:
                directory.learn(tx, key, place.user_id)
        except SQLAlchemyError as error:
            log.warning("key_not_learned", error=type(error).__name__)
            return AccountCell(found.user_id, cell, 1)
        return place
