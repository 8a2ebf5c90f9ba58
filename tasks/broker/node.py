"""A consuming node: hears of messages, claims them, delivers them, and writes down how they ended."""

import logging
import os
from collections import deque
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any

from . import lending
from .alarm import Alarm
from .database import SERVER_ERRORS, Database, Row
from .fanout import Fanout
from .interest import Interest
from .leases import Heart, Held, Lease, columns
from .ledger import LOST, SETTLED, UNDECODABLE, Ledger
from .options import Options
from .reader import Claim, Reader
from .session import Session
from .spacing import Spacing
from .statements import Statements, statements

logger = logging.getLogger(__name__)

#: At most so many messages in one claim.
BATCH = 64
#: A signal to stop is seen by Celery when its hub turns; an idle one would turn with the poll only.
TURN_SECONDS = 1.0


class Node:
    """One consumer of one or more queues.  All methods belong to one thread, but `settle`.

    decode: (row, queue) -> message, raising for a payload it cannot read.  deliver: (message, queue).
    is_stopping: deliver no more; what was claimed is handed back.
    What the server says or does after `open` never leaves it: it connects again by itself and keeps what it holds.
    """

    def __init__(
        self,
        url: str,
        options: Options,
        *,
        decode: Callable[[Row, str], Any],
        deliver: Callable[[Any, str], None],
        is_stopping: Callable[[], bool] = lambda: False,
        fanout: Fanout | None = None,
        connect_timeout: float | None = 5,
    ) -> None:
        self.url, self.options, self.thread = url, options, 0
        self.held: Held = {}
        self.prefetch_count = 0
        self.alarm = Alarm(self.step)
        self._decode, self._deliver, self._is_stopping = decode, deliver, is_stopping
        self.fanout = fanout or Fanout(options, Interest())
        self._pid = os.getpid()
        self._sql: Statements = statements(options)
        self.session = Session(url, options, self._sql, connect_timeout=connect_timeout)
        self._ledger = Ledger(self.session.run, self._sql)
        self.reader = Reader(options, self._sql, self.session)
        self._heart_database = Database(url, connect_timeout=connect_timeout)
        self._heart: Heart | None = None
        self.spacing = Spacing()
        self._inbox: deque[tuple[Any, str]] = deque()

    def open(self) -> None:
        """Connect and start the heart.  Raises one of CONNECTION_ERRORS; does nothing when open."""
        if self._heart is None:
            self.session.open()
            self._begin()
            self._heart = Heart(self._heart_database, self.options, self._sql, self.held)
            self._heart.start()
            lending.offer(self)

    def close(self) -> None:
        """Write down what is over and hand back the rest, without a charge.

        When the database is away, the lock that goes with the session says the same, a second or two later.
        """
        if not self._mine or self._heart is None:
            return
        heart, self._heart = self._heart, None
        heart.stop()
        self.reader.clear()
        try:
            self.session.finish()
            self._ledger.write()
            self.fanout.send(self.session)
            self.hand_back(list(self.held))
            self.session.leave()
        except SERVER_ERRORS as error:
            logger.warning("event=handback_failed leases=%d error=%r", len(self.held), str(error).strip())
        self.alarm.unwatch()
        self.session.close()

    @property
    def queues(self) -> list[str]:
        """What it claims from."""
        return self.reader.queues

    def consume(self, queue: str) -> None:
        """Claim from it, from the next step on."""
        self.reader.add(queue)
        self.alarm.within(0)

    def cancel(self, queue: str) -> None:
        """Claim no more from it."""
        self.reader.remove(queue)

    def step(self) -> int:
        """Write down what is over, claim what fits, deliver it.  -> messages delivered."""
        if self._heart is None:
            return 0
        try:
            self._serve()
            # Without a loop, one: kombu counts answers by calls of drain_events.
            delivered = self.fanout.deliver(self.session, 1 if self.alarm.loop is None else float("inf"))
            return delivered + self._empty_inbox()
        finally:  # the hub only logs what a timer raises; without another alarm a busy queue, telling nobody, waits
            self.alarm.within(min(self.patience(), TURN_SECONDS))

    def _serve(self) -> None:
        try:
            if self.session.connected or self._return():
                self._hear()
                self._exchange()
                if self.queues and not self.session.busy and monotonic() >= self.reader.poll_at:
                    self.reader.poll()
                self.fanout.serve(self.session, alone=not self.queues)
                self._hear()  # what came with the answers above makes the descriptor readable no more
        except SERVER_ERRORS as error:
            self.lose(error)

    def read(self) -> None:
        """The session's descriptor is readable: notifications, or its end."""
        try:
            self.session.read()
        except SERVER_ERRORS as error:
            self.lose(error)

    def patience(self) -> float:
        """Seconds until the next step is due by itself."""
        if not self.session.connected:
            return self.session.patience()
        if self._inbox:
            return 0.0
        fanout = self.fanout.patience(self.session)
        if self.session.busy:
            return TURN_SECONDS
        if self._ledger or self.reader.hopeful(self.free()):
            return min(fanout, self._spacing())
        return min(fanout, self.reader.patience() if self.queues else TURN_SECONDS)

    def free(self) -> int:
        """How many messages may be claimed now."""
        if not self.prefetch_count:
            return BATCH
        return max(0, min(BATCH, self.prefetch_count - len(self.held)))

    def settle(self, tag: str, how: str) -> None:
        """The delivery is over.  Written with the next claim; at once where no hub turns or nothing is claimed."""
        lease = self.held.pop(tag, None)
        if lease is None or not self._mine:
            return
        if how != SETTLED:
            self._ledger.add(how, lease)
        if self.alarm.loop is not None and self.queues:
            self.alarm.within(0)
        elif self.session.connected:
            try:
                self._ledger.write()
            except SERVER_ERRORS as error:
                self.lose(error)

    def hand_back(self, tags: list[str]) -> None:
        """Give leases back, ready at once, without a charge.  Raises one of CONNECTION_ERRORS, and keeps them then."""
        if not self._mine:
            return
        self.session.finish()
        if leases := [self.held[tag] for tag in tags if tag in self.held]:
            self.session.run(self._sql.release, {**columns(leases), "charge": False})
        for tag in tags:
            self.held.pop(tag, None)
        self._inbox = deque(one for one in self._inbox if one[0].delivery_tag in self.held)

    def get(self, queue: str) -> Any | None:
        """One message, at once, or None.  Raises one of CONNECTION_ERRORS."""
        self._claim(self.reader.claim_of(queue, 1))
        self._ledger.write()
        return self._inbox.popleft()[0] if self._inbox else None

    @property
    def is_open(self) -> bool:
        """Between `open` and `close`, in the process that opened it."""
        return self._mine and self._heart is not None

    def join(self, loop: Any) -> None:
        """Be woken by this event loop; an open node was opened before there was one."""
        self.alarm.loop = loop
        if self.is_open and self.session.connected:
            self.alarm.watch(self.session.fileno(), self._on_readable)
            self.alarm.within(0)

    @property
    def _mine(self) -> bool:
        """False in a forked child: session and leases are its parent's."""
        return self._pid == os.getpid()

    def _exchange(self) -> None:
        """Write and claim until the window is full or the queues are empty; with a loop, begin to and go on."""
        if self.session.busy or self._spacing() > 0:
            return
        while self.reader.hopeful(self.free()) and (claim := self.reader.next(self.free())):
            if self.alarm.loop is not None and self.session.fileno() is not None:
                statement, given, crashed = self._ledger.ride(claim.statement, claim.parameters)
                self.session.start(statement, given, partial(self._landed, claim), crashed)
                return
            self._claim(claim)
        if self._ledger:
            self._ledger.write()
            self.spacing.spend(monotonic())

    def _claim(self, claim: Claim) -> None:
        self._landed(claim, self._ledger.write_with(claim.statement, claim.parameters))

    def _landed(self, claim: Claim, rows: list[Row]) -> None:
        for row in self.reader.took(claim, rows):
            self._take(row, claim.queue)
        self.spacing.spend(monotonic())

    def _spacing(self) -> float:
        """Seconds until an exchange is worth a commit; none while half the window is free."""
        if self.reader.hopeful(self.free()) and 2 * self.free() >= (self.prefetch_count or BATCH):
            return 0.0
        return self.spacing.wait(monotonic())

    def _take(self, row: Row, queue: str) -> None:
        row_id, token, losses = row[0], row[1], row[6]
        lease = Lease(row_id, token, None, monotonic())
        if losses >= self.options.max_deliveries:
            logger.error("event=dead_letter reason=lost message=%d lost=%d", row_id, losses)
            self._ledger.add(LOST, lease)
            return
        try:
            message = self._decode(row, queue)
        except Exception as error:  # noqa: BLE001  whatever somebody wrote into the table, the worker lives
            logger.error("event=dead_letter reason=undecodable message=%d error=%r", row_id, error)  # noqa: TRY400
            self._ledger.add(UNDECODABLE, lease)
            return
        self.held[message.delivery_tag] = lease._replace(task_id=message.headers.get("id"))
        self._inbox.append((message, queue))

    def _empty_inbox(self) -> int:
        """A message leaves the inbox before its delivery: should that raise, the others wait for the next step."""
        delivered = 0
        while self._inbox and not self._is_stopping():  # in a solo pool a delivery is the whole run
            message, queue = self._inbox.popleft()
            delivered += 1
            self._deliver(message, queue)
        return delivered

    def _hear(self) -> None:
        for queue, delay in self.session.heard():
            self.reader.hear(queue, delay)
        self.fanout.hear(self.session.told())

    def _begin(self) -> None:
        """A session has begun: put what is held under its lock, and look at everything."""
        if self.held:
            leases = list(self.held.values())
            given = {**columns(leases), "owner": self.session.owner, "lease": self.options.lease_seconds}
            kept = len(self.session.run(self._sql.adopt, given))
            logger.info("event=leases_adopted kept=%d lost=%d", kept, len(leases) - kept)
        self.reader.restart()
        self.fanout.begin(self.session)
        self.alarm.watch(self.session.fileno(), self._on_readable)

    def _return(self) -> bool:
        if not self.session.reopen():
            return False
        self._begin()
        return True

    def lose(self, error: Exception) -> None:
        """The session broke: step makes another."""
        self.alarm.unwatch()  # before the descriptor is closed
        self.session.lose(error)

    def _on_readable(self) -> None:
        self.read()
        self.step()
