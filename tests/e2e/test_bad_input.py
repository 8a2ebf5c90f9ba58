"""Hostile and broken repositories through a real worker: each ends with an answer, and the worker goes on."""

from pathlib import Path

import pytest
from durable_harness.waiting import wait_for

from app.adapters.git_sources import resolve_commit
from app.domain.repositories import Repository
from app.errors import CommitNotFound, InvalidInput, RepositoryNotFound
from app.settings import load
from tests.e2e.conftest import System

HOSTILE = {
    "no-tests": {"README.md": "nothing to run\n"},
    "garbage": {"test_x.py": bytes(range(256)).decode("latin-1") * 64},
    "nested": {
        "test_deep.py": "(" * 50_000,
        "deep.test.js": "[" * 50_000,
        "deep_test.go": "package a\n" + "(" * 50_000,
    },
    "unclosed": {"test_x.py": 'def test_x():\n    """never closed\n'},
    "large": {"test_large.py": "x = 1\n" * 20_000_000},
}


@pytest.mark.proof
def test_every_hostile_repository_ends_completed_and_leaves_nothing_on_disk(system: System, tmp_path: Path) -> None:
    user = system.user()
    worker = system.nodes.worker(FAIRNESS_ENABLED="false")
    jobs = {name: system.submit(user, name, files) for name, files in HOSTILE.items()}
    jobs["fine"] = system.submit(user, "fine")
    ended = {name: system.wait(job_id, "completed", "failed") for name, job_id in jobs.items()}
    assert {name: job["status"] for name, job in ended.items()} == dict.fromkeys(jobs, "completed")
    tests = {name: job["summary"]["tests"] for name, job in ended.items()}  # type: ignore[index]
    assert tests == {"no-tests": 0, "garbage": 0, "nested": 0, "unclosed": 1, "large": 0, "fine": 1}
    assert worker.container.status == "running"
    assert system.world.rows("SELECT 1 FROM quota_reservations UNION ALL SELECT 1 FROM kombu_dead_letter") == []
    work = tmp_path / "home" / "work"
    wait_for(lambda: not list(work.glob("*")), "the work folder to be empty")


@pytest.mark.proof
def test_what_can_be_refused_at_submission_is_refused_there(system: System, tmp_path: Path) -> None:
    root = tmp_path / "repositories"
    system.make_repository("shop")
    (root / "plain").mkdir()
    (root / "outside").symlink_to("/etc")
    empty = system.make_repository("empty")
    (empty / ".git" / "refs" / "heads" / "main").unlink()
    settings = load({"LOCAL_REPOS_ROOT": str(root)})

    def refused(name: str, commit: str | None = None, ref: str | None = None) -> type[Exception]:
        with pytest.raises((InvalidInput, RepositoryNotFound, CommitNotFound)) as problem:
            resolve_commit(Repository("local", "-", name), ref, commit, settings)
        return problem.type

    assert refused("empty") is InvalidInput
    assert refused("missing") is RepositoryNotFound
    assert refused("plain") is RepositoryNotFound
    assert refused("outside") is InvalidInput
    assert refused("shop", commit="f" * 40) is CommitNotFound
    assert refused("shop", ref="no-such-branch") is CommitNotFound


def test_a_message_that_is_no_job_is_put_aside_and_the_worker_goes_on(system: System) -> None:
    insert = """
        INSERT INTO kombu_message (queue_id, payload, task_id)
        SELECT id, :payload, :task_id FROM kombu_queue WHERE name = 'analysis_default' RETURNING id"""
    for number, payload in enumerate(("not json", "{}", '{"body": 5}', "\\u0000" * 10, "[" * 100_000)):
        system.world.rows(insert, payload=payload, task_id=f"not-ours-{number}")
    worker = system.nodes.worker()
    job_id = system.submit(system.user())
    system.wait(job_id, "completed")
    dead = "SELECT count(*) FROM kombu_dead_letter"
    wait_for(lambda: system.world.value(dead) == 5, "the dead letters")
    assert worker.container.status == "running"
