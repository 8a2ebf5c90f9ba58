"""A job from accept to its end: what is billed, what is left, what a zombie can do (docs/adr/0002, docs/adr/0005)."""

from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

import pytest

from app.domain.lifecycle import Failure, Outcome
from app.domain.plans import EventType, Tier
from app.domain.queues import Service
from app.errors import Conflict, Forbidden, NotFound, QuotaExceeded
from app.services.accounts import usage
from app.services.analyses.finish import finish, save
from app.services.analyses.submit import submit
from app.services.jobs import heartbeat, read_jobs
from app.services.jobs.cancel import cancel
from app.services.jobs.fail import stop
from app.services.operations.sweep import sweep
from app.services.results import outline, read_files, read_tests
from app.store.analyses.inventories import FileRow
from app.store.results.results import TestFilter
from tests.conftest import NOW, World
from tests.race.invariants import broken
from tests.services.busy import account

BROKEN = Failure("internal_error", "Something failed on our side.", retryable=True)
GONE = Failure("repository_not_found", "There is no such repository.")


def counts(world: World) -> dict[str, object]:
    tables = ("kombu_message", "quota_reservations", "execution_slots", "usage_events", "analyses")
    return {table: world.value(f"SELECT count(*) FROM {table}") for table in tables}


def test_a_completed_job_is_billed_once_and_leaves_nothing_in_flight(world: World) -> None:
    user = world.user()
    delivery = world.running(user)
    assert world.finish(delivery, user) is Outcome.COMPLETED
    assert counts(world) == {
        "kombu_message": 0, "quota_reservations": 0, "execution_slots": 0, "usage_events": 1, "analyses": 1,
    }  # fmt: skip
    job = read_jobs.job(world.uow, delivery.job_id, account(world, user), world.policy, now=NOW)
    assert (job.status, job.billed, job.attempt) == ("completed", True, 1)


def test_a_retried_attempt_keeps_its_reservation_and_a_failed_job_gives_it_back(world: World) -> None:
    user = world.user()
    job_id = world.submit(user)
    for attempt, expected in ((1, Outcome.RETRY), (2, Outcome.RETRY), (3, Outcome.FAILED)):
        delivery = world.lease(job_id)
        assert delivery.attempt == attempt
        world.start(delivery, user)
        assert world.fail(delivery, user, BROKEN) is expected
        held = world.value("SELECT count(*) FROM quota_reservations")
        assert held == (0 if expected is Outcome.FAILED else 1)
    job = read_jobs.job(world.uow, job_id, None, world.policy, now=NOW)
    assert (job.status, job.billed, job.error.code) == ("failed", False, "internal_error")
    assert counts(world)["usage_events"] == 0


def test_what_cannot_pass_by_itself_fails_at_once(world: World) -> None:
    user = world.user()
    assert world.fail(world.running(user), user, GONE) is Outcome.FAILED
    assert counts(world)["kombu_message"] == 0


def test_a_job_whose_worker_died_on_every_attempt_fails_and_says_so(world: World) -> None:
    user = world.user()
    job_id = world.submit(user)
    for _ in range(3):
        assert world.start(world.lease(job_id), user) is Outcome.STARTED
        world.lose(job_id)
    assert world.start(world.lease(job_id), user) is Outcome.FAILED
    job = read_jobs.job(world.uow, job_id, None, world.policy, now=NOW)
    assert job.error.code == "worker_lost"
    assert counts(world) | {"analyses": 0} == dict.fromkeys(counts(world), 0)


def test_a_job_whose_process_died_each_time_before_its_start_was_written_fails_too(world: World) -> None:
    user = world.user()
    job_id = world.submit(user)
    # as the node counts them, which knows which of its processes ended
    assert world.rows("UPDATE kombu_message SET lost_count = 3 RETURNING id")
    assert world.start(world.lease(job_id), user) is Outcome.FAILED
    job = read_jobs.job(world.uow, job_id, None, world.policy, now=NOW)
    assert (job.status, job.billed, job.error.code) == ("failed", False, "worker_lost")
    assert counts(world) | {"analyses": 0} == dict.fromkeys(counts(world), 0)
    assert broken(world) == []


