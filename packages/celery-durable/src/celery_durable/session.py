"""A node's own session with PostgreSQL: its lock, its LISTEN, and its way back when it is lost."""

import json
import logging
import os
import secrets
import socket
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any

from psycopg2.errors import LockNotAvailable

from .async_database import AsyncDatabase
from .database import SERVER_ERRORS, Row, direct
from .options import Options
from .statements import Statements

logger = logging.getLogger(__name__)

#: For this many seconds after a reconnect or a refusal no node or lease is given up: a restart of PostgreSQL takes all
#: locks of nodes, and a full disk keeps everybody from renewing.  After a refusal they begin anew when a rehearsal has
#: shown that writes are accepted: a disk that was full for minutes may have had room for a moment only.
SETTLE_SECONDS = 5.0
#: Between two attempts to reconnect: the first and the longest pause, doubled in between.
BACKOFF_SECONDS = (0.05, 2.0)


class Session:
    """One session.  While it or the heart's lives, the advisory lock `owner` tells the other nodes that this one does.

    Both hold it in shared mode, so that a session need not wait for the end of the one that it follows: the server may
    not have noticed yet.  The node keeps one lock, and its leases stay under that, whatever becomes of its sessions.
    """

    def __init__(self, url: str, options: Options, sql: Statements, *, connect_timeout: float | None) -> None:
        self.owner = secrets.randbits(62) if options.listen else None
        self.connected = False
        self._options, self._sql = options, sql
        self._database = AsyncDatabase(direct(url, options.direct_url), connect_timeout=connect_timeout)
        self._opened_at, self._retry_at = 0.0, 0.0
        self._backoff = self._rest = BACKOFF_SECONDS[0]
        self._judge_from, self._unsure_until = 0.0, 0.0
        self._was_refused = False
        self._others: list[tuple[str, str]] = []
        self._backend: int | None = None

    def run(self, statement: str, parameters: Any) -> list[Row]:
        """Run a statement, like Database.run."""
        return self._database.run(statement, parameters)

    @property
    def start(self) -> Callable[..., None]:
        """Start a statement, like AsyncDatabase.start."""
        return self._database.start

    @property
    def finish(self) -> Callable[[], None]:
        """Finish the statement, like AsyncDatabase.finish."""
        return self._database.finish

    @property
    def busy(self) -> bool:
        """A statement is under way."""
        return self._database.pending is not None

    @property
    def identity(self) -> dict[str, Any]:
        """The parameters of the statements JOIN and NAME; `before`: the backend of the session before this one."""
        spare = self._options.spare_queues
        return {
            "owner": self.owner, "name": f"{socket.gethostname()}:{os.getpid()}", "poll": self._options.poll_seconds,
            "spare": json.dumps(dict(spare)) if spare else None, "before": self._backend,
        }  # fmt: skip

    def open(self) -> None:
        """Connect, lock and listen.  Raises one of CONNECTION_ERRORS."""
        self._database.open()
        if self.owner is not None:
            self._database.run(self._sql.join, self.identity)
            self._backend = self._database.backend
        self.connected, self._opened_at = True, monotonic()

    def recall(self, known: list[str]) -> None:
        """Give back the claims of an earlier session whose answers were lost.  Raises one of CONNECTION_ERRORS.

        The server may not have noticed the end of that session, which may still be claiming: until a lease of it would
        end by itself.  known: the tokens of what the node holds or has still to settle.
        """
        if self.owner is None or monotonic() >= self._unsure_until:
            return
        [(count,)] = self._database.run(self._sql.recall, {"owner": self.owner, "known": known})
        if count:
            logger.info("event=lost_claims_given_back count=%d", count)

    def rename(self) -> None:
        """A node of an earlier release that stopped took the name away, as it knows no shared locks."""
        self._database.run(self._sql.name, {**self.identity, "before": None})

    def leave(self) -> None:
        """Say that nothing is held any more.  Raises one of CONNECTION_ERRORS."""
        if self.owner is not None:
            self._database.run(self._sql.leave, {"owner": self.owner})

    def close(self) -> None:
        """End it; the lock goes with it."""
        self.connected = False
        self._database.close()

    def lose(self, error: Exception) -> None:
        """Try again after a pause: the session broke, or could not be opened."""
        if self.connected:
            logger.warning("event=broker_connection_lost error=%r", str(error).strip())
        first, longest = BACKOFF_SECONDS
        lasted = self.connected and monotonic() - self._opened_at > longest
        self._backoff = first if lasted else min(self._backoff * 2, longest)
        self.close()
        self._retry_at = monotonic() + self._backoff

    def rest(self, error: Exception) -> None:
        """The server refused a statement; the session, its lock and its LISTEN remain: continue after a pause."""
        logger.warning("event=broker_statement_refused error=%r", str(error).strip())
        self._retry_at = monotonic() + self._rest
        if not isinstance(error, LockNotAvailable):  # which says nothing of other rows, and may come at any time
            self._was_refused, self._judge_from = True, self._retry_at + SETTLE_SECONDS
        self._rest = min(self._rest * 2, BACKOFF_SECONDS[1])

    def worked(self) -> None:
        """Statements are accepted."""
        self._rest = BACKOFF_SECONDS[0]

    def reopen(self, known: list[str]) -> bool:
        """Try to connect again.  known: as of `recall`.  -> connected."""
        try:
            self.open()
            self._unsure_until = monotonic() + self._options.lease_seconds
            self.recall(known)
        except SERVER_ERRORS as error:
            self.lose(error)
            return False
        self._judge_from = monotonic() + SETTLE_SECONDS
        logger.warning("event=broker_connection_restored")
        return True

    def patience(self) -> float:
        """Seconds until the pause after an error is over."""
        return max(0.0, self._retry_at - monotonic())

    def may_judge(self) -> bool:
        """Whether other nodes have had the time to take their locks and to renew their leases again.

        Raises one of SERVER_ERRORS when writes are refused still.
        """
        if monotonic() < self._judge_from:
            return False
        if self._was_refused:
            self._database.run(self._sql.rehearse, {})
            self._was_refused, self._judge_from = False, monotonic() + SETTLE_SECONDS
            return False
        return True

    def fileno(self) -> int | None:
        """What becomes readable on a notification; None when it does not listen."""
        listens = self.connected and self._options.listen and self._database.is_open
        return self._database.connection.fileno() if listens else None

    def read(self) -> None:
        """Take what lies in the socket.  Raises one of CONNECTION_ERRORS when that is its end."""
        self._database.read()

    def heard(self) -> Iterator[tuple[str, float | None]]:
        """Notifications since the last time: (queue, seconds until a message is due or None for a ready one).

        Raises one of CONNECTION_ERRORS when an answer is overdue.
        """
        self._database.check()
        notifies = self._database.connection.notifies
        while notifies:
            notify = notifies.pop()
            if notify.channel != self._options.channel:
                self._others.append((notify.channel, notify.payload))
                continue
            queue, _, delay = notify.payload.partition("\t")
            yield queue, float(delay) if delay else None

    def other_notifications(self) -> list[tuple[str, str]]:
        """What came on other channels, and was met by `heard`: (channel, payload)."""
        others, self._others = self._others, []
        return others
