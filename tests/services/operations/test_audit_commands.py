"""`fairlane audit` and `fairlane sweep`, as an operator or a monitor runs them."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from app.store.operations.invariants import ALL
from tests.conftest import World


def test_an_audit_of_a_sound_database_says_so_and_exits_with_0(world: World, fairlane: Any) -> None:
    world.submit(world.user())
    done = fairlane("audit")
    assert done.exit_code == 0, done.output
    assert [line.split()[1] for line in done.stdout.splitlines() if " holds " in line] == [i.number for i in ALL]
    assert [finding["status"] for finding in json.loads(fairlane("audit", "--json").stdout)] == ["holds"] * len(ALL)


def test_an_audit_of_a_broken_one_shows_the_rows_and_exits_with_1(world: World, fairlane: Any) -> None:
    job_id = world.submit(world.user())
    world.rows("DELETE FROM quota_reservations RETURNING id")
    done = fairlane("audit")
    assert done.exit_code == 1
    assert "I4 reserved if and only if unfinished: 1." in done.stdout
    assert f"job_id={job_id}" in done.stdout
    told = fairlane("audit", "--json")
    [broken] = [finding for finding in json.loads(told.stdout) if finding["status"] == "broken"]
    assert (told.exit_code, broken["number"], broken["rows"][0]["job_id"]) == (1, "I4", str(job_id))


@pytest.mark.proof
def test_an_audit_looks_back_no_further_than_asked(world: World, fairlane: Any) -> None:
    world.submit(world.user())
    world.rows("DELETE FROM quota_reservations RETURNING id")
    since = world.now.replace(tzinfo=None)
    assert fairlane("audit", "--since", since.isoformat()).exit_code == 1
    assert fairlane("audit", "--since", f"{since + timedelta(days=1):%Y-%m-%d}").exit_code == 0
    assert fairlane("audit", "--since", "yesterday").exit_code == 2


def test_a_sweep_is_tried_before_it_is_done(world: World, fairlane: Any) -> None:
    job_id = world.submit(world.user())
    world.rows("DELETE FROM kombu_message RETURNING id")
    world.rows("UPDATE quota_reservations SET expires_at = now() - interval '1 h' RETURNING id")
    tried = fairlane("sweep", "--dry-run")
    assert tried.exit_code == 0
    assert "orphans: 1" in tried.stdout
    assert f"job_id={job_id}" in tried.stdout
    assert world.value("SELECT count(*) FROM quota_reservations") == 1
    told = json.loads(fairlane("sweep", "--json").stdout)
    assert (told["dry_run"], told["orphans"], told["rows"]["orphans"][0]["job_id"]) == (False, 1, str(job_id))
    assert world.value("SELECT count(*) FROM quota_reservations") == 0