def test_a_message_that_was_only_prefetched_by_the_dead_loses_no_attempt(world: World) -> None:
    user = world.user()
    job_id = world.submit(user)
    for _ in range(10):
        world.lease(job_id)
        world.lose(job_id)
    assert world.lease(job_id).attempt == 1


@pytest.mark.parametrize("late", ["finish", "fail", "start", "heartbeat", "stop"])
def test_a_zombie_changes_nothing(world: World, late: str) -> None:
    user = world.user()
    zombie = world.running(user)
    world.lose(zombie.job_id)
    world.start(world.lease(zombie.job_id), user)
    before = {table: world.rows(f"SELECT * FROM {table} ORDER BY 1") for table in counts(world)}
    outcome: object = {
        "finish": lambda: world.finish(zombie, user),
        "fail": lambda: world.fail(zombie, user, BROKEN),
        "start": lambda: world.start(zombie, user),
        "stop": lambda: stop(world.uow, zombie, Service.ANALYSIS, user, now=NOW),
        "heartbeat": lambda: heartbeat.beat(world.uow, Service.ANALYSIS, zombie, world.policy, ("parsing", 1, 2)),
    }[late]()
    assert outcome in (Outcome.STALE, heartbeat.Pulse.LOST)
    assert {table: world.rows(f"SELECT * FROM {table} ORDER BY 1") for table in counts(world)} == before


def test_a_finished_job_is_not_finished_twice(world: World) -> None:
    user = world.user()
    delivery = world.running(user)
    world.finish(delivery, user)
    assert world.finish(delivery, user) is Outcome.STALE
    assert counts(world)["usage_events"] == 1


def test_a_completed_commit_is_given_as_it_is_and_costs_nothing(world: World) -> None:
    payer, reader, wanted = world.user(), world.user(), world.wanted()
    world.finish(world.running(payer, wanted), payer)
    answer = submit(world.uow, reader, wanted, world.policy, now=NOW)
    assert (answer.is_known, answer.job.status) == (True, "completed")
    # no job, but a look at the branch, which may have come to this commit
    assert [str(row["unique_key"])[:5] for row in world.rows("SELECT unique_key FROM kombu_message")] == ["look:"]
    assert counts(world)["quota_reservations"] == 0
    assert usage.usage(world.uow, account(world, reader), now=NOW).units[EventType.ANALYSIS].used == 0


def test_a_newer_parser_analyses_a_completed_commit_again(world: World) -> None:
    user, wanted = world.user(), world.wanted()
    world.finish(world.running(user, wanted), user)
    newer = world.with_policy(parser_version="2.0.0+test")
    assert not submit(newer.uow, user, wanted, newer.policy, now=NOW).is_known


def test_a_failed_commit_is_shown_until_somebody_says_retry(world: World) -> None:
    user, wanted = world.user(), world.wanted()
    failed = world.running(user, wanted)
    world.fail(failed, user, GONE)
    again = submit(world.uow, user, wanted, world.policy, now=NOW)
    assert (again.is_known, again.job.id, again.job.status) == (True, failed.job_id, "failed")
    retried = submit(world.uow, user, world.wanted(commit=wanted.commit, retry=True), world.policy, now=NOW)
    assert not retried.is_known
    assert retried.job.id != failed.job_id


def test_the_same_commit_in_another_spelling_of_the_owner_joins_the_job(world: World) -> None:
    one, other, wanted = world.user(), world.user(), world.wanted("Shop")
    job_id = world.submit(one, wanted)
    assert world.submit(other, world.wanted("SHOP", wanted.commit)) == job_id
    assert [job.id for job in read_jobs.history(world.uow, other, world.policy, now=NOW)[0]] == [job_id]


def test_one_unit_over_the_limit_is_refused_with_the_figures(world: World) -> None:
    user = world.user(analyses=1)
    world.submit(user)
    with pytest.raises(QuotaExceeded) as refused:
        world.submit(user)
    assert {**refused.value.extensions, "resets_at": None} == {"used": 0, "reserved": 1, "limit": 1, "resets_at": None}


