"""A consuming node: hears of messages, claims them, delivers them, and writes down how they ended."""

import logging
import os
from collections.abc import Callable
from functools import partial
from time import monotonic, sleep
from typing import Any

from . import shared_session
from .announcements import Announcements
from .async_database import DeadlineDatabase
from .commit_pacing import CommitPacing
from .database import SERVER_ERRORS, Row, direct, is_refusal
from .ending import end
from .fanout import Fanout
from .inbox import Inbox
from .leases import Heart, Held, columns, known
from .ledger import SETTLED, Ledger, RoundTrip
from .loop_timer import TURN_SECONDS, LoopTimer
from .options import Options
from .reader import Claim, Reader
from .retention import Retention
from .session import Session
from .statements import Statements, statements

logger = logging.getLogger(__name__)

#: The most messages that one claim leases.
BATCH = 64


class Node:
    """One consumer of one or more queues.  All methods belong to one thread, but `settle`.

    decode: (row, queue) -> message, raising for a payload it cannot read.  deliver: (message, queue).
    is_stopping: deliver no more; what was claimed is handed back.
    What the server says or does after `open` never leaves it: it connects again by itself and keeps what it holds.  A
    statement that is refused does not cost the session, whose lock tells the others that this node lives.
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
        self.url, self.options, self.thread, self.prefetch_count = url, options, 0, 0
        self.held: Held = {}
        self.timer, self.pacing = LoopTimer(self.step), CommitPacing()
        self.fanout = fanout or Fanout(options, Announcements())
        self._pid, self._begun = os.getpid(), False
        self._sql: Statements = statements(options)
        self.session = Session(url, options, self._sql, connect_timeout=connect_timeout)
        self._ledger = Ledger(self.session.run, self._sql)
        self._known = partial(known, self.held, self._ledger.unwritten)
        self.reader, self.retention = Reader(options, self._sql, self.session), Retention(options, self._sql)
        self.queues = self.reader.queues
        self._heart_database = DeadlineDatabase(direct(url, options.direct_url), connect_timeout=connect_timeout)
        self._heart: Heart | None = None
        self.inbox = Inbox(self.held, self._ledger, options.max_deliveries, decode, deliver, is_stopping)

    def open(self) -> None:
        """Connect.  Raises one of CONNECTION_ERRORS; does nothing when open."""
        if self._heart is None:
            self.session.open()
            self._begin()
            self._heart = Heart(self._heart_database, self.options, self._sql, self.held, self.session.identity)
            shared_session.share(self)

    def close(self) -> None:
        """Write what is over, and hand the rest back without counting a delivery (ending.py)."""
        if not self._mine or self._heart is None:
            return
        heart, self._heart = self._heart, None
        self.reader.clear()
        end(self, self._ledger, heart)
        self.timer.unwatch()
        self.session.close()

    def consume(self, queue: str) -> None:
        """Claim from it, from the next step on."""
        self.reader.add(queue)
        self.timer.within(0)

    def cancel(self, queue: str) -> None:
        """Claim no more from it, and write down soon what is left: operators see of a node that drains when it does."""
        self.reader.remove(queue)
        self.timer.within(0)

    def step(self) -> int:
        """Write down what is over, claim what fits, deliver it.  -> messages delivered."""
        if self._heart is None:
            return 0
        try:
            self._serve()
            # Without a loop, one: kombu counts answers by calls of drain_events.
            delivered = self.fanout.deliver(self.session, 1 if self.timer.loop is None else float("inf"))
            return delivered + self.inbox.deliver()
        finally:  # the hub only logs what a timer raises; without another timer a busy queue, telling nobody, waits
            self.timer.within(min(self.patience(), TURN_SECONDS))

    def _serve(self) -> None:
        try:
            if not self.session.patience() and self._is_connected():
                self._hear()
                if self.reader.looks_first:
                    self._look()
                self._exchange()
                self._look()
                self.fanout.serve(self.session, alone=not self.queues)
                self.retention.serve(self.session)
                self._hear()  # what came with the answers above makes the descriptor readable no more
                self.session.worked()
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
        if not self.session.connected or self.session.patience():
            return self.session.patience()
        if self.inbox:
            return 0.0
        fanout = self.fanout.patience(self.session)
        if self.session.busy:
            return TURN_SECONDS
        if self._ledger or self.reader.may_claim(self.free()):
            return min(fanout, self._pacing())
        return min(fanout, self._ledger.patience(), self.reader.patience() if self.queues else TURN_SECONDS)

    def free(self) -> int:
        """How many messages may be claimed now."""
        if not self.prefetch_count:
            return BATCH
        return max(0, min(BATCH, self.prefetch_count - len(self.held)))

    def settle(self, tag: str, how: str) -> None:
        """The delivery is over.  Written with the next claim; at once where no hub turns or nothing is claimed."""
        lease = self.held.get(tag)
        if lease is None or not self._mine:
            return
        if how != SETTLED:
            self._ledger.add(how, lease)
        self.held.pop(tag, None)  # after that, so that it is known all the time
        if self.timer.loop is not None and self.queues:
            self.timer.within(0)
        elif self.session.connected:
            try:
                self._ledger.write()
            except SERVER_ERRORS as error:
                self.lose(error)

    def hand_back(self, tags: list[str]) -> None:
        """Give leases back, ready at once, without a charge.  Raises one of SERVER_ERRORS, and keeps them then."""
        if not self._mine:
            return
        try:
            self.session.finish()
            if leases := [self.held[tag] for tag in tags if tag in self.held]:
                self.session.run(self._sql.hand_back, columns(leases))
        except SERVER_ERRORS as error:
            self.lose(error)
            raise
        self.inbox.forget(tags)

    def revive(self, seconds: float = 0.0) -> bool:
        """Have a session, waiting up to so long: a worker that stops does not come by here again for a while."""
        until = monotonic() + seconds
        while not self._is_connected():
            if (left := until - monotonic()) <= 0:
                return False
            sleep(min(self.session.patience(), left))
        return True

    def get(self, queue: str) -> Any | None:
        """One message, at once, or None.  Raises one of SERVER_ERRORS."""
        self.revive()
        try:
            self._claim(self.reader.claim_of(queue, 1))
            self._ledger.write()
        except SERVER_ERRORS as error:
            self.lose(error)
            raise
        return found[0] if (found := self.inbox.next()) else None

    @property
    def is_open(self) -> bool:
        """Between `open` and `close`, in the process that opened it."""
        return self._mine and self._heart is not None

    def join(self, loop: Any) -> None:
        """Be woken by this event loop; an open node was opened before there was one."""
        self.timer.loop = loop
        if self.is_open and self.session.connected:
            self.timer.watch(self.session.fileno(), self._on_readable)
            self.timer.within(0)

    @property
    def _mine(self) -> bool:
        """False in a forked child: session and leases are its parent's."""
        return self._pid == os.getpid()

    def _look(self) -> None:
        if (self.queues or not self.reader.is_noted) and not self.session.busy and self.reader.look_due():
            self.session.recall(self._known())
            self.reader.look(self.prefetch_count)

    def _exchange(self) -> None:
        """Write and claim until the window is full or the queues are empty; with a loop, begin to and go on."""
        if self.session.busy or self._pacing() > 0:
            return
        while self.reader.may_claim(self.free()) and (claim := self.reader.next(self.free())):
            if self.timer.loop is not None and self.session.fileno() is not None:
                trip = self._ledger.round_trip(claim.before, claim.parameters)
                self.session.start(
                    trip.statement, trip.parameters, partial(self._claimed, claim, trip), trip.on_failure
                )
                return
            self._claim(claim)
        if self._ledger:
            self._ledger.write()
            self.pacing.spend(monotonic())

    def _claim(self, claim: Claim) -> None:
        trip = self._ledger.round_trip(claim.before, claim.parameters)
        try:
            rows = self.session.run(trip.statement, trip.parameters)
        except BaseException:
            trip.on_failure()
            raise
        self._claimed(claim, trip, rows)

    def _claimed(self, claim: Claim, trip: RoundTrip, rows: list[Row]) -> None:
        for row in self.reader.took(claim, trip.on_rows(rows)):
            self.inbox.take(row, claim.queue)
        if self.held and self._heart is not None:
            self._heart.wake()
        self.pacing.spend(monotonic())

    def _pacing(self) -> float:
        """Seconds until an exchange is worth a commit; none while half the window is free."""
        if self.reader.may_claim(self.free()) and 2 * self.free() >= (self.prefetch_count or BATCH):
            return 0.0
        return self.pacing.wait(monotonic())

    def _hear(self) -> None:
        for queue, delay in self.session.heard():
            self.reader.hear(queue, delay)
        self.fanout.hear(self.session.other_notifications())

    def _begin(self) -> None:
        """A session has begun: look at everything."""
        self.reader.restart()
        self.fanout.begin(self.session)
        self.timer.watch(self.session.fileno(), self._on_readable)
        self._begun = True

    def _is_connected(self) -> bool:
        """Now, if need be."""
        try:
            if self.session.connected or self.session.reopen(self._known()):
                if not self._begun:
                    self._begin()
                return True
        except SERVER_ERRORS as error:
            self.lose(error)
        return False

    def lose(self, error: Exception) -> None:
        """A statement was refused, and step goes on after a pause; or the session broke, and step makes another."""
        self._ledger.met(error)
        if is_refusal(error) and self.session.connected:
            self.session.rest(error)
            return
        self._begun = False
        self.timer.unwatch()  # before the descriptor is closed
        self.session.lose(error)

    def _on_readable(self) -> None:
        self.read()
        self.step()
