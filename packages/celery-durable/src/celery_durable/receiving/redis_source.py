"""A source of Redis, read as its lists: kombu's own consumer loses what it has popped and not noted when it is killed.

A batch is moved, each message in one step of the server, to a list beside its queue, `QUEUE.receiving`, and deleted
there when it is settled.  What a process that died left on that list is taken first by the next one.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from time import sleep
from typing import Any, NamedTuple

import redis
from kombu import Connection
from kombu.message import Message as Unreadable
from kombu.transport.virtual import Message

from . import Received

#: After the key of a queue.
SUFFIX = ".receiving"
#: Between two looks while nothing is there.
PAUSE_SECONDS = 0.2
#: Entries of the hash of unacknowledged messages, for one step of a scan.
SCANNED = 500
#: Puts a message back on its queue, if it is still on the list of those that are received: another run may have settled
#: it, or given it back.
GIVE_BACK = """
    if redis.call('LREM', KEYS[1], -1, ARGV[1]) > 0 then redis.call('RPUSH', KEYS[2], ARGV[1]) end"""


class Place(NamedTuple):
    """Where a message is.  key: of its queue, or None for reserved ones; item: as it stands there, or its tag."""

    key: str | None
    item: bytes


class RedisSource:
    """Queues of Redis, with kombu's priorities and key prefix.  most: messages in a batch.

    unacked: take also what workers have reserved, for which none of them may run any more: it would run twice.

    There 0 is the first priority and the default; here 9 is the first, and 0 the default.  So priorities are turned
    round from the first message on that has another one than 0.  Until then nobody seems to use them, and 0 stays 0.
    """

    def __init__(
        self, connection: Connection, queues: Sequence[str], most: int = 500, *, unacked: bool = False
    ) -> None:
        self._channel, self.queues, self._most, self._unacked = connection.channel(), queues, most, unacked
        self._redis = redis.Redis(connection_pool=self._channel.pool)
        self._prefix = self._channel.global_keyprefix
        self._keys = {
            f"{self._prefix}{self._channel._q_for_pri(queue, step)}": queue  # noqa: SLF001  kombu's name of the list
            for queue in queues
            for step in self._channel.priority_steps
        }
        self._has_priorities = False
        self._left: list[tuple[str, Any]] | None = None  # by an earlier process, the next one last
        self._copies: dict[bytes, int] = {}  # of reserved ones, by their tags: what is not settled yet

    @property
    def name(self) -> str:
        """The server by its own name, however its address is written, and the database."""
        database = self._redis.connection_pool.connection_kwargs.get("db", 0)
        return f"redis {self._redis.info('server').get('run_id')} {database} {self._prefix}"

    def take(self) -> list[Received]:
        """Take what an earlier process left behind, then what waits, then what is reserved."""
        got = list(self._left_behind()) or list(self._waiting())
        if not got and self._unacked:
            got = list(self._reserved())
        if not got:
            sleep(PAUSE_SECONDS)
        return got

    def settle(self, batch: list[Received]) -> None:
        """Delete."""
        with self._redis.pipeline(transaction=True) as pipe:
            for place in (one.handle for one in batch):
                if place.key is None:
                    self._copies[place.item] -= 1
                    if self._copies[place.item]:  # the entry is for another queue as well
                        continue
                    pipe.zrem(f"{self._prefix}{self._channel.unacked_index_key}", place.item)
                    pipe.hdel(f"{self._prefix}{self._channel.unacked_key}", place.item)
                else:
                    pipe.lrem(place.key + SUFFIX, -1, place.item)
            pipe.execute()

    def give_back(self, batch: list[Received]) -> None:
        """Put waiting ones back on their lists, as the next ones and in their order; reserved ones were never moved."""
        with self._redis.pipeline(transaction=True) as pipe:
            for place in (one.handle for one in reversed(batch)):  # the first one is pushed last
                if place.key is not None:
                    pipe.eval(GIVE_BACK, 2, place.key + SUFFIX, place.key, place.item)
            pipe.execute()

    def left(self) -> dict[str, int]:
        """Lists beside the queues that are not empty."""
        lengths = {key + SUFFIX: self._redis.llen(key + SUFFIX) for key in self._keys}
        return {key: length for key, length in lengths.items() if length}

    def is_own(self, _backend: int, _schema: int) -> bool:
        """Never: Redis is no database of PostgreSQL's."""
        return False

    def _left_behind(self) -> Iterator[Received]:
        if self._left is None:
            found = [[(key, item) for item in self._redis.lrange(key + SUFFIX, 0, -1)] for key in self._keys]
            self._left = [one for part in reversed(found) for one in part]
            self._look_for_priorities(key for key, _ in self._left)
        for _ in range(min(self._most, len(self._left))):
            yield self._received(*self._left.pop())

    def _waiting(self) -> Iterator[Received]:
        with self._redis.pipeline(transaction=False) as pipe:
            for key in self._keys:
                pipe.llen(key)
            lengths = dict(zip(self._keys, pipe.execute(), strict=True))
            self._look_for_priorities(key for key, length in lengths.items() if length)
            room, wanted = self._most, []
            for key, length in lengths.items():
                wanted += [key] * min(length, room)
                room = self._most - len(wanted)
            for key in wanted:
                pipe.rpoplpush(key, key + SUFFIX)
            for key, item in zip(wanted, pipe.execute(), strict=True):
                if item is not None:  # a worker was quicker
                    yield self._received(key, item)

    def _reserved(self) -> Iterator[Received]:
        key = f"{self._prefix}{self._channel.unacked_key}"
        found = 0
        for tag, entry in self._redis.hscan_iter(key, count=SCANNED):
            if tag in self._copies:  # what cannot be stored stays there, and is taken once
                continue
            copies = self._copies_of(Place(None, tag), entry)
            if copies:
                self._copies[tag] = len(copies)
                yield from copies
            found += len(copies)
            if found >= self._most:
                return

    def _copies_of(self, place: Place, entry: bytes) -> list[Received]:
        """A reserved message, for each of its queues: kombu has one entry for all of them, and nobody knows for which.

        So it is taken for all of its queues or for none, and its entry is deleted when each of its copies is stored.
        """
        try:
            item, exchange, routing_key = json.loads(entry)
        except (ValueError, TypeError):
            return [Received(self._channel.unacked_key, self._message(entry), place)]
        message, queues = self._message(item), self._bound(exchange, routing_key)
        if not queues:
            return [Received(routing_key, message, place, f"no queue is bound to it at the exchange {exchange!r}")]
        wanted = sorted(queues & {*self.queues})
        others = ", ".join(sorted(queues - {*self.queues}))
        why_not = f"it is for {others} as well: receive all of its queues in one run" if others else None
        return [Received(queue, message, place, why_not) for queue in wanted]

    def _bound(self, exchange: str, routing_key: str) -> set[str]:
        """Queues that messages go to.  Redis has the bindings with their patterns, and not the types of exchanges."""
        if not exchange:
            return {routing_key}
        bindings = self._channel.get_table(exchange)
        return {
            queue
            for key, pattern, queue in bindings
            if key == routing_key or (pattern and re.match(pattern, routing_key))
        }

    def _received(self, key: str, item: Any) -> Received:
        return Received(self._keys[key], self._message(item), Place(key, item))

    def _look_for_priorities(self, keys: Iterable[str]) -> None:
        """Messages of the first step are on a list with the name of their queue."""
        self._has_priorities |= any(key != f"{self._prefix}{self._keys[key]}" for key in keys)

    def _turn_priority(self, raw: Any) -> None:
        priority = self._channel._get_message_priority(raw)  # noqa: SLF001  kombu's reading of it
        self._has_priorities |= priority > 0
        if self._has_priorities:
            raw["properties"]["priority"] = self._channel.max_priority - priority

    def _message(self, item: Any) -> Any:
        """Kombu's message; of an item that is none, one that says so."""
        try:
            raw = json.loads(item) if isinstance(item, bytes) else item
            self._turn_priority(raw)
            return Message(raw, channel=self._channel)
        except Exception:  # noqa: BLE001  whatever somebody put on the list
            unreadable = Unreadable()
            unreadable.errors.append(sys.exc_info())
            return unreadable
