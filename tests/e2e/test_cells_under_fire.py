"""Accounts move between cells under fire: nodes and movers are killed, and nothing is lost, billed twice or above a limit.

CELLS servers (2 in the suite), CELL_USERS users (16), CELL_MOVES moves (6), of which some are killed; `make prove-cells`
does 4, 1,000 and 200.  CELL_SEED repeats a run's choices.  With CELL_RESTS=1 no account moves for as long after each ten
moves, so that accepts with and without moves are measured in one run.  CELL_NICE: of the movers and of who settles.
CELL_EVERY: seconds from the begin of a move to that of the next, 1.0 as it was when each mover was a process of its own;
0 for no pause.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

import pytest
from durable_harness.waiting import wait_for

from app.services.operations.audit import HOLDS, audit
from tests.e2e import fire_checks
from tests.e2e.cells_on_fire import Cells, Clients, Owner
from tests.e2e.fire import Fire
from tests.e2e.movers import Movers
from tests.e2e.test_limits_under_fire import TIMES
from tests.nodes import Nodes
from tests.race.invariants import broken

pytestmark = pytest.mark.proof

COUNT, USERS = int(os.environ.get("CELL_COUNT", "2")), int(os.environ.get("CELL_USERS", "16"))
MOVES, THREADS = int(os.environ.get("CELL_MOVES", "6")), 4
NODES, PAUSE, STOP = int(os.environ.get("CELL_NODES", "1")), float(os.environ.get("CELL_PAUSE", "3")), 6.0
#: So many moves in a row, where there are rests.
IN_A_ROW, RESTS = 10, os.environ.get("CELL_RESTS") == "1"
NICE = os.environ.get("CELL_NICE", "0")
SEED = int(os.environ.get("CELL_SEED", random.randrange(2**32)))
EVERY = float(os.environ.get("CELL_EVERY", "1.0"))
#: In how many moves a mover is to be killed, and after how many seconds at most; a move takes some 0.2 s.
KILLED, KILLED_AFTER = 0.33, float(os.environ.get("CELL_KILLED_AFTER", "0.5"))
#: A worker whose account has moved away writes nothing any more; what a move writes has no lease.
STRAY = "SELECT wrote, job_id, lease, at FROM fire_writes WHERE held IS NOT TRUE AND lease <> ''"
BILLS = "SELECT job_id::text AS job_id FROM usage_events"
#: A job whose worker is killed at each of its attempts fails, and is not billed.
RECORDS = "SELECT id::text AS job_id, concat_ws(' ', status, error_code) AS ended FROM analyses"
ENDS = {"completed", "failed worker_lost"}
LEFT = """
    SELECT 'reservation' AS what, job_id::text AS job_id FROM quota_reservations
     UNION ALL SELECT 'slot', job_id::text FROM execution_slots UNION ALL SELECT 'message', task_id FROM kombu_message"""
PREPARED = "SELECT gid FROM pg_prepared_xacts"


@dataclass(frozen=True)
class Move:
    """Whose account, how it ended, and the pause that it tells of."""

    owner: Owner
    how: str
    pause: float


@dataclass(frozen=True)
class Row:
    """Moves one after the other, and what was settled after them.  Instants of time.monotonic; rested: the end of the rest."""

    moves: list[Move]
    settled: list[str]
    begun: float
    ended: float
    rested: float


@pytest.mark.timeout(60 * MOVES + 900)
def test_accounts_move_while_they_work_and_lose_nothing(tmp_path: Path) -> None:
    print(f"\nseed {SEED}")
    dice = random.Random(SEED)

    def fire(nodes: Nodes) -> Fire:
        return Fire(nodes, random.Random(dice.random()), NODES, 2, PAUSE, STOP, TIMES)

    with Cells.of(COUNT, tmp_path, fire) as cells, Movers.of(cells, tmp_path, NICE) as movers:
        owners = cells.owners(USERS)
        wait_for(lambda: all(cell.fire.ready() for cell in cells.cells.values()), "the nodes")
        clients = Clients(cells, owners)
        clients.begin(THREADS, SEED)
        wait_for(lambda: sum(len(owner.jobs) for owner in owners) > 2 * USERS, "work")
        chosen = dice.choices(owners, k=MOVES)
        rows = [row(movers, chosen[at : at + IN_A_ROW], dice) for at in range(0, MOVES, IN_A_ROW)]
        print(f"{movers.started} movers were started")
        for cell in cells.cells.values():
            cell.fire.cease()
        clients.stop()
        wait_for(lambda: over(cells), "every job to end", seconds=900)
        tell(cells, owners, clients, rows)
        tell_accepts(owners, rows)
        judge(cells, owners, rows)


def row(movers: Movers, owners: list[Owner], dice: random.Random) -> Row:
    """Move accounts, and settle what was killed, as the sweep does; rest for as long, if asked."""
    cells, begun, moves = movers.cells, time.monotonic(), list[Move]()
    for owner in owners:
        due = time.monotonic() + EVERY
        moves.append(moved(movers, owner, dice))
        until(lambda: False, due, cells)
    settled = done(cells.fairlane("cell", "settle", folder=movers.folder, nice=movers.nice))
    ended = time.monotonic()
    return Row(moves, settled, begun, ended, until(lambda: not RESTS, 2 * ended - begun, cells))


def until(is_over: Callable[[], bool], due: float, cells: Cells) -> float:
    """Do harm until it is over or an instant of time.monotonic has come; -> when that was."""
    while not is_over() and time.monotonic() < due:
        for cell in cells.cells.values():
            cell.fire.step()
        time.sleep(0.05)
    return time.monotonic()


def moved(movers: Movers, owner: Owner, dice: random.Random) -> Move:
    """Move an account by the mover of a cell, which may be killed, and is then started again for the next."""
    [home, *_] = movers.cells.noted()[owner.user_id]
    to = dice.choice([name for name in movers.cells.cells if name != home])
    mover = movers.to(to)
    mover.tell(owner.email)
    due = time.monotonic() + (dice.uniform(0, KILLED_AFTER) if dice.random() < KILLED else 60.0)
    until(lambda: mover.has_said, due, movers.cells)
    if not mover.has_said:
        mover.end()
        movers.to(to)
        return Move(owner, "killed", 0.0)
    answer = mover.answer()
    return Move(owner, f"refused: {answer[:200]}", 0.0) if isinstance(answer, str) else Move(owner, "moved", answer)


def done(process: subprocess.Popen[str]) -> list[str]:
    said, complained = process.communicate(timeout=120)
    assert process.returncode == 0, complained
    return said.splitlines()


def over(cells: Cells) -> bool:
    for cell in cells.cells.values():
        cell.fire.mend()
    return all(cell.waiting == 0 for cell in cells.cells.values())


def tell(cells: Cells, owners: list[Owner], clients: Clients, rows: list[Row]) -> None:
    jobs = sum(len(owner.jobs) for owner in owners)
    print(f"{jobs} jobs of {USERS} users in {COUNT} cells, answers {dict(clients.answers)}")
    moves = [move for one in rows for move in one.moves]
    seconds = sum(one.ended - one.begun for one in rows)
    print(f"{MOVES} moves in {seconds:.0f} s: {Counter(move.how for move in moves)}")
    print(f"settled afterwards: {[what for one in rows for what in one.settled]}")
    pauses = [move.pause for move in moves if move.how == "moved"]
    if len(pauses) > 1:
        above = sum(pause > 1 for pause in pauses)
        print(f"pause: median {median(pauses):.3f} s, longest {max(pauses):.3f} s, {above} of {len(pauses)} above 1 s")
    for name, cell in cells.cells.items():
        print(f"{name}: faults {dict(cell.fire.done)}, late {cell.fire.told('stale')}")


def tell_accepts(owners: list[Owner], rows: list[Row]) -> None:
    """How long accepts took while accounts of others moved, and in the rests."""
    moving = [(one.begun, one.ended, [move.owner for move in one.moves]) for one in rows]
    resting = [(one.ended, one.rested, list[Owner]()) for one in rows]
    for what, spans in (("beside moves of others", moving), ("in the rests", resting)):
        took = [
            seconds
            for begun, ended, but in spans
            for owner in owners
            if owner not in but
            for at, seconds in owner.seconds
            if begun <= at - seconds < ended
        ]
        if len(took) > 100:
            p99 = quantiles(took, n=100)[98]
            print(f"{len(took)} accepts {what}: median {median(took) * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms")


def judge(cells: Cells, owners: list[Owner], rows: list[Row]) -> None:
    """Hold all cells together against what must be."""
    accepted = Counter(job for owner in owners for job in owner.jobs)
    assert max(accepted.values()) == 1
    bills = Counter(str(row["job_id"]) for row in cells.union(BILLS))
    ends = {what: {str(row["job_id"]) for row in cells.union(RECORDS) if row["ended"] == what} for what in ENDS}
    completed, failed = ends["completed"], ends["failed worker_lost"]
    print(f"{len(completed)} completed, {len(failed)} lost their worker at each attempt")
    assert {str(row["ended"]) for row in cells.union(RECORDS)} <= ENDS
    assert completed | failed == accepted.keys()  # none lost
    assert completed & failed == set()
    assert bills == Counter(completed)  # none billed twice, or for nothing
    for cell in cells.cells.values():
        assert cell.world.rows(fire_checks.ABOVE) == []
        assert cell.world.rows(STRAY) == []
        assert (cell.world.rows(LEFT), cell.world.rows(PREPARED), broken(cell.world)) == ([], [], [])
        assert [finding for finding in audit(cell.world.uow) if finding.status != HOLDS] == []
    homes = cells.homes()
    assert set(homes) == {owner.user_id for owner in owners}
    assert homes == cells.noted()  # each in one cell, and the directory knows which
    assert any(move.how == "moved" for one in rows for move in one.moves)
