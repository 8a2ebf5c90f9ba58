"""The transient queues of one kombu connection: subscriptions in memory to broadcast messages.

They share the session of one of the connection's nodes, their host.  Nothing here is leased: a delivery is finished
as soon as it is made.
"""

import logging
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from random import uniform
from time import monotonic
from typing import Any

from kombu.transport.virtual.exchange import TopicExchange

from .announcements import ANNOUNCE_SECONDS, Announcements
from .broadcast import BroadcastSender, Post, Run, broadcast_statements, notify_channel, opened
from .database import Row
from .envelope import Raw
from .options import Options
from .session import Session

logger = logging.getLogger(__name__)

#: Without LISTEN, a consumer that has only subscriptions reads the table this often.
LOOK_SECONDS = 0.2
#: Between two searches for expired rows: while there are any, and while none is known.
TIDY_SECONDS = (60.0, 600.0)
#: How often events are sent, several together: Celery hands them over one by one or in pairs.
SEND_SECONDS = 0.05
#: How many messages a queue keeps before it has a consumer.
KEPT = 1000

Message = Any


@dataclass(slots=True, eq=False)
class Subscription:
    """One transient queue.  `since`: the snapshot of its last read; `ttl`: seconds after which a message is too old."""

    ttl: float | None
    since: str = ""
    bindings: set[tuple[str, str, str]] = field(default_factory=set)
    decode: Callable[[Raw], Message] | None = None
    receive: Callable[[Message], None] | None = None
    waiting: deque[Raw] = field(default_factory=lambda: deque(maxlen=KEPT))

    @property
    def exchanges(self) -> set[str]:
        """The exchanges that it is bound to."""
        return {exchange for exchange, _, _ in self.bindings}

    def wants(self, transaction: int, exchange: str, routing_key: str, age: float) -> bool:
        """Whether this message is for this queue, and new."""
        return (
            not _saw(self.since, transaction)
            and (self.ttl is None or age <= self.ttl)
            and any(bound == exchange and _fits(kind, key, routing_key) for bound, kind, key in self.bindings)
        )


