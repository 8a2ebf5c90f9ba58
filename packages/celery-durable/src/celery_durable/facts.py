"""Facts of the queues, cheap at any size.

    for queue in queue_facts(connection): print(queue.queue, queue.ready, queue.oldest_seconds)
    group_facts(connection, "billing")                       # the groups with the most waiting
    group_facts(connection, "billing", group="ann")          # one; "" are the messages without a group

Numbers are exact up to 10,000.  `estimated` names those that are more and therefore estimates (sql/counting.sql).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from .database import runner
from .statements import cached_statements


class QueueFacts(NamedTuple):
    """Numbers of messages of a queue.

    oldest_seconds: how long the oldest ready one has been ready; delayed: by eta, retry or snooze, of which `snoozed`;
    dead: its dead letters; estimated: names of the numbers that are estimates.
    """

    queue: str
    paused: bool
    ready: int
    oldest_seconds: float
    leased: int
    delayed: int
    snoozed: int
    parked: int
    dead: int
    estimated: list[str]


class GroupFacts(NamedTuple):
    """The same of one group of a queue."""

    group: str
    ready: int
    oldest_seconds: float
    leased: int
    delayed: int
    parked: int
    estimated: list[str]


def queue_facts(connection: Any, *, options: Mapping[str, Any] | None = None) -> list[QueueFacts]:
    """Of all queues, in the order they were made.  connection, options: as of `producer_in`.  Locks nothing."""
    return [QueueFacts(*row) for row in runner(connection)(cached_statements(options).facts, {})]


def group_facts(
    connection: Any, queue: str, *, group: str | None = None, most: int = 20, options: Mapping[str, Any] | None = None
) -> list[GroupFacts]:
    """Of the groups with the most waiting, most first, or of one.  connection, options: as of `producer_in`.

    Where more than 10,000 wait in all, the list is read from one sample: a tenth of them is told to within 20 %, a
    group of a hundredth perhaps not found.  One group by its name is exact up to 10,000 in any case.  Locks nothing.
    """
    given = {"queue": queue, "group": group, "most": most}
    return [GroupFacts(*row) for row in runner(connection)(cached_statements(options).groups, given)]
