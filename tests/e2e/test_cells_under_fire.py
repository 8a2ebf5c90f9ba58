"""Accounts move between cells under fire: nodes and movers are killed, and nothing is lost, billed twice or above a limit.

CELLS servers (2 in the suite), CELL_USERS users (16), CELL_MOVES moves (6), of which a third are killed; `make prove-cells`
does 4, 1,000 and 200.  CELL_SEED repeats a run's choices.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from statistics import median, quantiles

import pytest
from durable_harness.waiting import wait_for

from app.services.operations.audit import HOLDS, audit
from tests.e2e import fire_checks
from tests.e2e.cells_on_fire import Cells, Clients, Owner
from tests.e2e.fire import Fire
from tests.e2e.test_limits_under_fire import TIMES
from tests.nodes import Nodes
from tests.race.invariants import broken

pytestmark = pytest.mark.proof

COUNT, USERS = int(os.environ.get("CELL_COUNT", "2")), int(os.environ.get("CELL_USERS", "16"))
MOVES, THREADS = int(os.environ.get("CELL_MOVES", "6")), 4
NODES, PAUSE, STOP = int(os.environ.get("CELL_NODES", "1")), float(os.environ.get("CELL_PAUSE", "3")), 6.0
SEED = int(os.environ.get("CELL_SEED", random.randrange(2**32)))
#: Of the movers, how many are killed, and after how many seconds at most.
KILLED, KILLED_AFTER = 0.33, float(os.environ.get("CELL_KILLED_AFTER", "4"))
#: A worker whose account has moved away writes nothing any more; what a move writes has no lease.
STRAY = "SELECT wrote, job_id, lease, at FROM fire_writes WHERE held IS NOT TRUE AND lease <> ''"
BILLS = "SELECT job_id::text AS job_id FROM usage_events"
RECORDS = "SELECT id::text AS job_id, status::text AS status FROM analyses"
LEFT = """
    SELECT 'reservation' AS what, job_id::text AS job_id FROM quota_reservations
     UNION ALL SELECT 'slot', job_id::text FROM execution_slots UNION ALL SELECT 'message', task_id FROM kombu_message"""
PREPARED = "SELECT gid FROM pg_prepared_xacts"


@pytest.mark.timeout(60 * MOVES + 900)
def test_accounts_move_while_they_work_and_lose_nothing(tmp_path: Path) -> None:
    print(f"\nseed {SEED}")
    dice = random.Random(SEED)

    def fire(nodes: Nodes) -> Fire:
        return Fire(nodes, random.Random(dice.random()), NODES, 2, PAUSE, STOP, TIMES)

    with Cells.of(COUNT, tmp_path, fire) as cells:
        owners = cells.owners(USERS)
        wait_for(lambda: all(cell.fire.ready() for cell in cells.cells.values()), "the nodes")
        clients = Clients(cells, owners)
        clients.begin(THREADS, SEED)
        wait_for(lambda: sum(len(owner.jobs) for owner in owners) > 2 * USERS, "work")
        begun = time.monotonic()
        moves = [moved(cells, owner, dice, tmp_path) for owner in dice.choices(owners, k=MOVES)]
        settled = done(cells.fairlane("cell", "settle", folder=tmp_path))
        seconds = time.monotonic() - begun
        for cell in cells.cells.values():
            cell.fire.cease()
        clients.stop()
        wait_for(lambda: over(cells), "every job to end", seconds=900)
        tell(cells, owners, clients, moves, settled, seconds, begun)
        judge(cells, owners, moves)


def moved(cells: Cells, owner: Owner, dice: random.Random, folder: Path) -> tuple[str, float]:
    """Move an account in a process of its own, which may be killed; -> how it ended, and the pause that it tells of."""
    [home, *_] = cells.noted()[owner.user_id]
    to = dice.choice([name for name in cells.cells if name != home])
    process = cells.fairlane("cell", "move", owner.email, "--to", to, "--json", folder=folder)
    due = time.monotonic() + (dice.uniform(0, KILLED_AFTER) if dice.random() < KILLED else 60.0)
    while process.poll() is None and time.monotonic() < due:
        for cell in cells.cells.values():
            cell.fire.step()
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
    was_killed = process.poll() is None
    if was_killed:
        process.kill()
    said, complained = process.communicate()
    if was_killed:
        return "killed", 0.0
    if process.returncode == 0:
        return "moved", float(json.loads(said)["pause_seconds"])
    assert "Traceback" not in complained, complained
    return f"refused: {complained.strip()[:200]}", 0.0


def done(process: subprocess.Popen[str]) -> list[str]:
    said, complained = process.communicate(timeout=120)
    assert process.returncode == 0, complained
    return said.splitlines()


def over(cells: Cells) -> bool:
    for cell in cells.cells.values():
        cell.fire.mend()
    return all(cell.waiting == 0 for cell in cells.cells.values())


def tell(
    cells: Cells, owners: list[Owner], clients: Clients, moves: list[tuple[str, float]], settled: list[str],
    seconds: float, begun: float,
) -> None:  # fmt: skip
    print(
        f"{sum(len(owner.jobs) for owner in owners)} jobs of {USERS} users in {COUNT} cells, answers {dict(clients.answers)}"
    )
    print(f"{MOVES} moves in {seconds:.0f} s: {Counter(how for how, _ in moves)}; settled afterwards: {settled}")
    pauses = [pause for how, pause in moves if how == "moved"]
    if len(pauses) > 1:
        print(f"pause of the moved: median {median(pauses):.3f} s, longest {max(pauses):.3f} s")
    took = sorted(second for owner in owners for at, second in owner.seconds if at > begun)
    if len(took) > 100:
        print(f"accepts meanwhile: median {median(took) * 1000:.0f} ms, p99 {quantiles(took, n=100)[98] * 1000:.0f} ms")
    for name, cell in cells.cells.items():
        print(f"{name}: faults {dict(cell.fire.done)}, late {cell.fire.told('stale')}")


def judge(cells: Cells, owners: list[Owner], moves: list[tuple[str, float]]) -> None:
    """Hold all cells together against what must be."""
    accepted = Counter(job for owner in owners for job in owner.jobs)
    assert max(accepted.values()) == 1
    bills = Counter(str(row["job_id"]) for row in cells.union(BILLS))
    assert bills == accepted  # each once: none lost, none billed twice
    statuses = Counter(str(row["status"]) for row in cells.union(RECORDS))
    assert set(statuses) == {"completed"}, statuses
    for cell in cells.cells.values():
        assert cell.world.rows(fire_checks.ABOVE) == []
        assert cell.world.rows(STRAY) == []
        assert (cell.world.rows(LEFT), cell.world.rows(PREPARED), broken(cell.world)) == ([], [], [])
        assert [finding for finding in audit(cell.world.uow) if finding.status != HOLDS] == []
    homes = cells.homes()
    assert set(homes) == {owner.user_id for owner in owners}
    assert homes == cells.noted()  # each in one cell, and the directory knows which
    assert any(how == "moved" for how, _ in moves)