def test_a_job_is_billed_to_the_period_in_which_it_was_accepted(world: World) -> None:
    user = world.user(analyses=1)
    delivery = world.running(user)
    later = NOW + timedelta(days=40)
    finish(world.uow, delivery, user, (), {"tests": 1}, now=later)
    assert usage.usage(world.uow, account(world, user), now=NOW).units[EventType.ANALYSIS].used == 1
    assert usage.usage(world.uow, account(world, user), now=later).units[EventType.ANALYSIS].used == 0


def test_quota_mode_shadow_accepts_over_the_limit_and_off_reserves_nothing(world: World) -> None:
    user = world.user(analyses=0)
    shadow, off = world.with_policy(quota_mode="shadow"), world.with_policy(quota_mode="off")
    shadow.submit(user)
    assert world.value("SELECT count(*) FROM quota_reservations") == 1
    off.submit(user)
    assert world.value("SELECT count(*) FROM quota_reservations") == 1


def test_cancelling_a_queued_job_takes_it_away_with_its_reservation(world: World) -> None:
    user = world.user()
    job_id = world.submit(user)
    for _ in range(2):  # idempotent
        cancel(world.uow, job_id, account(world, user), world.policy, now=NOW)
    assert world.status(job_id) == "cancelled"
    assert counts(world) == dict.fromkeys(counts(world), 0)


def test_cancelling_a_running_job_tells_its_worker_which_ends_the_record(world: World) -> None:
    user = world.user()
    delivery = world.running(user)
    cancel(world.uow, delivery.job_id, account(world, user), world.policy, now=NOW)
    assert heartbeat.beat(world.uow, Service.ANALYSIS, delivery, world.policy, None) is heartbeat.Pulse.STOP
    assert stop(world.uow, delivery, Service.ANALYSIS, user, now=NOW) is Outcome.CANCELLED
    assert world.status(delivery.job_id) == "cancelled"
    assert counts(world) | {"analyses": 0} == dict.fromkeys(counts(world), 0)


def test_a_cancel_that_meets_the_finish_wins_and_nothing_is_billed(world: World) -> None:
    user = world.user()
    delivery = world.running(user)
    cancel(world.uow, delivery.job_id, account(world, user), world.policy, now=NOW)
    assert world.finish(delivery, user) is Outcome.CANCELLED
    assert counts(world)["usage_events"] == 0


def test_a_cancelled_job_between_two_attempts_is_ended_by_a_worker_at_once(world: World) -> None:
    user = world.user()
    delivery = world.running(user)
    world.fail(delivery, user, BROKEN)
    cancel(world.uow, delivery.job_id, account(world, user), world.policy, now=NOW)
    assert world.value("SELECT visible FROM kombu_message") is True
    assert world.start(world.lease(delivery.job_id), user) is Outcome.CANCELLED


def test_an_ended_job_cannot_be_cancelled_nor_anothers_at_all(world: World) -> None:
    user, stranger = world.user(), world.user()
    delivery = world.running(user)
    with pytest.raises(Forbidden):
        cancel(world.uow, delivery.job_id, account(world, stranger), world.policy, now=NOW)
    world.finish(delivery, user)
    with pytest.raises(Conflict):
        cancel(world.uow, delivery.job_id, account(world, user), world.policy, now=NOW)
    with pytest.raises(NotFound):
        cancel(world.uow, uuid4(), account(world, user), world.policy, now=NOW)


def test_when_the_payer_of_a_joined_job_cancels_it_goes_on_and_is_billed_to_nobody(world: World) -> None:
    payer, joiner, wanted = world.user(), world.user(), world.wanted()
    job_id = world.submit(payer, wanted)
    world.submit(joiner, wanted)
    cancel(world.uow, job_id, account(world, payer), world.policy, now=NOW)
    delivery = world.lease(job_id)
    world.start(delivery, payer)
    assert world.finish(delivery, payer) is Outcome.COMPLETED
    assert counts(world)["usage_events"] == 0


