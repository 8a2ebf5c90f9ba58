"""Time, passed in: what is older than a few minutes is pruned as if its days were over, and each job's end is noted.

The schedule runs the service's own maintenance; with lives of days it would find nothing to delete within an hour.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from uuid import UUID

from sqlalchemy import text

from app.services.accounts.forget import forget
from app.services.operations.run_in_batches import in_batches
from app.store.core.unit_of_work import UnitOfWork
from app.store.jobs import idempotency
from app.store.operations import retention, schedule, unused_rows
from app.store.specifications import spec_words
from app.store.webhooks import webhook_deliveries

#: Days of history of every tier; prune is told that it is a day later.
DAYS = 1
SIGNED_UP = "soak-new-"
_PLANS = text("""
    UPDATE subscription_plans
       SET retention_days = :days, analyses_per_period = NULL, spec_units_per_period = NULL""")
# A payer may leave a job to those who joined it, who pay nothing, and may come back, and pays again.
_ENDED = text("""
    SELECT e.job_id, e.event::text AS event,
           coalesce((SELECT f.event = 'payer_left' FROM job_events f
                      WHERE f.job_id = e.job_id AND f.event IN ('payer_left', 'payer_came_back')
                      ORDER BY f.id DESC LIMIT 1), false) AS is_free,
           extract(epoch FROM e.at - (SELECT min(at) FROM job_events f WHERE f.job_id = e.job_id)) AS seconds
      FROM job_events e
     WHERE e.job_id = ANY (CAST(:ids AS uuid[])) AND e.event IN ('completed', 'failed', 'cancelled')""")
_MONTHS = text("SELECT CAST(part AS text) AS part FROM partition_bounds('webhook_deliveries')")
_NEW = text("SELECT id FROM users WHERE email LIKE :who AND created_at < :before LIMIT 50")


@dataclass(frozen=True, slots=True)
class Job:
    """An accepted job.  at: when, in seconds of time.monotonic."""

    id: str
    service: str
    token: str
    repository: str
    commit: str
    at: float


@dataclass
class Ageing:
    """live: how long everything is kept.  pending: jobs whose end was not seen; recent: completed analyses.

    known: the ids of all that were accepted; free: of those that completed after their payer had left.
    """

    uow: UnitOfWork
    live: timedelta
    pending: dict[str, Job] = field(default_factory=dict)
    recent: deque[Job] = field(default_factory=deque)
    ended: Counter[str] = field(default_factory=Counter)
    completed: dict[str, set[str]] = field(default_factory=lambda: {"analysis": set(), "specview": set()})
    free: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)
    took: list[tuple[float, float]] = field(default_factory=list)
    pruned: Counter[str] = field(default_factory=Counter)
    error: BaseException | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _over: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def begin(self) -> None:
        """Shorten the plans' days, take their limits away, and go on by itself."""
        with self.uow.begin() as tx:
            tx.write(_PLANS, days=DAYS)
        for what, pause in ((self.note_ends, 0.5), (self.prune, self.live.total_seconds() / 8)):
            thread = threading.Thread(target=self._again, args=(what, pause), daemon=True)
            thread.start()
            self._threads.append(thread)

    def accept(self, job: Job) -> bool:
        """Wait for the end of a job; False if it is known already, as of one that was joined."""
        with self._lock:
            if job.id in self.known:
                return False
            self.known.add(job.id)
            self.pending[job.id] = job
            return True

    def end(self) -> None:
        """Do both once more and stop."""
        self._over.set()
        for thread in self._threads:
            thread.join()
        if self.error is not None:
            raise self.error

    def note_ends(self) -> None:
        """Which of the accepted jobs have ended; they are pruned only later."""
        waiting = dict(self.pending)
        if not waiting:
            return
        with self.uow.begin() as tx:
            rows = list(tx.run(_ENDED, ids=list(waiting)))
        for job_id, event, is_free, seconds in rows:
            job = waiting[str(job_id)]
            if self.pending.pop(job.id, None) is None:
                continue
            self.ended[event] += 1
            self.took.append((time.monotonic(), float(seconds)))
            if event == "completed":
                (self.free if is_free else self.completed[job.service]).add(job.id)
                if job.service == "analysis":
                    self.recent.append(job)
        # well before they are pruned, so that a read finds them
        while self.recent and self.recent[0].at < time.monotonic() - self.live.total_seconds() / 2:
            self.recent.popleft()

    def prune(self) -> None:
        """Delete what has lived, by the steps of the service's prune, each kind with the same short life."""
        now = self.uow.now()
        before = now - max(self.live, self._oldest())
        later = before + timedelta(days=DAYS)
        steps = {
            "requests": lambda *at: retention.expire_history(*at, now=later),
            "jobs": lambda *at: retention.drop_jobs(*at, days=DAYS, now=later),
            "lists": lambda *at: retention.drop_lists(*at, before=before),
            "inventories": retention.drop_inventories,
            "facts": lambda *at: retention.drop_facts(*at, before=before),
            "words": lambda *at: spec_words.drop(*at, before=before),
        }
        with self.uow.begin() as tx:
            # sooner than the jobs, as in the service: a key may lead to a job that was in the history before
            self.pruned["keys"] += idempotency.prune(tx, before=before + self.live / 2)
        for name, step in steps.items():
            self.pruned[name] += in_batches(self.uow, step)
        with self.uow.begin() as tx:  # the service drops whole months, of which this one is not over
            parts = [row.part for row in tx.run(_MONTHS)]
        for part in parts:
            expire = partial(webhook_deliveries.expire, part=part, before=before)
            self.pruned["deliveries"] += in_batches(self.uow, expire)
        with self.uow.begin() as tx:
            self.pruned["slots of the schedule"] += schedule.prune(tx, before=before)
            self.pruned["reconciliations"] += unused_rows.drop_reconciliations(tx, before=before)
            new = [UUID(str(row[0])) for row in tx.run(_NEW, who=f"{SIGNED_UP}%", before=before)]
        for user_id in new:
            forget(self.uow, user_id, actor="soak", now=self.uow.now())
            self.pruned["accounts"] += 1

    def _oldest(self) -> timedelta:
        """The age of the oldest job whose end was not seen: pruned before that, it would look lost."""
        begun = min((job.at for job in list(self.pending.values())), default=time.monotonic())
        return timedelta(seconds=time.monotonic() - begun + 1)

    def _again(self, what: object, pause: float) -> None:
        try:
            while not self._over.wait(pause):
                what()  # type: ignore[operator]
            what()  # type: ignore[operator]
        except BaseException as error:  # noqa: BLE001 - told at the end
            self.error = error