class Fanout:
    """All subscriptions of a connection.  All methods belong to the thread of the connection."""

    def __init__(self, options: Options, announcements: Announcements) -> None:
        self.queues: dict[str, Subscription] = {}
        self._options, self._announcements = options, announcements
        self._sql = broadcast_statements(options)
        self._session: Session | None = None
        self._outgoing: deque[Post] = deque(maxlen=10_000)  # the newest, while the database is unavailable
        self._sent_at = 0.0
        self._notified = False
        self._heard: set[str] = set()
        self._look_at = self._announce_at = 0.0
        self._tidy_at = monotonic() + uniform(0.5, 1) * TIDY_SECONDS[0]  # noqa: S311  not all nodes at once

    def is_stored(self, queue: str) -> bool:
        """Whether messages can come from a row of `kombu_queue`.

        The default exchange leads to every queue by its name, and a sender in another process makes the queue a stored
        one: that is how results reach `rpc://`.  A queue that is bound only to fanout or topic exchanges gets no such
        messages.
        """
        known = self.queues.get(queue)
        return known is None or all(kind == "direct" for _, kind, _ in known.bindings)

    @property
    def consumed(self) -> list[Subscription]:
        """The subscriptions with a consumer."""
        return [one for one in self.queues.values() if one.receive is not None]

    # -- queues -------------------------------------------------------------------------------------------------

    def declare(self, queue: str, arguments: Mapping[str, Any] | None) -> None:
        """A queue of this process, from now on."""
        lives = (arguments or {}).get("x-message-ttl")
        self.queues.setdefault(queue, Subscription(None if lives is None else int(lives) / 1000))

    def bind(self, queue: str, binding: tuple[str, str, str], run: Run) -> None:
        """Binding: exchange, its type, routing key or pattern.

        The position is taken with the first binding, so that an answer that comes before the consumer is not missed.
        """
        subscription = self.queues[queue]
        if not subscription.since:
            [(subscription.since,)] = run(self._sql.position, {})
        subscription.bindings.add(binding)

    def unbind(self, queue: str, exchange: str, routing_key: str) -> None:
        """Messages that have already arrived stay."""
        bindings = self.queues[queue].bindings
        bindings -= {one for one in bindings if (one[0], one[2]) == (exchange, routing_key)}

    def consume(self, queue: str, decode: Callable[[Raw], Message], receive: Callable[[Message], None]) -> None:
        """Deliver from it, from the host's next step on."""
        subscription = self.queues[queue]
        subscription.decode, subscription.receive = decode, receive
        self._announce_at = 0.0

    def get(self, queue: str, run: Run) -> Raw | None:
        """One message, at once, or None."""
        subscription = self.queues[queue]
        if not subscription.waiting and subscription.bindings:
            self._read(run, [subscription])
        return subscription.waiting.popleft() if subscription.waiting else None

    # -- the host -----------------------------------------------------------------------------------------------

    def begin(self, session: Session) -> None:
        """A session of a node has begun."""
        if self._options.listen:
            session.run(f'LISTEN "{notify_channel(self._options, "")}"', None)
            self._announcements.begin(session)
        if self._session is session:
            self._session = None

    def hosted_by(self, session: Session) -> bool:
        """Whether this session serves the subscriptions."""
        return self._session is session and bool(self.consumed)

    def hear(self, notifications: Iterable[tuple[str, str]]) -> None:
        """Notifications that are not for stored queues: (channel, payload)."""
        for channel, payload in notifications:
            if channel == notify_channel(self._options, ""):
                self._announcements.hear(payload)
            else:
                self._notified = True
            self._tidy_at = min(self._tidy_at, monotonic() + uniform(1, 1.5) * TIDY_SECONDS[0])  # noqa: S311

    def serve(self, session: Session, *, alone: bool) -> None:
        """The fan-out's part in a node's step.  `alone`: the node has no stored queues to poll."""
        now = monotonic()
        if now >= self._tidy_at:
            self._tidy(session)
        if now >= self._sent_at + SEND_SECONDS:
            self.send(session)
        consumed = self.consumed
        if not consumed:
            return
        if self._session is None or not self._session.connected:
            self._session = session
            self._heard.clear()
        if self._session is not session:
            return
        self._listen({exchange for one in consumed for exchange in one.exchanges})
        if self._notified or now >= self._look_at:
            self._notified = False
            self._look_at = now + self._pause(alone=alone)
            self._read(session.run, [one for one in consumed if one.bindings])
        if now >= self._announce_at:
            self._announce(session, consumed)

    def post(self, post: Post) -> None:
        """Send it soon, together with others."""
        self._outgoing.append(post)

    def send(self, session: Session) -> None:
        """Send the waiting broadcasts."""
        if self._outgoing:
            BroadcastSender(session.run, self._options, self._announcements).send_many(list(self._outgoing))
            self._outgoing.clear()
            self._sent_at = monotonic()

    def patience(self, session: Session) -> float:
        """Seconds until `serve` has something to do."""
        sending = max(0.0, self._sent_at + SEND_SECONDS - monotonic()) if self._outgoing else ANNOUNCE_SECONDS
        return min(sending, self._looking(session))

    def deliver(self, session: Session, most: float) -> int:
        """Deliver what has arrived.  A message leaves its queue first, because its delivery may raise.  -> how many."""
        delivered = 0
        for queue, one in list(self.queues.items()) if self.hosted_by(session) else ():
            while delivered < most and one.waiting and one.receive is not None and one.decode is not None:
                raw = one.waiting.popleft()
                try:
                    message = one.decode(raw)
                except Exception as error:  # noqa: BLE001  the reader survives any message
                    logger.error("event=broadcast_dropped queue=%s error=%r", queue, error)  # noqa: TRY400
                    continue
                delivered += 1
                one.receive(message)
        return delivered

    # -- internals ------------------------------------------------------------------------------------------------

    def _looking(self, session: Session) -> float:
        if not self.hosted_by(session):
            return 0.0 if self.consumed and self._session is None else ANNOUNCE_SECONDS
        if self._notified or any(one.waiting for one in self.consumed):
            return 0.0
        return max(0.0, min(self._look_at, self._announce_at) - monotonic())

    def _pause(self, *, alone: bool) -> float:
        # With LISTEN a read is due only after a notification, or when a session begins.
        if self._options.listen:
            return float("inf")
        return LOOK_SECONDS if alone else self._options.poll_seconds

    def _listen(self, exchanges: set[str]) -> None:
        if exchanges == self._heard:
            return
        changes = [("LISTEN", name) for name in exchanges - self._heard]
        changes += [("UNLISTEN", name) for name in self._heard - exchanges]
        if self._options.listen and self._session is not None:
            self._session.run(
                "; ".join(f'{verb} "{notify_channel(self._options, name)}"' for verb, name in changes), None
            )
        self._heard = exchanges
        self._notified = True  # nobody was notified of messages from before LISTEN

    def _announce(self, session: Session, consumed: list[Subscription]) -> None:
        self._announce_at = monotonic() + ANNOUNCE_SECONDS
        sender = BroadcastSender(session.run, self._options, self._announcements)
        for exchange in {name for one in consumed for name, kind, _ in one.bindings if kind == "topic"}:
            sender.announce(exchange)

    def _tidy(self, session: Session) -> None:
        [(_, next_in)] = session.run(self._sql.tidy, None)
        longest = TIDY_SECONDS[1]
        pause = longest if next_in is None else min(max(next_in, TIDY_SECONDS[0]), longest)
        self._tidy_at = monotonic() + uniform(1, 1.5) * pause  # noqa: S311

    def _read(self, run: Run, subscriptions: list[Subscription]) -> None:
        if not subscriptions:
            return
        exchanges = sorted({name for one in subscriptions for name in one.exchanges})
        rows = run(self._sql.read, {"exchanges": exchanges, "seen": sorted({one.since for one in subscriptions})})
        for row in rows:
            if row[1] is not None:
                _file(row, subscriptions)
        for one in subscriptions:
            one.since = rows[0][0]


def _file(row: Row, subscriptions: list[Subscription]) -> None:
    """Put a message into each queue that wants it; each has its own copy."""
    _, row_id, transaction, exchange, routing_key, payload, age = row
    for one in subscriptions:
        if one.wants(transaction, exchange, routing_key, age):
            try:
                one.waiting.append(opened(row_id, exchange, routing_key, payload))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                logger.error("event=broadcast_dropped message=%d error=%r", row_id, error)  # noqa: TRY400
                return


def _saw(snapshot: str, transaction: int) -> bool:
    """Like pg_visible_in_snapshot, for a transaction that has committed."""
    oldest, following, running = snapshot.split(":")
    return transaction < int(oldest) or (transaction < int(following) and str(transaction) not in running.split(","))


def _fits(kind: str, bound: str, routing_key: str) -> bool:
    if kind == "topic":
        return re.match(TopicExchange(None).key_to_pattern(bound), routing_key) is not None
    return kind == "fanout" or bound == routing_key
