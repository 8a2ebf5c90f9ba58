"""Slots, reservations, leases, nodes and parked jobs that are left behind, and how they are given back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from uuid import UUID

from app.services.fairness import wake_jobs
from app.services.operations.doctor.check import CannotMendError, Check, Instruments
from app.services.operations.shown_rows import ShownRow
from app.services.operations.sweep import drop_orphans, sweep
from app.store.accounts import users
from app.store.operations.faults import holds

#: Seconds: what a start, a poll or a rescue clears up by itself is no fault before.  A poll is due each 5 s.
GRACE = 30.0
#: Seconds by which a time limit may be exceeded, as the process that runs the job is killed after it.
OVERDUE_GRACE = 120.0


def _sweep(instruments: Instruments, rows: Sequence[ShownRow]) -> str:  # noqa: ARG001 - of all
    done = sweep(instruments.uow, instruments.policy, now=instruments.uow.now())
    return f"swept: {done.slots} slots given back, the users' next jobs woken"


def _drop_orphans(instruments: Instruments, rows: Sequence[ShownRow]) -> str:  # noqa: ARG001 - of all
    dropped = 0
    while True:
        with instruments.uow.begin() as tx:
            some = len(drop_orphans(tx, expired_by=None))
        dropped += some
        if not some:
            return f"{dropped} reservations given back"


def _take_back(instruments: Instruments, rows: Sequence[ShownRow]) -> str:  # noqa: ARG001 - of all
    if not instruments.take_back():
        raise CannotMendError("the server has just started, and its nodes may not be back yet: try again in 15 seconds")
    return "taken back, as a node does; what was running counts as a lost attempt"


def _wake(instruments: Instruments, rows: Sequence[ShownRow]) -> str:
    woken = 0
    for row in rows:
        with instruments.uow.begin() as tx:
            if account := users.lock(tx, UUID(str(row["user_id"]))):
                wake_jobs.fill(tx, account, instruments.policy.fairness)
                woken += 1
    return f"the oldest jobs of {woken} users woken"


def _overdue(instruments: Instruments) -> list[ShownRow]:
    return instruments.rows(holds.OVERDUE_JOBS, grace=OVERDUE_GRACE, **instruments.seconds)


CHECKS = (
    Check(
        "orphaned reservations",
        "reservations without a message or an unfinished dead letter",
        "Units are reserved for a job that no longer exists, so its user has fewer left.",
        "If it happens again although nobody deletes messages by hand, it is a defect: `fairlane audit` shows more.",
        lambda instruments: instruments.rows(holds.ORPHANS),
        _drop_orphans,
    ),
    Check(
        "leaked slots",
        "slots whose job no worker runs",
        "A slot was left by a worker that died; nobody has started a job of its user since, and no sweep has run.",
        "Let beat and a node of `analysis_scheduled` run: they sweep every five minutes.",
        lambda instruments: instruments.rows(holds.LEAKED_SLOTS, grace=GRACE),
        _sweep,
    ),
    Check(
        "stuck messages",
        "leases and delays that ended more than 30 seconds ago",
        "A job waits although its lease or delay is over: no living node reads its queue.",
        "Start a node for the queue.",
        lambda instruments: instruments.rows(holds.STUCK_MESSAGES, grace=GRACE),
        _take_back,
        same=("message",),
    ),
    Check(
        "overdue jobs",
        "jobs that run for longer than their time limit",
        "A node renews the lease of a job whose process should have been killed at the time limit.",
        "Kill that node (HOST:PID); its jobs start again on other nodes.",
        _overdue,
        same=("job_id",),
    ),
    Check(
        "dead nodes",
        "nodes without a session",
        "A node died, and no other node has taken back what it held.",
        "Start a node for its queues.",
        lambda instruments: instruments.rows(holds.DEAD_NODES),
        _take_back,
        same=("id",),
    ),
    Check(
        "parked jobs without a runner",
        "users whose jobs are all parked",
        "A user's jobs wait for a slot, and none of the user's jobs runs that would wake them when it ends.",
        "If it happens again, it is a defect: the users' timelines show which wake is missing.",
        partial(Instruments.rows, fault=holds.PARKED_ALONE),
        _wake,
        same=("user_id", "service"),
    ),
)
