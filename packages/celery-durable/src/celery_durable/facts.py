"""Facts about the queues, cheap at any size.

    for queue in queue_facts(connection): print(queue.queue, queue.ready, queue.oldest_seconds)
    group_facts(connection, "billing")                       # the groups with the most waiting messages
    group_facts(connection, "billing", group="ann")          # one group; "" for the messages without a group

Numbers are exact up to 10,000.  `estimated` names those that are higher and therefore estimates (sql/counting.sql).
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
    """The numbers of one group of a queue."""

    group: str
    ready: int
    oldest_seconds: float
    leased: int
    delayed: int
    parked: int
    estimated: list[str]


def queue_facts(connection: Any, *, options: Mapping[str, Any] | None = None) -> list[QueueFacts]:
    """The numbers of all queues, in order of creation.  connection, options: as for `producer_in`.  Locks nothing."""
    return [QueueFacts(*row) for row in runner(connection)(cached_statements(options).facts, {})]


def group_facts(
    connection: Any, queue: str, *, group: str | None = None, most: int = 20, options: Mapping[str, Any] | None = None
) -> list[GroupFacts]:
    """The numbers of the groups with the most waiting, most first, or of one.

    connection, options: as for `producer_in`.

    If more than 10,000 wait in total, the list is read from one sample: a group with a tenth of them is reported to
    within 20 %, and one with a hundredth may not be found.  The numbers of one group, given by its name, are exact up
    to 10,000 in any case.  Locks nothing.
    """
    given = {"queue": queue, "group": group, "most": most}
    return [GroupFacts(*row) for row in runner(connection)(cached_statements(options).groups, given)]
