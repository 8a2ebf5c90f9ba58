"""The state of one job as the tables hold it between two commits, and what the user's other jobs see of it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from app.domain.queues import Service


class Message(StrEnum):
    """The job's row in the queue."""

    NONE = "none"
    READY = "ready"
    LEASED = "leased"  #: to a worker that has not started it
    STARTED = "started"
    SNOOZED = "snoozed"  #: or parked behind the user's own
    BACKOFF = "backoff"  #: an attempt failed, the next one is due later


class Record(StrEnum):
    """The row of the analysis; a job cancelled before it had one counts as cancelled, as its requests say so."""

    NONE = "none"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Holder(StrEnum):
    """The worker to whom the message is leased now."""

    NONE = "none"
    ALIVE = "alive"
    GONE = "gone"  #: died, or never learnt that its start was committed


class Hold(StrEnum):
    """The reservation."""

    NONE = "none"
    FRESH = "fresh"
    AGED = "aged"  #: its expiry has passed


class Slot(StrEnum):
    """The execution slot; it lives as long as the lease it was taken under."""

    NONE = "none"
    LIVE = "live"
    DEAD = "dead"


class Payer(StrEnum):
    """Who made the request that was accepted."""

    NONE = "none"  #: nobody has asked yet
    PAYS = "pays"
    LEFT = "left"  #: to those who joined
    QUIT = "quit"  #: asked for the end, and pays until it comes


ENDS = frozenset({Record.COMPLETED, Record.FAILED, Record.CANCELLED})
HELD = frozenset({Message.LEASED, Message.STARTED})


#: Units that a job reserves; a specification settles to what it wrote.
COST = {Service.ANALYSIS: 1, Service.SPECVIEW: 2}


class Job(NamedTuple):
    """spent: attempts that failed or were lost; billed: units; early, late: zombies before and after their start."""

    message: Message = Message.NONE
    record: Record = Record.NONE
    holder: Holder = Holder.NONE
    payer: Payer = Payer.NONE
    reservation: Hold = Hold.NONE
    slot: Slot = Slot.NONE
    spent: int = 0
    billed: int = 0
    joined: bool = False
    cancelling: bool = False
    away: bool = False  #: in the line, and the slot, of somebody else who asked for it
    early: int = 0
    late: int = 0
    twins: int = 0  #: messages too many; only a mistake makes one
    looked: bool = False  #: a check was made in a commit of its own; only a mistake does that
    service: Service = Service.ANALYSIS

    @property
    def ended(self) -> bool:
        return self.record in ENDS

    @property
    def cost(self) -> int:
        return COST[self.service]

    @property
    def unfinished(self) -> bool:
        return self.payer is not Payer.NONE and not self.ended

    def but(self, **changes: object) -> Job:
        """The same job with these fields changed."""
        return self._replace(**changes)  # type: ignore[arg-type]

    def __str__(self) -> str:
        fields = (f"{name}={value}" for name, value in self._asdict().items() if value != self._field_defaults[name])
        return " ".join(fields) or "not asked for"


class Others(NamedTuple):
    """What a step of one job can see of its user's other jobs of its service, and of their workers: sums over them.

    Of a job that is away there are its units, and its workers.  other_units, other_slots: of the other service, where
    only a mistake looks.
    """

    units: int = 0  #: billed or reserved
    slots: int = 0  #: live
    workers: int = 0  #: busy, zombies among them
    snoozed: int = 0
    leftovers: int = 0  #: dead slots
    ready: int = 0
    other_units: int = 0
    other_slots: int = 0


def seen_by_others(job: Job) -> Others:
    """A job's share of the sums."""
    return Others(
        units=job.billed + job.cost * (job.reservation is not Hold.NONE),
        slots=int(job.slot is Slot.LIVE and not job.away),
        workers=(job.holder is Holder.ALIVE) + job.early + job.late,
        snoozed=int(job.message is Message.SNOOZED and not job.away),
        leftovers=int(job.slot is Slot.DEAD and not job.away),
        ready=int(job.message is Message.READY and not job.away),
    )
