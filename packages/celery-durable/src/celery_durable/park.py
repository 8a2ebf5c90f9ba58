"""Groups at their limit: their messages wait until one is woken, however many there are.

    park(connection, "billing", "ann", seconds=30)      # ann's ready messages, and all published from now on
    self.retry(park=True, countdown=30)                 # the same from a running task, which itself waits, uncounted
    wake(connection, "billing", "ann")                  # the next one becomes ready; -> its task id
    bill.apply_async(…, headers={"tenant": "ann", "most_ready": 4})     # parks the group when four are ready

Each is one statement in the caller's transaction.  Even if it is not woken, one message of a parked group becomes ready
every `seconds`.  A group is no longer parked when none of its messages waits.  The woken message is the oldest of the
highest priority, and may also be one that snoozes.  Groups that are woken one by one get the same share of the queue as
others, not its head.
"""

from collections.abc import Mapping
from typing import Any

from .database import runner
from .names import PROBE_SECONDS
from .statements import cached_statements


def park(
    connection: Any, queue: str, group: str, *, seconds: float = PROBE_SECONDS, options: Mapping[str, Any] | None = None
) -> int:
    """Park a group of a queue.  -> how many of its messages were ready.

    connection, options: as for `producer_in`.  Locks: those messages, skipping what is being claimed, and the group.
    """
    given = {"queue": queue, "group": group, "seconds": seconds, "task_id": None}
    return int(runner(connection)(cached_statements(options).park, given)[0][0])


def wake(
    connection: Any, queue: str, group: str, *, most: int = 1, options: Mapping[str, Any] | None = None
) -> list[str | None]:
    """Make parked or snoozed messages of a group ready, by priority and then by age.  -> their task ids in this order.

    connection, options: as for `producer_in`.  Locks: those messages, skipping locked ones; the group with its last.
    """
    given = {"queue": queue, "group": group, "most": most}
    return [row[0] for row in runner(connection)(cached_statements(options).wake, given)]
