"""Whether the service keeps up, in one word, and why not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from app.services.operations.nodes import Node
from app.services.operations.queues import Pause
from app.store.operations.queues import QueueState

#: How old the oldest ready message of a queue may be, in seconds.
LATE = 60.0
#: The same for a queue of scheduled work, which beat fills once an hour.
LATE_SCHEDULED = 3600.0


class Word(StrEnum):
    """The state of the service in one word.

    behind: a queue that is not paused is late, or no living node takes its messages; paused: else, a queue is.
    """

    OK = "OK"
    BEHIND = "Behind"
    PAUSED = "Paused"


@dataclass(frozen=True, slots=True)
class Late:
    """A queue whose oldest ready message is older than it may be.  Both numbers are seconds."""

    queue: str
    oldest_seconds: float
    allowed_seconds: float


@dataclass(frozen=True, slots=True)
class ServiceState:
    """The word and its causes.  unserved: queues without a living node; has_nodes: whether any node is alive.

    only_lent: queues that no node serves but with its idle processes.  They may wait for long, and then they are late.
    """

    word: Word
    has_nodes: bool
    late: Sequence[Late] = field(default_factory=tuple)
    unserved: Sequence[str] = field(default_factory=tuple)
    only_lent: Sequence[str] = field(default_factory=tuple)
    paused: Sequence[Pause] = field(default_factory=tuple)


def service_state(queues: Sequence[QueueState], nodes: Iterable[Node], pauses: Sequence[Pause]) -> ServiceState:
    """Judge what was read.  A paused queue is neither late nor unserved, because nothing is expected of it."""
    living = [node for node in nodes if node.is_alive]
    served = {queue for node in living for queue in node.queues}
    own = {queue for node in living for queue in node.queues if queue not in node.lent}
    expected = [row for row in queues if not row.paused]
    late = [
        Late(row.queue, row.oldest_seconds, allowed(row.queue))
        for row in expected
        if row.ready and row.oldest_seconds > allowed(row.queue)
    ]
    unserved = [row.queue for row in expected if row.queue not in served]
    only_lent = [row.queue for row in expected if row.queue in served - own]
    word = Word.BEHIND if late or unserved else Word.PAUSED if pauses else Word.OK
    return ServiceState(word, bool(living), late, unserved, only_lent, pauses)


def allowed(queue: str) -> float:
    """How many seconds the oldest ready message of a queue may wait."""
    return LATE_SCHEDULED if queue.endswith("_scheduled") else LATE
