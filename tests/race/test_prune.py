"""Pruning while jobs store, finish and answer: what one of them is about to use is never dropped (docs/adr/0041)."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from durable_harness.waiting import wait_for
from sqlalchemy import text

from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.services.analyses.finish import save
from app.services.analyses.submit import submit
from app.services.operations.audit import audit
from app.services.operations.prune import prune
from app.store.analyses.inventories import FileRow
from app.store.core.unit_of_work import Tx
from app.store.operations import retention
from tests.conftest import NOW, World
from tests.databases import LOCK_WAITS

ROUNDS = int(os.environ.get("PRUNE_ROUNDS", "6"))
#: Somebody waits for a lock that is held.
DAY = timedelta(days=1)


def file(number: int) -> FileRow:
    case = {"name": "test_a", "line": 1, "suites": [], "status": "active", "framework": "pytest"}
    return FileRow(f"tests/test_{number:03}.py", f"{number:040x}", "pytest", [case], None)


def expire(world: World) -> None:
    """Nothing is left in anybody's history, and every list was last used days ago."""
    world.rows("UPDATE analysis_requests SET requested_at = requested_at - interval '1 year' RETURNING id")
    world.rows("UPDATE file_lists SET used_at = used_at - interval '2 days' RETURNING id")


@contextmanager
def held_open(world: World, drop: Callable[[Tx], object]) -> Iterator[Callable[[Callable[[], object]], Future[object]]]:
    """A batch of pruning that has done its work and not yet committed; calls begun inside run beside it."""
    with ThreadPoolExecutor(1) as thread:
        begun: list[Future[object]] = []

        def beside(call: Callable[[], object]) -> Future[object]:
            begun.append(thread.submit(call))
            wait_for(
                lambda: begun[0].done() or world.value(LOCK_WAITS), "the call to wait for the batch, or to be over"
            )
            return begun[0]

        with world.uow.begin() as tx:
            drop(tx)
            tx.flush()
            yield beside


def left_over(world: World, *files: FileRow) -> UUID:
    """A user whose one result has been pruned, but not its lists yet."""
    user = world.user(Tier.FREE)
    delivery = world.running(user)
    world.finish(delivery, user, files)
    expire(world)
    world.rows("DELETE FROM analyses RETURNING id")
    return user


def test_a_list_that_is_being_dropped_is_stored_anew_by_the_job_that_needs_it(world: World) -> None:
    user = left_over(world, file(1))
    delivery = world.running(user)
    before = datetime.now(UTC) - DAY
    with held_open(world, lambda tx: retention.drop_lists(tx, None, 100, before=before)) as beside:
        saved = beside(lambda: save(world.uow, [file(1)], world.policy))
        assert not saved.done()
    saved.result(timeout=30)
    assert world.finish(delivery, user, [file(1)]) is Outcome.COMPLETED
    assert world.value("SELECT count(*) FROM analysis_files") == 1


def test_a_list_that_a_job_has_stored_is_kept_until_the_job_can_have_ended(world: World) -> None:
    user = left_over(world, file(1))
    delivery = world.running(user)
    listing = save(world.uow, [file(1)], world.policy)
    assert prune(world.uow, now=datetime.now(UTC)).lists == 0
    assert world.finish(delivery, user, [file(1)]) is Outcome.COMPLETED
    assert [bytes(row["digest"]) for row in world.rows("SELECT digest FROM file_lists")] == listing  # type: ignore[arg-type]


def test_tests_of_a_file_that_are_being_dropped_are_stored_anew(world: World) -> None:
    user = left_over(world, file(1))
    world.rows("DELETE FROM file_lists RETURNING id")
    delivery = world.running(user)
    with held_open(world, lambda tx: retention.drop_inventories(tx, None, 100)) as beside:
        saved = beside(lambda: save(world.uow, [file(1)], world.policy))
        assert not saved.done()
    saved.result(timeout=30)
    assert world.finish(delivery, user, [file(1)]) is Outcome.COMPLETED
    assert world.value("SELECT count(*) FROM analysis_files") == 1


