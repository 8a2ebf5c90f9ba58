"""Pruning: what expires, what stays, and what is never touched (docs/adr/0041)."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from app.domain.plans import Tier
from app.services.jobs import read_jobs
from app.services.jobs.cancel import cancel
from app.services.operations.audit import audit
from app.services.operations.prune import Pruned, prune
from app.services.operations.reconcile import reconcile
from app.services.operations.sweep import sweep
from app.store.analyses.inventories import FileRow
from tests.conftest import NOW, World
from tests.services.busy import account, bury, fill

DAY = timedelta(days=1)
RESULTS = ("analyses", "analysis_file_lists", "file_lists", "file_list_entries", "file_inventories", "job_events")


def file(letter: str) -> FileRow:
    case = {"name": "test_a", "line": 1, "suites": [], "status": "active", "framework": "pytest"}
    return FileRow(f"tests/test_{letter}.py", letter * 40, "pytest", [case], None)


def pruned(world: World, *, days: float = 0, dry_run: bool = False) -> Pruned:
    """A round so many days after everything was made; lists that no analysis has count as left by no running job."""
    return prune(world.uow, now=NOW + days * DAY, lists_live=timedelta(days=-9999), dry_run=dry_run)


def completed(world: World, user: UUID, *files: FileRow, name: str = "shop") -> UUID:
    delivery = world.running(user, world.wanted(name))
    world.finish(delivery, user, files)
    return delivery.job_id


def count(world: World, table: str) -> object:
    return world.value(f"SELECT count(*) FROM {table}")


def history(world: World, user: UUID) -> list[UUID]:
    found, _ = read_jobs.history(world.uow, user, world.policy, limit=100, now=NOW)
    return [job.id for job in found]


def broken(world: World) -> list[Any]:
    return [(finding.number, finding.rows) for finding in audit(world.uow) if finding.status != "holds"]


@pytest.mark.parametrize(("tier", "days"), [(Tier.FREE, 30), (Tier.PRO, 180), (Tier.PRO_PLUS, 365)])
def test_a_result_lives_for_the_days_of_its_plan_and_then_leaves_nothing_but_its_bill(
    world: World, tier: Tier, days: int
) -> None:
    user = world.user(tier)
    job_id = completed(world, user, file("a"), file("b"))
    assert pruned(world, days=days - 0.01).jobs == 0
    assert history(world, user) == [job_id]
    done = pruned(world, days=days)
    assert (done.requests, done.jobs, done.inventories) == (1, 1, 2)
    assert history(world, user) == []
    assert {table: count(world, table) for table in (*RESULTS, "analysis_requests")} == dict.fromkeys(
        (*RESULTS, "analysis_requests"), 0
    )
    [bill] = world.rows("SELECT user_id, job_id, quota_amount FROM usage_events")
    assert bill == {"user_id": user, "job_id": job_id, "quota_amount": 1}
    assert broken(world) == []


def test_what_an_enterprise_has_stays_for_ever(world: World) -> None:
    user = world.user(Tier.ENTERPRISE)
    job_id = completed(world, user, file("a"))
    assert set(pruned(world, days=36500).counts.values()) == {0}
    assert history(world, user) == [job_id]


def test_a_downgrade_does_not_shorten_the_days_of_what_is_there(world: World) -> None:
    user = world.user(Tier.PRO)
    job_id = completed(world, user, file("a"))
    world.rows("UPDATE user_subscriptions SET tier = 'free' RETURNING id")
    world.rows("UPDATE subscription_plans SET retention_days = 1 RETURNING tier")
    pruned(world, days=179)
    assert history(world, user) == [job_id]


def test_a_result_outlives_its_payers_days_in_the_history_of_others(world: World) -> None:
    payer, other, wanted = world.user(Tier.FREE), world.user(Tier.PRO), world.wanted()
    delivery = world.running(payer, wanted)
    world.finish(delivery, payer, [file("a")])
    assert world.submit(other, wanted) == delivery.job_id
    done = pruned(world, days=31)
    assert (done.requests, done.jobs) == (1, 0)
    assert (history(world, payer), history(world, other)) == ([], [delivery.job_id])
    assert world.status(delivery.job_id) == "completed"
    assert broken(world) == []
    assert pruned(world, days=181).jobs == 1
    assert count(world, "analyses") == 0


@pytest.mark.proof
def test_the_schedules_results_live_thirty_days(world: World) -> None:
    fill(world)
    scheduled = "SELECT count(*) FROM analysis_requests WHERE trigger = 'scheduled'"
    world.rows("DELETE FROM kombu_message WHERE user_id IS NULL RETURNING id")
    world.rows("UPDATE analysis_requests SET cancelled_at = now() WHERE trigger = 'scheduled' RETURNING id")
    pruned(world, days=29)
    assert world.value(scheduled) == 1
    pruned(world, days=30)
    assert world.value(scheduled) == 0


def test_content_that_a_living_result_shares_with_an_expired_one_stays(world: World) -> None:
    free, pro = world.user(Tier.FREE), world.user(Tier.PRO)
    # alone in its repository a file is a list of its own
    completed(world, free, file("a"), name="one")
    kept = completed(world, pro, file("a"), name="two")
    completed(world, free, file("b"), name="three")
    done = pruned(world, days=31)
    assert (done.jobs, done.lists, done.inventories) == (2, 1, 1)
    assert world.rows("SELECT path FROM analysis_files WHERE analysis_id = :id", id=kept) == [{"path": file("a").path}]
    assert broken(world) == []


def test_parse_results_go_thirty_days_after_they_were_made_when_no_file_has_their_content(world: World) -> None:
    user = world.user(Tier.PRO)
    completed(world, user, file("a"))
    world.rows(
        """INSERT INTO blob_facts SELECT repeat(letter, 40), 'python', :version, '{}', :now
             FROM unnest(ARRAY['a', 'b']) AS letter RETURNING blob_id""",
        version=world.policy.parser_version,
        now=NOW,
    )
    assert pruned(world, days=29).facts == 0
    assert pruned(world, days=31).facts == 1
    assert world.rows("SELECT blob_id FROM blob_facts") == [{"blob_id": "a" * 40}]
    pruned(world, days=181)
    assert count(world, "blob_facts") == 0


@pytest.mark.proof
def test_jobs_that_have_not_ended_are_left_alone_however_old_they_are(world: World) -> None:
    busy = fill(world)
    unfinished = [busy.jobs[name] for name in ("queued", "running", "retrying", "lost", "asked to stop", "scheduled")]
    before = {str(job_id): world.status(job_id) for job_id in unfinished}
    pruned(world, days=4000)
    assert {str(job_id): world.status(job_id) for job_id in unfinished} == before
    for job_id in unfinished:
        assert world.rows("SELECT 1 AS told FROM job_events WHERE job_id = :id LIMIT 1", id=job_id)


def test_a_dead_letters_job_waits_for_the_sweep_to_end_it(world: World) -> None:
    user = world.user(Tier.FREE)
    job_id = world.submit(user)
    bury(world, job_id)
    world.rows("UPDATE kombu_dead_letter SET died_at = :now RETURNING id", now=NOW)
    pruned(world, days=31)
    assert count(world, "analysis_requests") == 1
    assert sweep(world.uow, world.policy, now=NOW).buried == 1
    assert pruned(world, days=31).jobs == 1
    assert count(world, "kombu_dead_letter") == 1
    assert pruned(world, days=91).letters == 1
    assert count(world, "kombu_dead_letter") == 0


def test_a_job_cancelled_before_it_started_expires_like_any_other(world: World) -> None:
    user = world.user(Tier.FREE)
    job_id = world.submit(user)
    cancel(world.uow, job_id, account(world, user), world.policy, now=NOW)
    assert pruned(world, days=31).jobs == 1
    assert (count(world, "analysis_requests"), count(world, "job_events")) == (0, 0)


def test_bills_without_their_jobs_are_no_difference_and_orphans_are_still_counted(world: World) -> None:
    user = world.user(Tier.FREE)
    completed(world, user, file("a"))
    lost = world.submit(user)
    world.rows("DELETE FROM kombu_message WHERE task_id = :id RETURNING id", id=str(lost))
    sweep(world.uow, world.policy, now=NOW + DAY)
    pruned(world, days=31)
    found = reconcile(world.uow, now=NOW + 31 * DAY)
    assert (found.jobs, found.events, found.differences) == (0, 0, [])
    assert world.value("SELECT count(*) FROM job_events WHERE event = 'reservation_orphaned'") == 1


def test_repositories_and_visitors_of_long_ago_go_and_those_of_late_stay(world: World) -> None:
    person = world.user(Tier.FREE)
    completed(world, person, file("a"), name="old")
    completed(world, world.user(Tier.PRO), file("b"), name="kept")
    world.rows(
        """INSERT INTO users (id, kind, created_at) SELECT gen_random_uuid(), 'anonymous', at
             FROM unnest(ARRAY[CAST(:old AS timestamptz), :now]) AS at RETURNING id""",
        old=NOW,
        now=NOW + 60 * DAY,
    )
    done = pruned(world, days=92)
    assert (done.codebases, done.visitors) == (1, 1)
    assert world.rows("SELECT name FROM codebases") == [{"name": "kept"}]
    assert world.value("SELECT count(*) FROM users WHERE id = :id", id=person) == 1


def test_a_dry_run_counts_and_drops_nothing(world: World, fairlane: Any) -> None:
    fill(world)
    completed(world, world.user(Tier.FREE), file("c"))
    world.rows("UPDATE analysis_requests SET requested_at = now() - interval '1 year' RETURNING id")
    before = {
        table: world.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in (*RESULTS[:-1], "analysis_requests")
    }
    told = fairlane("prune", "--dry-run", "--json")
    assert told.exit_code == 0, told.output
    assert json.loads(told.output)["requests"] > 0
    assert {table: world.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in before} == before
    assert "requests:" in fairlane("prune").output
    assert broken(world) == []