def test_a_payer_who_left_and_asks_again_pays_again(world: World) -> None:
    payer, joiner, wanted = world.user(), world.user(), world.wanted()
    job_id = world.submit(payer, wanted)
    world.submit(joiner, wanted)
    cancel(world.uow, job_id, account(world, payer), world.policy, now=NOW)
    assert world.submit(payer, wanted) == job_id
    delivery = world.lease(job_id)
    world.start(delivery, payer)
    world.finish(delivery, payer)
    assert world.rows("SELECT user_id, quota_amount FROM usage_events") == [{"user_id": payer, "quota_amount": 1}]


def test_when_the_last_of_all_leaves_a_joined_job_it_ends(world: World) -> None:
    payer, joiner, wanted = world.user(), world.user(), world.wanted()
    job_id = world.submit(payer, wanted)
    world.submit(joiner, wanted)
    for user in (payer, joiner):
        cancel(world.uow, job_id, account(world, user), world.policy, now=NOW)
    assert world.status(job_id) == "cancelled"
    assert counts(world) == dict.fromkeys(counts(world), 0)


def test_a_joiner_that_cancels_only_leaves(world: World) -> None:
    payer, joiner, wanted = world.user(), world.user(), world.wanted()
    job_id = world.submit(payer, wanted)
    world.submit(joiner, wanted)
    for _ in range(2):  # a repeated cancel changes nothing
        cancel(world.uow, job_id, account(world, joiner), world.policy, now=NOW)
    assert world.status(job_id) == "queued"
    assert read_jobs.history(world.uow, joiner, world.policy, now=NOW) == ([], None)
    assert world.value("SELECT count(*) FROM job_events WHERE event = 'left'") == 1


def test_a_joiner_who_left_and_asks_again_has_joined_again(world: World) -> None:
    payer, joiner, wanted = world.user(), world.user(), world.wanted()
    job_id = world.submit(payer, wanted)
    world.submit(joiner, wanted)
    cancel(world.uow, job_id, account(world, joiner), world.policy, now=NOW)
    assert world.submit(joiner, wanted) == job_id
    assert [job.id for job in read_jobs.history(world.uow, joiner, world.policy, now=NOW)[0]] == [job_id]
    cancel(world.uow, job_id, account(world, payer), world.policy, now=NOW)
    assert world.status(job_id) == "queued"


def test_a_reservation_is_pushed_on_while_its_job_waits_and_swept_when_the_job_is_gone(world: World) -> None:
    user = world.user()
    living, orphan = world.submit(user), world.submit(user)
    world.rows("DELETE FROM kombu_message WHERE task_id = :id RETURNING id", id=str(orphan))
    late = NOW + timedelta(hours=5)
    swept = sweep(world.uow, world.policy, now=late)
    assert (swept.extended, swept.orphans) == (1, 1)
    (left,) = world.rows("SELECT job_id, expires_at FROM quota_reservations")
    assert left == {"job_id": living, "expires_at": late + world.policy.reservation_ttl}


def test_a_job_whose_message_was_given_up_fails_at_the_next_sweep(world: World) -> None:
    user = world.user()
    delivery = world.running(user)
    world.rows("""
        WITH dead AS (DELETE FROM kombu_message RETURNING task_id)
        INSERT INTO kombu_dead_letter (task_id, reason) SELECT task_id, 'rejected' FROM dead RETURNING id""")
    assert sweep(world.uow, world.policy, now=NOW).buried == 1
    assert world.status(delivery.job_id) == "failed"
    assert counts(world)["quota_reservations"] == 0
    assert sweep(world.uow, world.policy, now=NOW).buried == 0


def test_a_job_that_was_given_up_before_it_ever_started_fails_too(world: World) -> None:
    job_id = world.submit(world.user())
    world.rows("""
        WITH dead AS (DELETE FROM kombu_message RETURNING task_id)
        INSERT INTO kombu_dead_letter (task_id, reason) SELECT task_id, 'undecodable' FROM dead RETURNING id""")
    assert sweep(world.uow, world.policy, now=NOW).buried == 1
    job = read_jobs.job(world.uow, job_id, None, world.policy, now=NOW)
    assert (job.status, job.error.code) == ("failed", "undeliverable")