def test_tests_that_were_dropped_after_they_were_found_are_stored_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The narrowest place: a job's insert has met the row, and pruning commits before the job can hold it."""
    user = left_over(world, file(1))
    world.rows("DELETE FROM file_lists RETURNING id")
    delivery, write, dropped = world.running(user), Tx.write, list[int]()

    def slow(tx: Tx, statement: object, **parameters: object) -> None:
        write(tx, statement, **parameters)  # type: ignore[arg-type]
        if "INTO file_inventories" in str(statement) and not dropped:
            tx.flush()
            with world.uow.begin() as other:
                dropped.append(retention.drop_inventories(other, None, 100).rows)

    monkeypatch.setattr(Tx, "write", slow)
    save(world.uow, [file(1)], world.policy)
    assert dropped == [1]
    assert world.finish(delivery, user, [file(1)]) is Outcome.COMPLETED


def test_who_asks_for_a_result_that_is_being_dropped_gets_a_new_job(world: World) -> None:
    user, wanted = world.user(Tier.FREE), world.wanted()
    delivery = world.running(user, wanted)
    world.finish(delivery, user, [file(1)])
    expire(world)
    world.rows("UPDATE analysis_requests SET user_id = NULL RETURNING id")
    drop = lambda tx: retention.drop_jobs(tx, None, 100, days=30, now=NOW)  # noqa: E731
    with held_open(world, drop) as beside:
        asked = beside(lambda: submit(world.uow, user, wanted, world.policy, now=NOW))
        assert not asked.done()
    answer = asked.result(timeout=30)
    assert not answer.is_known  # type: ignore[attr-defined]
    assert answer.job.id != delivery.job_id  # type: ignore[attr-defined]


def test_a_result_that_somebody_has_just_asked_for_stays(world: World) -> None:
    user, wanted = world.user(Tier.FREE), world.wanted()
    delivery = world.running(user, wanted)
    world.finish(delivery, user, [file(1)])
    expire(world)
    world.rows("UPDATE analysis_requests SET user_id = NULL RETURNING id")
    with world.uow.begin() as tx:  # an accept that has its answer and not yet committed
        tx.run(text("SELECT FROM analyses WHERE id = :id FOR KEY SHARE"), id=delivery.job_id)
        assert prune(world.uow, now=NOW).jobs == 0
    assert world.submit(world.user(Tier.PRO), wanted) == delivery.job_id
    assert prune(world.uow, now=NOW).jobs == 0
    assert world.status(delivery.job_id) == "completed"


def test_who_asks_for_a_repository_that_is_being_dropped_is_accepted(world: World) -> None:
    user, wanted = world.user(Tier.FREE), world.wanted("old")
    world.finish(world.running(user, wanted), user, [file(1)])
    expire(world)
    prune(world.uow, now=NOW)
    assert world.value("SELECT count(*) FROM codebases") == 1
    with held_open(world, lambda tx: tx.run(text("DELETE FROM codebases"))) as beside:
        asked = beside(lambda: submit(world.uow, user, world.wanted("old"), world.policy, now=NOW))
        assert not asked.done()
    assert not asked.result(timeout=30).is_known  # type: ignore[attr-defined]


@pytest.mark.proof
def test_jobs_that_end_while_pruning_never_stops_lose_nothing(world: World) -> None:
    """Files are of few contents, so that what is dropped is what somebody is storing."""
    users = [world.user(Tier.ENTERPRISE) for _ in range(4)]

    def work(number: int) -> list[int]:
        dice, sizes = random.Random(number), []
        user = users[number % len(users)]
        for _ in range(5):
            files = [file(one) for one in sorted(dice.sample(range(40), dice.randint(1, 30)))]
            delivery = world.running(user)
            assert world.finish(delivery, user, files) is Outcome.COMPLETED
            sizes.append(len(files))
        return sizes

    for round_ in range(ROUNDS):
        with ThreadPoolExecutor(len(users)) as workers:
            working = [workers.submit(work, round_ * len(users) + n) for n in range(len(users))]
            while not all(job.done() for job in working):
                prune(world.uow, now=datetime.now(UTC))
            sizes = sorted(size for job in working for size in job.result())
        prune(world.uow, now=datetime.now(UTC))
        found = world.rows("SELECT count(*) AS files FROM analysis_files GROUP BY analysis_id ORDER BY 1")
        assert [row["files"] for row in found] == sizes
        assert [finding.number for finding in audit(world.uow) if finding.status != "holds"] == []
        world.rows("UPDATE analysis_requests SET retention_days = 30 RETURNING id")
        expire(world)
    assert prune(world.uow, now=datetime.now(UTC)).lists > 0
    for table in ("analyses", "file_lists", "file_list_entries", "file_inventories"):
        assert world.value(f"SELECT count(*) FROM {table}") == 0
