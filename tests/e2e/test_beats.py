"""Three beats that are killed while weeks go by: each slot of the schedule is sent once, and none is left out."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from durable_harness.waiting import wait_for
from sqlalchemy import text

from app.domain.schedule import slot_start
from app.store.core.unit_of_work import UnitOfWork
from tests.e2e.virtual_beat import VirtualClock
from tests.nodes import LocalProcess, Nodes

BEATS = 3
#: `make prove-schedule` asks for 30 days and 500 kills.
DAYS, KILLS = float(os.environ.get("BEAT_DAYS", "0.5")), int(os.environ.get("BEAT_KILLS", "12"))
#: Seconds after which a beat that leads has finished its tick.
IN_A_TICK = 0.02
BEGIN = datetime(2026, 3, 1, 0, 1, tzinfo=UTC)
#: The shortest interval of the schedule.
STEP = timedelta(minutes=5)
#: What a worker would do: take the messages off the queues.
TAKE = text("""
    SELECT m.unique_key, broker_delete(m.task_id) FROM broker_message m WHERE m.unique_key LIKE 'schedule %'""")
SLOTS = text("SELECT name, slot_at FROM schedule_runs")
ENTRIES = text("SELECT name, every, starts_at FROM schedule_entries")


@pytest.mark.proof
def test_each_slot_is_sent_once_whichever_beats_are_killed(nodes: Nodes, uow: UnitOfWork, tmp_path: Path) -> None:
    path, chance = tmp_path / "clock", random.Random(7)
    clock = VirtualClock(path, beats=BEATS)
    clock.set(BEGIN.timestamp())
    beats = [_beat(nodes, path, number) for number in range(BEATS)]
    steps = int(timedelta(days=DAYS) / STEP)
    killed = Counter(chance.randrange(steps) for _ in range(KILLS))
    sent: Counter[str] = Counter()
    for step in range(steps):
        instant = (BEGIN + step * STEP).timestamp()
        clock.set(instant)
        for _ in range(killed[step]):
            beat = chance.choice(beats)
            time.sleep(chance.random() * IN_A_TICK)  # wherever it is then
            beat.kill()
            beat.start()
        wait_for(lambda at=instant: clock.sent() >= at, "a beat to send what is due")
        with uow.begin() as tx:
            sent.update(row.unique_key.removeprefix("schedule ") for row in tx.run(TAKE))
    with uow.begin() as tx:
        slots = {(row.name, row.slot_at) for row in tx.run(SLOTS)}
        entries = list(tx.run(ENTRIES))
    assert min(entry.every for entry in entries) == STEP
    assert slots == {
        (entry.name, slot_start(BEGIN + step * STEP, entry.every, entry.starts_at))
        for entry in entries
        for step in range(steps)
    }
    assert sent == Counter(name for name, _ in slots)
    print(f"{steps} steps, {KILLS} kills, {sum(sent.values())} messages")


def _beat(nodes: Nodes, clock: Path, number: int) -> LocalProcess:
    scheduler = "tests.e2e.virtual_beat:VirtualScheduler"
    return nodes.beat("--scheduler", scheduler, VIRTUAL_CLOCK=str(clock), VIRTUAL_BEAT=str(number))
