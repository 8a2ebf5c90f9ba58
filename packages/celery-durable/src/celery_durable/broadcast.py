"""Broadcast messages: one row each, however many readers there are, and a NOTIFY for the exchange.

A row carries the number of the transaction that wrote it.  A reader keeps the snapshot of its last read, and rows that
this snapshot did not see are new.  That is exact in whatever order transactions commit, and however late.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from hashlib import md5
from typing import Any, NamedTuple

from .announcements import ANNOUNCED_SECONDS, Announcements
from .database import Row
from .envelope import OF_DELIVERY, Raw, letter
from .names import fill
from .options import Options

#: For a message without an expiration.
TTL_SECONDS = 60.0
#: The "exchange" of announcements: the default exchange leads to stored queues, so no message has it.
ANNOUNCEMENT = ""

#: A broadcast does not wait for the disk: the table is unlogged as well.
#: `ask`: only if a reader of this exchange has announced itself.
SEND = """
    SET LOCAL synchronous_commit = off;
    INSERT INTO {schema}kombu_broadcast (exchange, routing_key, payload, expires_at)
    SELECT %(exchange)s, %(routing_key)s, %(payload)s, clock_timestamp() + make_interval(secs => %(ttl)s)
     WHERE NOT %(ask)s OR EXISTS (
           SELECT FROM {schema}kombu_broadcast WHERE exchange = '' AND routing_key = %(exchange)s
              AND expires_at > (SELECT clock_timestamp()))
    RETURNING pg_notify(%(channel)s, %(word)s)"""

#: Several at once; one notification per exchange, not per message.
SEND_MANY = """
    SET LOCAL synchronous_commit = off;
    INSERT INTO {schema}kombu_broadcast (exchange, routing_key, payload, expires_at)
    SELECT exchange, routing_key, payload, clock_timestamp() + make_interval(secs => ttl)
      FROM unnest(%(exchanges)s, %(routing_keys)s, %(payloads)s, %(ttls)s::float8[])
        AS one (exchange, routing_key, payload, ttl);
    SELECT pg_notify(channel, '') FROM unnest(%(channels)s) AS channel"""

#: The position of a reader that wants none of the existing messages.
POSITION = "SELECT pg_current_snapshot()::text"

#: Messages that at least one of the snapshots `seen` did not see, in the order of sending, with the snapshot of this
#: read in each row; one row without a message if there is none.
#: -> (snapshot, id, transaction, exchange, key, payload, age)
READ = """
    SELECT pg_current_snapshot()::text, new.*
      FROM (SELECT) AS look LEFT JOIN LATERAL (
           SELECT id, sent_by::text::bigint, exchange, routing_key, payload,
                  extract(epoch FROM clock_timestamp() - sent_at)::float8
             FROM {schema}kombu_broadcast
            WHERE exchange = ANY (%(exchanges)s)
              AND sent_by >= (SELECT min(pg_snapshot_xmin(old::pg_snapshot)::text::bigint)::text::xid8
                                FROM unnest(%(seen)s) AS old)
              AND expires_at > (SELECT clock_timestamp())
              AND EXISTS (SELECT FROM unnest(%(seen)s) AS old
                           WHERE NOT pg_visible_in_snapshot(sent_by, old::pg_snapshot))) AS new ON true
     ORDER BY new.id"""

#: Locks: the rows it deletes, skipping those another node deletes.  -> (how many, seconds until the next one expires)
TIDY = """
    WITH gone AS (
        DELETE FROM {schema}kombu_broadcast WHERE id = ANY (ARRAY(
               SELECT id FROM {schema}kombu_broadcast WHERE expires_at <= (SELECT clock_timestamp())
                ORDER BY expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED)) RETURNING 1)
    SELECT (SELECT count(*) FROM gone),
           (SELECT extract(epoch FROM expires_at - clock_timestamp())::float8 FROM {schema}kombu_broadcast
             WHERE expires_at > (SELECT clock_timestamp()) ORDER BY expires_at LIMIT 1)"""

#: (statement, parameters) -> rows
Run = Callable[[str, Mapping[str, Any]], list[Row]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastStatements:
    """The statements above, with the names of the tables in them."""

    send: str = SEND
    send_many: str = SEND_MANY
    position: str = POSITION
    read: str = READ
    tidy: str = TIDY


def broadcast_statements(options: Options) -> BroadcastStatements:
    """Fill in the names, which were checked with the options."""
    return BroadcastStatements(
        **{field.name: fill(str(field.default), options) for field in fields(BroadcastStatements)}
    )


def notify_channel(options: Options, exchange: str) -> str:
    """The NOTIFY channel of an exchange, so that only its readers wake up.  A digest: channels have 63 bytes."""
    name = f"{options.schema}/{exchange}"
    return "broadcast_" + md5(name.encode(), usedforsecurity=False).hexdigest()


class Post(NamedTuple):
    """A broadcast to send.  ttl: seconds."""

    exchange: str
    routing_key: str
    payload: str
    ttl: float


class BroadcastSender:
    """Sends broadcasts.  defer: takes a post that may wait a moment to be sent with others; False if it cannot."""

    def __init__(
        self, run: Run, options: Options, announcements: Announcements, defer: Callable[[Post], bool] = lambda _: False
    ) -> None:
        self._run, self._options, self._announcements, self._defer = run, options, announcements, defer
        self._sql = broadcast_statements(options)

    def send(self, message: Mapping[str, Any], exchange: str, routing_key: str, *, if_wanted: bool) -> None:
        """Send one row.  `if_wanted`: only if the exchange has an announced reader, mostly known without asking."""
        wanted = self._announcements.knows(exchange) if if_wanted else True
        if wanted is False:
            return
        post = Post(exchange, routing_key, letter(message, "").payload, _ttl(message))
        if if_wanted and wanted and self._defer(post):
            return
        sent = self._insert(post, ask=wanted is None)
        if wanted is None:
            self._announcements.learn(exchange, wanted=sent)

    def announce(self, exchange: str) -> None:
        """Tell all senders that this exchange has a reader, for `ANNOUNCED_SECONDS`."""
        self._insert(Post(ANNOUNCEMENT, exchange, "", ANNOUNCED_SECONDS))

    def send_many(self, posts: list[Post]) -> None:
        """Send them in one statement."""
        exchanges, routing_keys, payloads, ttls = (list(column) for column in zip(*posts, strict=True))
        channels = sorted({notify_channel(self._options, post.exchange) for post in posts})
        given = {"exchanges": exchanges, "routing_keys": routing_keys, "payloads": payloads, "ttls": ttls}
        self._run(self._sql.send_many, {**given, "channels": channels})

    def _insert(self, post: Post, *, ask: bool = False) -> bool:
        # The word of an announcement is its exchange; another notification makes a reader read the table.
        word = post.routing_key if post.exchange == ANNOUNCEMENT else ""
        notification = {"channel": notify_channel(self._options, post.exchange), "word": word}
        return bool(self._run(self._sql.send, {**post._asdict(), "ask": ask, **notification}))


def _ttl(message: Mapping[str, Any]) -> float:
    """Seconds; kombu writes `expiration` as milliseconds in a string."""
    expiration = message["properties"].get("expiration")
    return TTL_SECONDS if expiration is None else int(expiration) / 1000


def opened(row_id: int, exchange: str, routing_key: str, payload: str) -> Raw:
    """The message for a consumer.  Raises if the payload is not that of a kombu message.

    There is no lease and no count, but a task finds the same headers as in any other delivery.
    """
    message: Raw = json.loads(payload)
    properties = message["properties"]
    counts = dict.fromkeys(OF_DELIVERY, 0) | {"lease_token": None, "lease_task": None, "delivery_count": 1}
    message["headers"] = {**message["headers"], **counts, "requested_eta": message["headers"].get("eta")}
    properties["delivery_tag"] = f"broadcast:{row_id}"
    properties["delivery_info"] = {"exchange": exchange, "routing_key": routing_key, "redelivered": False}
    return message
