"""`kill -9` of real workers of both services, again and again: nothing is lost, nothing is billed twice.

FAIRLANE_KILLS kills (6 in the suite, 50 by `make prove-kill`).  Each kill comes with an analysis, and with a specification
of one that has completed; two users who ask for one's specification pay for its sentences together, and once.  Every third kill takes a whole node with all its
processes, the others one process of a pool; the seed of the run is printed.
"""

import os
import random
from collections import Counter
from uuid import UUID

import pytest
from durable_harness.waiting import wait_for

from app.domain.plans import Tier
from app.domain.specification import Mode
from app.services.operations.audit import HOLDS, audit
from tests.e2e.conftest import System
from tests.nodes import LocalWorker
from tests.services.specifications.writing import Writing

pytestmark = pytest.mark.proof

KILLS = int(os.environ.get("FAIRLANE_KILLS", "6"))
NODES, PROCESSES, USERS = 2, 2, 6
FILES, PER_FILE = 20, 40
TESTS = FILES * PER_FILE
QUEUES = ("analysis_priority", "analysis_default", "specview_priority", "specview_default")
LANGUAGES = ("en", "ko")
ENOUGH = "UPDATE subscription_plans SET spec_units_per_period = 1000000 RETURNING tier"
#: Analyses that a specification can be asked of.
DONE = "SELECT id FROM analyses WHERE status = 'completed' ORDER BY completed_at"

#: What must never be found, whatever was killed when (docs/architecture.md, What always holds).
BROKEN = {
    "I2 a job without an end": """
        SELECT r.job_id FROM analysis_requests r LEFT JOIN job_records a ON a.id = r.job_id
         WHERE a.status IS NULL OR a.status NOT IN ('completed', 'failed')""",
    "I3 completed without its usage event": """
        SELECT a.id FROM job_records a LEFT JOIN usage_events u ON u.job_id = a.id
         WHERE a.status = 'completed' AND coalesce(u.quota_amount, 0) <> a.units""",
    "I3 billed without completion": """
        SELECT u.job_id FROM usage_events u LEFT JOIN job_records a ON a.id = u.job_id
         WHERE a.status IS DISTINCT FROM 'completed'""",
    "I4 a reservation of an ended job": "SELECT job_id FROM quota_reservations",
    "I5 a slot of an ended job": "SELECT job_id FROM execution_slots",
    "a message of an ended job": "SELECT task_id FROM kombu_message",
    "a dead letter": "SELECT task_id, reason FROM kombu_dead_letter",
    "a deadlock": "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database() AND deadlocks > 0",
    "I7 a completed analysis without its tests": """
        SELECT a.id FROM analyses a WHERE a.status = 'completed' AND a.total_tests <> (
            SELECT coalesce(sum(i.total_tests), 0) FROM analysis_files f
              JOIN file_inventories i ON i.id = f.file_inventory_id WHERE f.analysis_id = a.id)""",
    "I7 a specification without its behaviours": f"""
        SELECT d.id FROM spec_documents d WHERE d.status = 'completed' AND {TESTS} <> (
            SELECT coalesce(sum(f.total), 0) FROM spec_features f WHERE f.document_id = d.id AND f.draft = d.draft)""",
    "features that no document has": """
        SELECT f.document_id FROM spec_features f JOIN spec_documents d ON d.id = f.document_id
         WHERE d.draft IS DISTINCT FROM f.draft""",
    "sentences that were not paid once": f"""
        SELECT codebase_id, language, sum(units) FROM spec_documents WHERE status = 'completed'
         GROUP BY codebase_id, language HAVING sum(units) <> {TESTS}""",
}


@pytest.mark.timeout(900)
def test_killing_workers_at_any_moment_loses_nothing_and_bills_nothing_twice(system: System) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}, {KILLS} kills")
    dice = random.Random(seed)
    users = [system.user(tier) for tier in (Tier.FREE, Tier.PRO) for _ in range(USERS // 2)]
    system.world.rows(ENOUGH)
    workers = [system.nodes.worker(*QUEUES, processes=PROCESSES, FAIRNESS_SNOOZE_DURATION="1s") for _ in range(NODES)]
    jobs = set[UUID]()
    for kill in range(KILLS):
        jobs |= {_submit(system, dice.choice(users), kill), *_specify(system, dice, users, kill)}
        _kill(system, dice, dice.choice(workers), whole=kill % 3 == 2)
    wait_for(lambda: not system.world.rows("SELECT 1 FROM kombu_message"), "every job to end", seconds=240)
    found = {name: rows for name, query in BROKEN.items() if (rows := system.world.rows(query))}
    assert found == {}
    ends = Counter(system.job(job_id)["status"] for job_id in jobs)
    specified = system.world.value("SELECT count(*) FROM spec_documents")
    print(
        f"{len(jobs)} jobs ended, of which {specified} specifications: {dict(ends)}; lost attempts {_attempts(system)}"
    )
    assert sum(ends.values()) == len(jobs)
    assert [finding for finding in audit(system.world.uow) if finding.status != HOLDS] == []
    assert specified
    # three lost attempts end a job as failed, which chance may bring about, but hardly for one in ten
    assert ends["completed"] >= 0.9 * len(jobs)


def _submit(system: System, user: UUID, number: int) -> UUID:
    tests = "".join(f"def test_{number}_{i}() -> None:\n    pass\n\n\n" for i in range(PER_FILE))
    return system.submit(user, f"shop{number}", {f"tests/test_{n}.py": tests for n in range(FILES)})


def _specify(system: System, dice: random.Random, users: list[UUID], number: int) -> list[UUID]:
    """Two users ask at once for one of them; before the first analysis is there, another one is asked for."""
    done = system.world.rows(DONE)
    if not done:
        return [_submit(system, dice.choice(users), KILLS + number)]
    analysis, writing = UUID(str(dice.choice(done)["id"])), Writing(system.world)
    language, both = dice.choice(LANGUAGES), dice.sample(users, 2)
    return [writing.ask(user, analysis, Mode.REGENERATE_CACHED, language=language).job.id for user in both]


def _kill(system: System, dice: random.Random, worker: LocalWorker, *, whole: bool) -> None:
    """Wait for a random point of somebody's work, then kill without a word."""
    point = dice.choice(("started", "leased", "any"))
    query = {
        "started": "SELECT 1 FROM kombu_message WHERE started_at IS NOT NULL",
        "leased": "SELECT 1 FROM kombu_message WHERE lease_token IS NOT NULL",
        "any": "SELECT 1",
    }[point]
    wait_for(lambda: system.world.rows(query) or not system.world.rows("SELECT 1 FROM kombu_message"), point)
    if whole:
        worker.container.restart()
        return
    children = wait_for(worker.container.children, "a process to kill")
    dice.choice(children).kill()


def _attempts(system: System) -> object:
    attempts = "SELECT attempt FROM analyses UNION ALL SELECT attempt FROM spec_documents"
    return system.world.value(f"SELECT coalesce(sum(attempt - 1), 0) FROM ({attempts}) a")
