"""Real Celery workers on the durable transport: one behaviour each."""

import signal
import time
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import psutil
import pytest
from durable_harness.waiting import wait_for
from sqlalchemy import text
from testlist.sandbox.guard import BEGIN

from app.domain.jobs import JobEvent
from app.domain.plans import Tier
from app.services.jobs import read_jobs
from app.services.jobs.cancel import cancel
from app.services.results import read_files, read_tests
from app.store.accounts import users
from app.store.results.results import TestFilter
from tests.e2e.conftest import System, slow_files


def test_a_submitted_repository_is_analysed_and_its_tests_are_listed(system: System) -> None:
    files = {
        "tests/test_cart.py": "from shop.cart import Cart\n\nclass TestCart:\n    def test_is_empty(self):\n        pass\n",
        "web/cart.test.ts": "import { test } from 'vitest'\ntest('adds', () => {})\n",
        "cart_test.go": 'package cart\n\nimport "testing"\n\nfunc TestCart(t *testing.T) {}\n',
        "tests/test_garbage.py": "\x00\x01\x02" * 100,
    }
    job_id = system.submit(system.user(), "mixed", files)
    system.nodes.worker()
    job = system.wait(job_id, "completed", "failed")
    assert job["status"] == "completed", job["error"]
    now = datetime.now(UTC)
    found = read_tests.page(system.world.uow, job_id, None, TestFilter(), now=now).tests
    assert [(file, test["framework"], test["name"], test["cannot_fail"]) for file, test, _ in found] == [
        ("cart_test.go", "go-testing", "TestCart", "empty"),
        ("tests/test_cart.py", "pytest", "test_is_empty", "empty"),
        ("web/cart.test.ts", "vitest", "adds", "empty"),
    ]
    listed = read_files.files(system.world.uow, job_id, None, now=now).items
    assert [file.file for file in listed if file.skipped] == ["tests/test_garbage.py"]
    assert {file.file: file.hints for file in listed if file.hints} == {"tests/test_cart.py": ["shop.cart"]}
    assert job["billed"] is True


@pytest.mark.proof
def test_a_repository_with_more_tests_than_allowed_fails_and_says_so(system: System) -> None:
    files = {f"tests/test_{n}.py": "def test_a(): pass\ndef test_b(): pass\n" for n in range(2)}
    job_id = system.submit(system.user(), "large", files)
    system.nodes.worker(MAX_TESTS="3")
    job = system.wait(job_id, "completed", "failed")
    error = {"code": "too_many_tests", "retryable": False}
    assert job["error"] == error | {"message": "The repository has 4 tests, subtests included; the limit is 3."}
    assert (job["billed"], job["attempt"]) == (False, 1)


def test_over_the_limit_a_job_is_snoozed_in_the_database_and_woken_when_the_slot_is_free(system: System) -> None:
    user = system.user(Tier.FREE)
    first = system.submit(user, "slow")
    system.stalling_worker(processes=2, FAIRNESS_SNOOZE_DURATION="600s")
    system.wait(first, "running")
    second = system.submit(user, "quick")
    job = system.wait(second, "waiting", "completed")
    assert job["status"] == "waiting"
    assert job["wait"]["reason"] == "user_at_limit"  # type: ignore[index]
    system.go_on()
    system.wait(first, "completed")
    done = system.wait(second, "completed")  # ten minutes of snooze are not waited for
    timeline = [row.event for row in read_jobs.timeline(system.world.uow, second, None)]
    assert timeline == ["accepted", "snoozed", "woken", "started", "completed"]
    assert done["attempt"] == 1


@pytest.mark.proof
def test_a_snooze_puts_a_job_on_the_queue_of_its_users_tier(system: System) -> None:
    user = system.user(Tier.FREE)
    first = system.submit(user, "slow")
    system.stalling_worker("analysis_priority", "analysis_default", processes=2, FAIRNESS_SNOOZE_DURATION="600s")
    system.wait(first, "running")
    # on the other tier's queue, as after a worker was lost while the tier changed
    system.world.rows("SELECT broker_pause('analysis_default')")
    second = system.submit(user, "quick")
    system.world.rows("SELECT broker_move(:id, 'analysis_default', 'analysis_priority')", id=str(user))
    wait_for(lambda: system.job(second)["queue"] == "analysis_default")
    assert [row.event for row in read_jobs.timeline(system.world.uow, second, None)] == ["accepted", "snoozed"]
    system.world.rows("SELECT broker_resume('analysis_default')")
    system.go_on()
    system.wait(second, "completed")


