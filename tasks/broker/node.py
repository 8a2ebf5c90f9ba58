"""A consuming node: claims messages, settles them, and hears of new ones."""

import logging
import os
import secrets
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Any, NamedTuple

from .alarm import Alarm
from .database import CONNECTION_ERRORS, Database, Row
from .leases import Heart, Held, Lease, columns
from .options import Options
from .statements import Statements, statements

logger = logging.getLogger(__name__)

#: At most so many messages in one claim.
BATCH = 64
#: While other nodes hold leases, seconds between two looks for nodes that died.
WATCH_SECONDS = 1.2
#: After a reconnect, seconds in which nobody is judged dead: a restart of PostgreSQL takes every node's lock.
SETTLE_SECONDS = 5.0
BACKOFF_SECONDS = (0.05, 2.0)
#: Between two exchanges with the table, unless half the window is free: a commit costs the same for one message as for ten.
SPACING_SECONDS = 0.004

ACK, REQUEUE, REJECTED, UNDECODABLE, LOST = "ack", "requeue", "rejected", "undecodable", "lost"


class Settled(NamedTuple):
    """A delivery that is over, to be written down: acknowledged, back on its queue, or dead for a reason."""

    how: str
    lease: Lease


class Node:
    """One consumer of one or more queues.  All methods belong to one thread, but `settle` and `held`.

    decode: (row, queue) -> message, raising for a payload it cannot read; deliver: (message, queue); is_stopping: deliver no
    more, what was claimed is handed back.
    Connection errors after `open` never leave it: it reconnects by itself and keeps what it holds meanwhile.
    """

    def __init__(
        self,
        url: str,
        options: Options,
        *,
        decode: Callable[[Row, str], Any],
        deliver: Callable[[Any, str], None],
        is_stopping: Callable[[], bool] = lambda: False,
        connect_timeout: float | None = 5,
    ) -> None:
        self.options = options
        self.queues: list[str] = []
        self.held: Held = {}
        self.prefetch_count = 0
        self.alarm = Alarm(self.step)
        self._decode, self._deliver, self._is_stopping = decode, deliver, is_stopping
        self._pid = os.getpid()
        self._strict = options.queue_order == "strict"
        self._sql: Statements = statements(options)
        self._database = Database(options.direct_url or url, connect_timeout=connect_timeout)
        self._heart_database = Database(url, connect_timeout=connect_timeout)
        self._heart: Heart | None = None
        self._owner: int | None = None
        self._connected = False
        self._retry_at, self._backoff = 0.0, BACKOFF_SECONDS[0]
        self._settled_at = self._poll_at = 0.0
        self._active = True
        self._hints: set[str] = set()
        self._rotation = 0
        self._exchanged_at = 0.0
        self._acks: deque[Lease] = deque()
        self._settled: deque[Settled] = deque()
        self._inbox: deque[tuple[Any, str]] = deque()

    # -- life ---------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Connect, lock, listen, and start the heart.  Raises one of CONNECTION_ERRORS; does nothing when open."""
        if self._heart is not None:
            return
        self._connect()
        self._heart = Heart(self._heart_database, self.options, self._sql, self.held)
        self._heart.start()

    def close(self) -> None:
        """Write down what is settled and hand back the rest, without a charge.

        When the database is away, the lock that goes with the session says the same, a second or two later.
        """
        if not self._mine or self._heart is None:
            return
        heart, self._heart = self._heart, None
        heart.stop()
        self.queues.clear()
        try:
            self._write_settled()
            self.hand_back(list(self.held))
        except CONNECTION_ERRORS as error:
            logger.warning("event=handback_failed leases=%d error=%r", len(self.held), str(error).strip())
        self._disconnect()

    def consume(self, queue: str) -> None:
        if queue not in self.queues:
            self.queues.append(queue)
        self._hints.add(queue)
        self._poll_at = 0.0
        self.alarm.within(0)

    def cancel(self, queue: str) -> None:
        if queue in self.queues:
            self.queues.remove(queue)
        self._hints.discard(queue)

    @property
    def _mine(self) -> bool:
        """False in a forked child: session and leases are its parent's."""
        return self._pid == os.getpid()

    # -- one turn -----------------------------------------------------------------------------------------------

    def step(self) -> int:
        """Write down what is settled, claim what fits, deliver it.  -> messages delivered"""
        if self._heart is None:
            return 0
        try:
            if self._connected or self._reconnect():
                self._hear()
                if self.queues and monotonic() >= self._poll_at:
                    self._poll()
                self._exchange()
                self._hear()  # what arrived with the answers above makes the descriptor readable no more
        except CONNECTION_ERRORS as error:
            self._lose(error)
        delivered = self._empty_inbox()
        # A signal to stop is seen by Celery when its hub turns: an idle one would turn with the poll only.
        self.alarm.within(min(self.patience(), 1.0))
        return delivered

    def on_readable(self) -> None:
        """The hub saw something on the session's descriptor."""
        self.read()
        self.step()

    def read(self) -> None:
        """Take what lies in the socket: notifications, or its end."""
        try:
            self._database.connection.poll()
        except CONNECTION_ERRORS as error:
            self._lose(error)

    def patience(self) -> float:
        """Seconds until the next step is due by itself."""
        if not self._connected:
            return max(0.0, self._retry_at - monotonic())
        if self._inbox or self._acks or self._settled or (self._hints and self.free()):
            return 0.0 if self._inbox else self._spacing()
        return max(0.0, self._poll_at - monotonic()) if self.queues else 60.0

    def fileno(self) -> int | None:
        """Of the session, when it listens."""
        return self._database.connection.fileno() if self._connected and self.options.listen else None

    def free(self) -> int:
        """How many messages may be claimed now."""
        if not self.prefetch_count:
            return BATCH
        return max(0, min(BATCH, self.prefetch_count - len(self.held)))

    # -- settling -----------------------------------------------------------------------------------------------

    def settle(self, tag: str, how: str) -> None:
        """The delivery is over.  Written with the next claim of this turn; at once when nothing is claimed any more."""
        lease = self.held.pop(tag, None)
        if lease is None:
            return
        if how == ACK:
            self._acks.append(lease)
        else:
            self._settled.append(Settled(how, lease))
        if self.alarm.loop is not None and self.queues:
            self.alarm.within(0)
        else:
            self._settle_now()

    def hand_back(self, tags: list[str]) -> None:
        """Give leases back, ready at once, without a charge.  Raises one of CONNECTION_ERRORS, and keeps them then."""
        if not self._mine:
            return
        leases = [self.held[tag] for tag in tags if tag in self.held]
        if leases:
            self._database.run(self._sql.release, {**columns(leases), "charge": False})
        for tag in tags:
            self.held.pop(tag, None)
        self._inbox = deque(one for one in self._inbox if one[0].delivery_tag in self.held)

    def _settle_now(self) -> None:
        try:
            if self._connected and self._mine:
                self._write_settled()
        except CONNECTION_ERRORS as error:
            self._lose(error)

    def _write_settled(self) -> None:
        if self._acks:
            self._with_acks(lambda given: self._database.run(self._sql.ack, given))
        while self._settled:
            how, lease = self._settled[0]
            if how == REQUEUE:
                self._database.run(self._sql.release, {**columns([lease]), "charge": True})
            else:
                self._database.run(self._sql.bury, {**columns([lease]), "reason": how})
            self._settled.popleft()

    def _with_acks(self, write: Callable[[Any], list[Row]]) -> list[Row]:
        """Write the acknowledgements; after an error they are written again: fenced, so twice is once."""
        acks = [self._acks.popleft() for _ in range(len(self._acks))]
        try:
            return write(columns(acks))
        except CONNECTION_ERRORS:
            self._acks.extendleft(acks)
            raise

    # -- claiming -----------------------------------------------------------------------------------------------

    def get(self, queue: str) -> Any | None:
        """One message, at once, or None.  Raises one of CONNECTION_ERRORS."""
        self._write_settled()
        self._claim(queue, 1)
        return self._inbox.popleft()[0] if self._inbox else None

    def _exchange(self) -> None:
        """Settle and claim, queue by queue, until the window is full or the queues are empty."""
        if self._spacing() > 0:
            return
        self._rotation += 1
        budget = self.free()
        while budget and (waiting := [queue for queue in self._in_order() if queue in self._hints]):
            for position, queue in enumerate(waiting):
                share = budget if self._strict else -(-budget // (len(waiting) - position))
                if not share:
                    break
                taken = self._claim(queue, share)
                budget -= taken
                if taken < share:
                    self._hints.discard(queue)
        if self._acks or self._settled:
            self._write_settled()
        self._exchanged_at = monotonic()

    def _spacing(self) -> float:
        """Seconds until an exchange is worth a commit."""
        if self._hints and 2 * self.free() >= (self.prefetch_count or BATCH):
            return 0.0
        return max(0.0, self._exchanged_at + SPACING_SECONDS - monotonic())

    def _in_order(self) -> list[str]:
        if self._strict:
            return self.queues
        first = self._rotation % max(1, len(self.queues))
        return self.queues[first:] + self.queues[:first]

    def _claim(self, queue: str, count: int) -> int:
        """Lease up to `count` messages into the inbox; acknowledgements ride along: one round trip, one commit."""
        given = {"queue": queue, "count": count, "owner": self._owner, "lease": self.options.lease_seconds}
        if self._acks:
            both = f"{self._sql.ack};{self._sql.claim}"
            rows = self._with_acks(lambda acks: self._database.run(both, {**given, **acks}))
        else:
            rows = self._database.run(self._sql.claim, given)
        for row in sorted(rows):
            self._take_in(row, queue)
        return len(rows)

    def _take_in(self, row: Row, queue: str) -> None:
        row_id, token, losses = row[0], row[1], row[-1]
        lease = Lease(row_id, token, None, monotonic())
        if losses >= self.options.max_deliveries:
            logger.error("event=dead_letter reason=lost message=%d lost=%d", row_id, losses)
            self._settled.append(Settled(LOST, lease))
            return
        try:
            message = self._decode(row, queue)
        except Exception as error:  # noqa: BLE001  whatever somebody wrote into the table, the worker lives
            logger.error("event=dead_letter reason=undecodable message=%d error=%r", row_id, error)  # noqa: TRY400
            self._settled.append(Settled(UNDECODABLE, lease))
            return
        self.held[message.delivery_tag] = lease._replace(task_id=message.headers.get("id"))
        self._inbox.append((message, queue))

    def _empty_inbox(self) -> int:
        """A message leaves the inbox before its delivery: should that raise, the others wait for the next step."""
        delivered = 0
        while self._inbox and not (delivered and self._is_stopping()):  # in a solo pool a delivery is the whole run
            message, queue = self._inbox.popleft()
            delivered += 1
            self._deliver(message, queue)
        return delivered

    # -- hearing ------------------------------------------------------------------------------------------------

    def _hear(self) -> None:
        """Notifications: `queue`, or `queue TAB seconds` for a message due later."""
        notifies = self._database.connection.notifies
        while notifies:
            queue, _, delay = notifies.pop().payload.partition("\t")
            if queue not in self.queues:
                continue
            if delay:
                self._poll_at = min(self._poll_at, monotonic() + float(delay))
            else:
                self._hints.add(queue)
                # Whoever takes the message may die with it: look soon for nodes that do.
                self._active = True
                self._poll_at = min(self._poll_at, monotonic() + WATCH_SECONDS)

    def _poll(self) -> None:
        now = monotonic()
        given = {"queues": self.queues, "owner": self._owner, "settled": now >= self._settled_at}
        [(ready, due, others)] = self._database.run(self._sql.poll, given)
        self._hints.update(ready)
        pause = WATCH_SECONDS if others or self._active else self.options.poll_seconds
        self._active = False
        self._poll_at = monotonic() + min(pause, self.options.poll_seconds, pause if due is None else due)

    # -- the session --------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        """A new session: lock, LISTEN, and the leases held from before put under the new lock."""
        self._database.close()
        self._owner = None
        if self.options.listen:
            # A new key each time: the server may not have noticed yet that the old session is dead.
            owner = secrets.randbits(62)
            self._database.run(f'SELECT pg_advisory_lock(%s); LISTEN "{self.options.channel}"', (owner,))
            self._owner = owner
        if self.held:
            leases = list(self.held.values())
            given = {**columns(leases), "owner": self._owner, "lease": self.options.lease_seconds}
            kept = len(self._database.run(self._sql.adopt, given))
            logger.info("event=leases_adopted kept=%d lost=%d", kept, len(leases) - kept)
        self._database.connection  # noqa: B018  opens it when neither of the two was needed
        self._connected = True
        self._hints.update(self.queues)
        self._active, self._poll_at = True, 0.0
        self.alarm.watch(self.fileno(), self.on_readable)

    def _disconnect(self) -> None:
        self.alarm.unwatch()
        self._connected = False
        self._database.close()

    def _lose(self, error: Exception) -> None:
        if self._connected:
            logger.warning("event=broker_connection_lost error=%r held=%d", str(error).strip(), len(self.held))
            self._backoff = BACKOFF_SECONDS[0]
        self._disconnect()
        self._retry_at = monotonic() + self._backoff

    def _reconnect(self) -> bool:
        """Try when it is time, doubling the pause.  -> connected"""
        if self._heart is None or monotonic() < self._retry_at:
            return False
        try:
            self._connect()
        except CONNECTION_ERRORS as error:
            self._backoff = min(self._backoff * 2, BACKOFF_SECONDS[1])
            self._lose(error)
            return False
        self._settled_at = monotonic() + SETTLE_SECONDS
        logger.warning("event=broker_connection_restored held=%d", len(self.held))
        return True