def test_tests_are_listed_in_pages_of_stable_order_and_filtered(world: World) -> None:
    user = world.user(Tier.PRO)
    delivery = world.running(user)
    files = [
        FileRow(f"tests/test_{n}.py", f"{n:040x}", "pytest", [_test(f"test_{i}", i) for i in range(1, 6)], None)
        for n in range(4)
    ]
    world.finish(delivery, user, [*files, FileRow("tests/test_big.py", "f" * 40, None, [], "too_large")])
    wanted = TestFilter(status="active")
    assert outline.outline(world.uow, delivery.job_id, None, wanted, now=NOW).total == 12
    seen, cursor = [], None
    while True:
        page = read_tests.page(world.uow, delivery.job_id, None, wanted, cursor=cursor, limit=7, now=NOW)
        seen += [(one.file, one.test["line"]) for one in page.tests]
        if (cursor := page.next) is None:
            break
    assert seen == [(f"tests/test_{n}.py", i) for n in range(4) for i in range(1, 6) if i % 2]
    listed = read_files.files(world.uow, delivery.job_id, None, path="big", now=world.now)
    assert [(file.file, file.skipped) for file in listed.items] == [("tests/test_big.py", "too_large")]


def test_hostile_bytes_in_paths_and_names_are_stored_readable(world: World) -> None:
    user = world.user()
    delivery = world.running(user)
    name = "nul \x00 and lone \ud800 surrogate"
    world.finish(delivery, user, [FileRow("a\x00b\udcff.py", "0" * 40, "pytest", [_test(name, 1)], None)])
    (found,) = read_tests.page(world.uow, delivery.job_id, None, TestFilter(), now=NOW).tests
    assert found.test["name"] == "nul \ufffd and lone ? surrogate"


def test_an_equal_file_is_stored_once_for_all_analyses(world: World) -> None:
    user = world.user(Tier.PRO)
    file = FileRow("tests/test_a.py", "a" * 40, "pytest", [_test("test_x", 1)], None)
    for _ in range(3):
        world.finish(world.running(user), user, [file])
    assert world.value("SELECT count(*) FROM file_inventories") == 1
    assert world.value("SELECT count(*) FROM analysis_files") == 3


def _test(name: str, line: int) -> dict[str, object]:
    status = "active" if line % 2 else "skipped"
    return {"name": name, "line": line, "suites": [], "status": status, "framework": "pytest", "kind": "test"}


def test_whoever_asks_for_a_commit_whose_job_is_being_cancelled_gets_a_job_of_their_own(world: World) -> None:
    user, other, wanted = world.user(Tier.PRO), world.user(), world.wanted()
    dying = world.running(user, wanted)
    cancel(world.uow, dying.job_id, account(world, user), world.policy, now=NOW)
    again = world.submit(user, wanted)
    assert again != dying.job_id
    assert world.submit(other, wanted) == again
    assert world.finish(dying, user) is Outcome.CANCELLED
    delivery = world.lease(again)
    world.start(delivery, user)
    assert world.finish(delivery, user) is Outcome.COMPLETED
    assert world.rows("SELECT job_id FROM usage_events") == [{"job_id": again}]


def test_a_finish_reads_its_files_before_it_holds_anything(world: World) -> None:
    def files() -> Iterator[FileRow]:
        for number in range(1_200):  # more than a batch
            assert world.uow.engine.pool.checkedout() == 0  # type: ignore[attr-defined]
            yield FileRow(f"test_{number:04}.py", f"{number:040}", "pytest", [_test("test_a", 1)], None)

    user = world.user()
    delivery = world.running(user)
    listing = save(world.uow, files(), world.policy)
    outcome = finish(world.uow, delivery, user, listing, {"tests": 1_200}, now=NOW)
    assert world.value("SELECT count(*) FROM analysis_files") == 1_200
    assert outcome is Outcome.COMPLETED