def test_a_running_job_stops_within_seconds_when_it_is_cancelled_and_leaves_nothing(
    system: System, tmp_path: Path
) -> None:
    user = system.user()
    job_id = system.submit(user, "parsed", slow_files(60))
    worker = system.stalling_worker(LEASE_SECONDS="120")  # so that its end helps nobody in time
    wait_for(lambda: _git_and_parsers(worker.container.pid), "its subprocesses", seconds=120)
    with system.world.uow.begin() as tx:
        account = users.find(tx, user)
    assert account is not None
    cancel(system.world.uow, job_id, account, system.world.policy, now=datetime.now(UTC))
    wait_for(lambda: system.job(job_id)["status"] == "cancelled", "the cancellation", seconds=30)
    assert system.world.rows("SELECT 1 FROM quota_reservations UNION ALL SELECT 1 FROM execution_slots") == []
    wait_for(lambda: not _git_and_parsers(worker.container.pid), "its subprocesses to end", seconds=30)
    assert not list((tmp_path / "home" / "work").glob("fairlane-git-*"))


def test_a_job_that_needs_more_memory_than_a_process_may_have_fails_alone(system: System) -> None:
    user = system.user()
    job_id = system.submit(user, "huge")
    worker = system.stalling_worker(JOB_MEMORY_MB="256")
    (child,) = worker.container.children()
    wait_for(lambda: "retrying" in [row.event for row in timeline(system, job_id)], "the job to fail")
    failed = next(row for row in timeline(system, job_id) if row.event == "retrying")
    assert failed.facts["code"] == "out_of_memory"
    assert "worker_lost" not in worker.container.logs()
    system.wait(system.submit(system.user(), "shop"), "completed")
    wait_for(lambda: not child.is_running(), "the process that was so large to be replaced")


def timeline(system: System, job_id: UUID) -> list[JobEvent]:
    return list(read_jobs.timeline(system.world.uow, job_id, None))


@pytest.mark.proof
def test_a_worker_killed_in_the_middle_of_a_job_costs_nothing_and_the_job_runs_elsewhere(system: System) -> None:
    job_id = system.submit(system.user(), "slow")
    victim = system.stalling_worker()
    system.wait(job_id, "running")
    system.nodes.worker()
    victim.kill()
    job = system.wait(job_id, "completed", "failed")
    assert (job["status"], job["attempt"], job["billed"]) == ("completed", 2, True)
    assert system.world.value("SELECT count(*) FROM usage_events") == 1


@pytest.mark.proof
def test_a_killed_pool_process_gives_its_job_back_at_once(system: System) -> None:
    job_id = system.submit(system.user(), "slow")
    worker = system.stalling_worker()
    system.wait(job_id, "running")
    for child in worker.container.children():
        child.kill()
    system.go_on()
    job = system.wait(job_id, "completed", "failed")
    assert (job["status"], job["attempt"]) == ("completed", 2)


@pytest.mark.proof
def test_a_warm_shutdown_lets_the_running_job_finish_and_charges_nothing(system: System) -> None:
    job_id = system.submit(system.user(), "slow")
    worker = system.stalling_worker(SHUTDOWN_GRACE="20s")
    system.wait(job_id, "running")
    worker.kill(signal="SIGTERM")
    system.go_on()
    assert worker.container.wait() == 0
    job = system.job(job_id)
    assert (job["status"], job["attempt"]) == ("completed", 1)


def test_a_repository_that_is_gone_fails_with_a_stable_code_and_is_not_billed(system: System) -> None:
    job_id = system.submit(system.user(), "gone")
    (system.nodes.folder / "repositories" / "gone").rename(system.nodes.folder / "moved")
    system.nodes.worker()
    job = system.wait(job_id, "failed", "completed")
    assert job["error"] == {
        "code": "repository_not_found",
        "message": "There is no local repository 'gone' here.",
        "retryable": False,
    }
    assert (job["billed"], job["attempt"]) == (False, 1)


@pytest.mark.proof
def test_beat_sends_each_slot_once_however_many_run(system: System) -> None:
    for _ in range(3):
        system.nodes.beat()
    wait_for(lambda: system.world.rows("SELECT 1 FROM schedule_runs OFFSET 1"), "both entries")
    system.nodes.worker("analysis_scheduled", "maintenance")
    wait_for(lambda: not system.world.rows("SELECT 1 FROM kombu_message"), "the maintenance to be done")
    assert system.world.value("SELECT max(n) FROM (SELECT count(*) n FROM schedule_runs GROUP BY name, slot_at) s") == 1
    assert system.world.value("SELECT count(*) FROM kombu_dead_letter") == 0


