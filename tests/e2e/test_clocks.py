"""Hosts whose clocks are wrong: everything that is stored is told by the database's (docs/adr/0043)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from durable_harness.waiting import wait_for

from app.services.accounts import tokens
from tests.conftest import World
from tests.e2e.webs import Web
from tests.nodes import Nodes

FAKETIME = sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
pytestmark = pytest.mark.skipif(not FAKETIME, reason="libfaketime is not installed: apt-get install faketime")

AHEAD, BEHIND = "+5m", "-5m"
#: As exact as a round trip is quick; a host that is five minutes off is off by far more.
NEAR = timedelta(seconds=30)


#: The clock that nobody sets is not set here either, or time-outs would be wrong; libfaketime refuses to sleep by it.
SLEEP = "import select, time\ntime.sleep = lambda seconds: select.select([], [], [], max(0, seconds)) and None\n"


def fake(folder: Path, offset: str) -> dict[str, str]:
    """The environment of a process on a host whose clock is off."""
    (folder / "sleep").mkdir(exist_ok=True)
    (folder / "sleep" / "sitecustomize.py").write_text(SLEEP)
    faked = {"LD_PRELOAD": str(FAKETIME[0]), "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    return faked | {"PYTHONPATH": str(folder / "sleep")}


def instants(value: Any) -> list[datetime]:
    """Every instant in an answer."""
    if isinstance(value, dict):
        return [one for inner in value.values() for one in instants(inner)]
    if isinstance(value, list):
        return [one for inner in value for one in instants(inner)]
    try:
        return [datetime.fromisoformat(value)] if isinstance(value, str) and "T" in value else []
    except ValueError:
        return []


def stored(world: World) -> dict[str, list[datetime]]:
    """Every instant in every table."""
    tables = [row["name"] for row in world.rows("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'")]
    said = {table: world.rows(f"SELECT to_jsonb(t) AS said FROM {table} AS t") for table in tables}
    return {table: [at for row in rows for at in instants(row["said"])] for table, rows in said.items()}


@pytest.mark.proof
def test_a_web_ahead_and_a_worker_behind_store_the_databases_time_alone(
    world: World, nodes: Nodes, repository: Callable[..., Path], tmp_path: Path
) -> None:
    migrated = {at for ats in stored(world).values() for at in ats}
    began = world.uow.now()
    user = world.user()
    token = tokens.add_token(world.uow, user, now=datetime.now(UTC)).secret
    path = repository("shop")
    web = Web(nodes, tmp_path, token, **fake(tmp_path, AHEAD))
    nodes.worker(**fake(tmp_path, BEHIND))
    job = web.ask("/api/v1/analyses", {"repository": "local:shop"})
    done = wait_for(lambda: _completed(web, job["id"]), "the job to complete")
    ended = world.uow.now()
    assert path.exists()
    order = [datetime.fromisoformat(done[name]) for name in ("submitted_at", "started_at", "finished_at")]
    assert [began, *order, ended] == sorted([began, *order, ended])
    [bill] = world.rows("SELECT accepted_at, created_at FROM usage_events")
    assert [bill["accepted_at"], bill["created_at"]] == [order[0], order[2]]
    assert world.value("SELECT hour_at FROM usage_sums") == order[0].replace(minute=0, second=0, microsecond=0)
    for table, ats in stored(world).items():
        assert [at for at in ats if at not in migrated and _is_of_a_wrong_clock(at, began, ended)] == [], table


@pytest.mark.proof
def test_the_skew_of_each_host_is_in_metrics_readiness_and_log(
    world: World, nodes: Nodes, repository: Callable[..., Path], tmp_path: Path
) -> None:
    token = tokens.add_token(world.uow, world.user(), now=datetime.now(UTC)).secret
    repository("shop")
    web = Web(nodes, tmp_path, token, **fake(tmp_path, AHEAD))
    nodes.worker(**fake(tmp_path, BEHIND))
    job = web.ask("/api/v1/analyses", {"repository": "local:shop"})
    wait_for(lambda: _completed(web, job["id"]), "the job to complete")
    assert round(web.ask("/readyz")["clock_ahead_seconds"]) == 300
    told = [line for line in web.ask("/metrics").splitlines() if line.startswith("fairlane_clock_ahead_seconds{")]
    seconds = {line.split('program="')[1].split('"')[0]: round(float(line.split()[-1])) for line in told}
    assert seconds == {"fairlane web": 300, "fairlane worker": -300}
    assert "clock_skew" in web.process.logs()


def _completed(web: Web, job_id: str) -> Any:
    job = web.ask(f"/api/v1/analyses/{job_id}")
    return job if job["status"] == "completed" else None


def _is_of_a_wrong_clock(at: datetime, began: datetime, ended: datetime) -> bool:
    """Whether an instant was read five minutes off: the first one of an hour or a day was calculated."""
    is_calculated = (at.minute, at.second, at.microsecond) == (0, 0, 0)
    is_behind = began - timedelta(minutes=6) < at <= began - NEAR
    is_ahead = ended + NEAR < at < ended + timedelta(minutes=6)
    return (is_behind and not is_calculated) or is_ahead
