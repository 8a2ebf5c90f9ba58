"""The answer to a COMMIT is lost, or the COMMIT itself: nobody knows which, and nothing is there twice or missing.

RACE_LOST rounds of each (8 in the suite, 200 by `make prove-quota`); in every second one the COMMIT does not arrive.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from durable_harness.proxy import Proxy
from durable_harness.waiting import wait_for
from service_harness.application import POLICY, SETTINGS, Web, resolve
from sqlalchemy.engine import make_url
from testlist import PARSER_VERSION
from werkzeug.test import TestResponse

from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.services.policy import Policy
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from app.web import create_app
from app.web.core.wiring import WebWiring
from tests.conftest import World
from tests.e2e.conftest import System
from tests.nodes import Nodes
from tests.race.invariants import broken
from tests.tiers import few

ROUNDS = int(os.environ.get("RACE_LOST", "8"))

#: What each transaction sends before its COMMIT, and no other one does.
ACCEPT, CANCEL, FINISH = "durable_publish(", "INSERT INTO job_events", "INSERT INTO usage_events"


@pytest.fixture
def proxy(database_url: str) -> Iterator[Proxy]:
    proxy = Proxy(make_url(database_url).port)
    proxy.start()
    yield proxy
    proxy.close()


@pytest.fixture
def far_url(database_url: str, proxy: Proxy) -> str:
    """The database, through the proxy."""
    there = make_url(database_url).set(host="127.0.0.1", port=proxy.port)
    return there.render_as_string(hide_password=False)


@dataclass
class Line:
    """A client's view of the service, whose web processes reach the database through the proxy."""

    web: Web
    headers: dict[str, str]
    proxy: Proxy

    def post(self, name: str, key: str | None = None) -> TestResponse:
        return self.web.submit(name, self.headers | ({"Idempotency-Key": key} if key else {}))

    def post_until_told(self, name: str, key: str | None) -> TestResponse:
        """As a client does that is told to wait: the cut session keeps its key until the server sees its end."""
        answers: list[TestResponse] = []

        def told() -> bool:
            answers.append(self.post(name, key))
            return answers[-1].status_code != 409

        wait_for(told, "the key to be free")
        return answers[-1]

    def delete(self, job_id: str) -> TestResponse:
        return self.web.client.delete(f"/api/v1/analyses/{job_id}", headers=self.headers)

    @contextmanager
    def losing(self, after: str, number: int) -> Iterator[bool]:
        """One COMMIT inside is lost; gives whether it reached the server."""
        reaches = number % 2 == 0
        self.proxy.swallow("COMMIT", after=after, reaches_server=reaches)
        yield reaches
        assert self.proxy.swallowed.is_set()


@pytest.fixture
def line(world: World, far_url: str, proxy: Proxy) -> Iterator[Line]:
    engine = make_engine(far_url, pool_size=5)
    settings = SETTINGS.model_copy(update={"rate_limit_per_minute": 1_000_000})
    far = UnitOfWork(engine, world.uow.publisher)
    web = Web(create_app(WebWiring(settings, far, POLICY, resolve, "a secret of this test")), far)
    yield Line(web, web.token(world.user(Tier.ENTERPRISE)), proxy)
    engine.dispose()


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("keyed", few(1, [True, False]), ids=["with a key", "without a key"])
def test_an_accept_that_is_posted_again_is_one_job_and_no_answer_was_a_false_202(
    world: World, line: Line, keyed: bool
) -> None:
    for number in range(ROUNDS):
        name, key = f"shop{number}", f"key{number}" if keyed else None
        with line.losing(ACCEPT, number) as reached:
            lost = line.post(name, key)
        assert (lost.status_code, lost.headers.get("Retry-After")) == (503, "2")
        again = line.post_until_told(name, key)
        assert (again.status_code, again.headers.get("Idempotency-Replayed")) == (
            202,
            "true" if keyed and reached else None,
        )
        assert line.post(name, key).json["id"] == again.json["id"]
    counts = [world.value(f"SELECT count(*) FROM {t}") for t in ("kombu_message", "quota_reservations")]
    assert counts == [ROUNDS, ROUNDS]
    assert world.value("SELECT count(*) FROM analysis_requests WHERE role = 'payer'") == ROUNDS
    assert broken(world) == []


@pytest.mark.proof
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("begun", few(1, [False, True]), ids=["before its start", "while it runs"])
def test_a_cancel_that_is_asked_for_again_ends_the_job_once(world: World, line: Line, begun: bool) -> None:
    for number in range(ROUNDS):
        job_id = line.post(f"shop{number}").json["id"]
        delivery = line.web.started(job_id) if begun else None
        with line.losing(CANCEL, number):
            lost = line.delete(job_id)
        assert lost.status_code == 503
        assert line.delete(job_id).status_code == 204
        if delivery:
            owner = world.value("SELECT user_id FROM analysis_requests WHERE job_id = :id", id=job_id)
            assert world.finish(delivery, owner) is Outcome.CANCELLED
        assert world.status(UUID(job_id)) == "cancelled"
    assert world.rows("SELECT job_id FROM quota_reservations UNION ALL SELECT job_id FROM usage_events") == []
    assert broken(world) == []


@pytest.mark.timeout(1800)
@pytest.mark.proof
def test_a_finish_in_a_real_worker_is_billed_once_whatever_became_of_its_commit(
    world: World, far_url: str, proxy: Proxy, tmp_path: Path, repository: Callable[..., Path]
) -> None:
    world = replace(world, policy=Policy(PARSER_VERSION), now=datetime.now(UTC))
    user = world.user(Tier.ENTERPRISE)
    attempts: list[Any] = []
    with Nodes.open(far_url, tmp_path) as nodes:
        system = System(world, nodes, repository)
        nodes.worker("analysis_priority")
        for number in range(ROUNDS):
            proxy.swallow("COMMIT", after=FINISH, reaches_server=number % 2 == 0)
            job_id = system.submit(user, f"shop{number}")
            wait_for(proxy.swallowed.is_set, "the commit of the finish")
            job = system.wait(job_id, "completed", "failed")
            assert (job["status"], job["billed"]) == ("completed", True), job["error"]
            attempts.append(job["attempt"])
        wait_for(lambda: not world.rows("SELECT 1 FROM kombu_message"), "the queue to be empty")
    print(f"{ROUNDS} commits of a finish lost; attempts {attempts}")
    assert world.value("SELECT count(*) FROM usage_events") == ROUNDS
    assert world.value("SELECT count(*) FROM job_events WHERE event = 'completed'") == ROUNDS
    assert world.rows("SELECT job_id FROM execution_slots") == []
    assert broken(world) == []
