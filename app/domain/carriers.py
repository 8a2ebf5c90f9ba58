"""Choose the line in which a job waits that several users asked for (docs/adr/0046)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from app.domain.queues import SUFFIXES


@dataclass(frozen=True, slots=True)
class Right:
    """The means of an asker: a queue, and their slots of its service.

    user_id: None for the schedule; slots, most_ready: None if no limit holds jobs back; step: of their share, in ranks.
    """

    user_id: UUID | None
    queue: str
    slots: int | None
    most_ready: int | None
    step: int

    @property
    def level(self) -> int:
        """Rank of the queue; 0 is the best-served one."""
        return SUFFIXES.index(self.queue.partition("_")[2])


def best(rights: Sequence[Right], turns: Sequence[float]) -> Right:
    """The right under which the job waits for the fewest runs; on a tie the better queue wins, then the first.

    turns: for each right, how many runs come before the job.
    """
    places = [(waits, right.level) for right, waits in zip(rights, turns, strict=True)]
    return rights[places.index(min(places))]
