"""A queue of messages with priorities, in SQL: what is published, claimed, and whose turns are left."""

from __future__ import annotations

from typing import Any, NamedTuple

from durable_harness.broker import Broker

PUBLISH = """
    SELECT durable_publish(%(queue)s, '{}', %(task)s, %(tenant)s, NULL, %(delay)s, %(step)s, %(queue)s,
                           %(most_ready)s, %(priority)s)"""
CLAIM = """
    SELECT m.task_id, c.message_id, c.token::text, c.place
      FROM durable_claim(%s, %s, NULL, 900, 0, 0) AS c JOIN durable_message AS m ON m.id = c.message_id"""
TURNS = "SELECT rank, tenant FROM durable_ready ORDER BY 1, 2"
#: Ranks of an empty queue begin here, and not with the clock.
FLOOR = 10**17


class Claimed(NamedTuple):
    """A delivery."""

    task: str
    id: int
    token: str
    rank: int


class Turns:
    """Runs statements in a session of its own, each in its own transaction unless `autocommit` is off."""

    def __init__(self, broker: Broker, *, autocommit: bool = True) -> None:
        self.broker = broker
        self.connection = broker.connect()
        self.connection.autocommit = autocommit
        broker.stack.callback(self.connection.close)

    def run(self, statement: str, given: Any = None) -> list[Any]:
        with self.connection.cursor() as cursor:
            cursor.execute(statement, given)
            return list(cursor.fetchall()) if cursor.description else []

    def add_queue(self, name: str = "main") -> None:
        self.run("INSERT INTO durable_queue (name, rank_floor) VALUES (%s, %s)", (name, FLOOR))

    def publish(self, task: str, priority: int | None = None, tenant: str | None = None, **more: Any) -> int:
        given = {"queue": "main", "delay": None, "step": 100, "most_ready": None}
        [(stored,)] = self.run(PUBLISH, {**given, "task": task, "tenant": tenant, "priority": priority, **more})
        return int(stored)

    def claim(self, most: int = 1, queue: str = "main") -> list[Claimed]:
        """In the order of a node, each with the rank of its lease."""
        found = [Claimed(*row) for row in self.run(CLAIM, (queue, most))]
        ranks = dict(self.run("SELECT id, rank FROM durable_lease WHERE id = ANY (%s)", ([one.id for one in found],)))
        return [one._replace(rank=ranks[one.id]) for one in sorted(found, key=lambda one: (one.rank, one.id))]

    def tasks(self, most: int = 100, queue: str = "main") -> list[str]:
        """What is claimed one by one."""
        found = []
        while len(found) < most and (got := self.claim(1, queue)):
            found += [one.task for one in got]
        return found

    def give_back(self, *claimed: Claimed) -> None:
        self.run("SELECT durable_give_back(%s, %s::uuid[], 'requeue')",
                 ([one.id for one in claimed], [one.token for one in claimed]))  # fmt: skip

    def end(self, *claimed: Claimed) -> None:
        self.run("SELECT durable_settle(%s, %s::uuid[], '{}', '{}', '{}', false)",
                 ([one.id for one in claimed], [one.token for one in claimed]))  # fmt: skip

    def turns(self) -> list[tuple[int, str]]:
        return [tuple(row) for row in self.run(TURNS)]