@pytest.mark.proof
def test_a_worker_that_gets_no_connection_tries_again_with_a_pause_and_then_does_its_work(system: System) -> None:
    user = system.user()
    with system.world.uow.begin() as tx:
        name = tx.run(text("SELECT current_database()")).scalar_one()
    system.nodes.worker()
    wait_for(lambda: system.world.rows(CONNECTED), "the child's connection")
    limit_connections(system, name, 1)  # those that are open stay
    system.world.rows(f"SELECT pg_terminate_backend(pid) FROM ({CONNECTED}) AS connected")
    job_id = system.submit(user)
    deliveries = "SELECT delivery_count FROM kombu_message"
    wait_for(lambda: int(str(system.world.value(deliveries))) >= 3, "three attempts to connect")
    begun, made = time.monotonic(), int(str(system.world.value(deliveries)))
    wait_for(lambda: int(str(system.world.value(deliveries))) >= made + 2, "two more")
    assert time.monotonic() - begun > 1
    limit_connections(system, name, -1)
    job = system.wait(job_id, "completed", "failed")
    assert (job["status"], job["attempt"]) == ("completed", 1)


@pytest.mark.proof
def test_a_child_that_cannot_be_stopped_is_killed_at_the_hard_limit_and_its_job_runs_again(system: System) -> None:
    user = system.user()
    system.stalling_worker(ANALYSIS_TIME_LIMIT="24s")
    job_id = system.submit(user, "slow")
    system.wait(job_id, "running")
    (child,) = system.nodes.made[0].container.children()
    child.suspend()  # deaf to the soft limit
    wait_for(lambda: not child.is_running(), "the child to be killed")
    system.go_on()
    job = system.wait(job_id, "completed", "failed")
    assert (job["status"], job["attempt"]) == ("completed", 2)
    assert system.world.rows("SELECT 1 FROM execution_slots UNION ALL SELECT 1 FROM kombu_message") == []


#: The pool's processes connect when they begin.
CONNECTED = (
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'fairlane worker'"
)


def limit_connections(system: System, name: str, most: int) -> None:
    with system.world.uow.begin() as tx:
        tx.run(text(f"ALTER DATABASE {name} CONNECTION LIMIT {most}"))


def _git_and_parsers(pid: int) -> list[psutil.Process]:
    """What the jobs of a worker started: below its pool's launchers, which stay for the next job."""
    below = [process for child in psutil.Process(pid).children() for process in child.children(recursive=True)]
    return [process for process in below if _is_at_work(process)]


def _is_at_work(process: psutil.Process) -> bool:
    """Whether it lives and is no launcher: a parser has the same command line, and a launcher above it."""
    try:
        parent = process.parent()
        is_launcher = BEGIN in process.cmdline() and (parent is None or BEGIN not in parent.cmdline())
        return process.status() != psutil.STATUS_ZOMBIE and not is_launcher
    except psutil.NoSuchProcess:  # it has ended meanwhile, or is a zombie
        return False


@pytest.mark.proof
def test_sigquit_waits_a_moment_then_hands_running_work_back_without_a_charge(system: System) -> None:
    job_id = system.submit(system.user(), "slow")  # and it does not go on in the five seconds that are waited
    worker = system.stalling_worker()
    system.wait(job_id, "running")
    worker.kill(signal=signal.SIGQUIT)
    worker.container.wait()
    job = system.wait(job_id, "queued", "completed")
    assert (job["status"], job["attempt"]) == ("queued", 1)


@pytest.mark.proof
def test_listen_and_locks_may_go_over_a_direct_url_of_their_own(system: System) -> None:
    direct = system.nodes.database_url.replace("postgresql+psycopg2://", "postgresql://")
    job_id = system.submit(system.user())
    system.nodes.worker(DATABASE_DIRECT_URL=direct)
    assert system.wait(job_id, "completed", "failed")["status"] == "completed"
    lost = system.submit(system.user(), "slow", slow_files())
    victim = system.nodes.worker("analysis_default", DATABASE_DIRECT_URL=direct)
    system.wait(lost, "running", "completed")
    victim.kill()
    assert system.wait(lost, "completed", "failed")["status"] == "completed"


@pytest.mark.proof
def test_a_maintenance_round_that_raises_is_no_dead_letter(system: System) -> None:
    system.world.rows("ALTER TABLE quota_reservations RENAME TO away; SELECT 1")
    worker = system.nodes.worker("analysis_scheduled", "maintenance")
    system.nodes.beat()
    wait_for(lambda: "UndefinedTable" in worker.logs(), "the sweep to fail")
    wait_for(lambda: not system.world.rows("SELECT 1 FROM kombu_message"), "its message to be gone")
    assert system.world.value("SELECT count(*) FROM kombu_dead_letter") == 0
    assert worker.container.status == "running"
