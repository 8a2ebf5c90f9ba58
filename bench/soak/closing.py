"""What is so after the load: nothing is lost or billed twice, and nothing is left behind."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.services.operations.audit import HOLDS, audit
from app.store.core.unit_of_work import UnitOfWork
from bench.service import Service
from bench.soak import processes
from bench.soak.ageing import Ageing
from bench.soak.database import Database

DRAIN_SECONDS = 600.0
_BILLED = "SELECT event_type::text, job_id::text, count(*) FROM usage_events GROUP BY 1, 2"
_LEFT = """
    SELECT 'reservation ' || job_id FROM quota_reservations UNION ALL SELECT 'slot ' || job_id FROM execution_slots
     UNION ALL SELECT 'message ' || m.task_id FROM broker_message m
                WHERE EXISTS (SELECT FROM analysis_requests r WHERE r.job_id::text = m.task_id)"""
_DEAD = "SELECT count(*) FROM broker_dead_letter"


@dataclass
class Closing:
    """What was found.  new_files: of the home, beside those before the load; left_files: after the service stopped."""

    lost: list[str]
    unbilled: list[str]
    billed_twice: list[str]
    strangers: list[str]
    left: list[str]
    dead_letters: int
    broken: list[str]
    zombies: list[str]
    new_files: list[str]
    left_files: list[str] = field(default_factory=list)

    @property
    def faults(self) -> list[str]:
        """Each thing that must not be, in words."""
        named = {
            "lost": self.lost, "completed but not billed": self.unbilled, "billed twice": self.billed_twice,
            "billed, but did not complete": self.strangers, "left over": self.left, "broken invariant": self.broken,
            "zombie": self.zombies, "new file": self.new_files, "file left behind": self.left_files,
        }  # fmt: skip
        found = [f"{what}: {len(rows)}, such as {rows[:3]}" for what, rows in named.items() if rows]
        return [*found, *([f"dead letters: {self.dead_letters}"] if self.dead_letters else [])]


def close(
    service: Service, uow: UnitOfWork, look: Database, ageing: Ageing, folders: Sequence[Path], before: set[str]
) -> Closing:
    """Wait until all work has ended, and look.  before: files that were there before the load."""
    _drain(look, ageing)
    ageing.end()
    billed = {(kind, job): count for kind, job, count in look.ask(_BILLED)}
    analyses = {job for kind, job in billed if kind == "analysis"}
    completed = ageing.completed["analysis"]
    zombies = processes.zombies(service.pid)
    return Closing(
        lost=sorted(ageing.pending),
        unbilled=sorted(completed - analyses),
        billed_twice=[f"{kind} {job}" for (kind, job), count in billed.items() if count > 1],
        strangers=sorted(analyses - completed),
        left=[row[0] for row in look.ask(_LEFT)],
        dead_letters=int(look.ask(_DEAD)[0][0]),
        broken=[f"{one.number} {one.title}: {one.rows[:2]}" for one in audit(uow) if one.status != HOLDS],
        zombies=zombies,
        new_files=sorted(processes.files(folders) - before),
    )


def _drain(look: Database, ageing: Ageing) -> None:
    deadline = time.monotonic() + DRAIN_SECONDS
    while time.monotonic() < deadline:
        ageing.note_ends()
        if not ageing.pending and not look.ask(_LEFT):
            return
        time.sleep(0.5)  # between two looks at work that ends
