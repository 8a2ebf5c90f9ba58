"""The password of the database is replaced under traffic: two roles alternate, and no request waits for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from durable_harness.postgres import PostgresServer
from durable_harness.standby import query
from durable_harness.waiting import wait_for

from tests.e2e.own_server import PAGE, OwnServer
from tests.e2e.pages import blocks, statements
from tests.e2e.service import Service
from tests.e2e.submitter import Submitter

pytestmark = pytest.mark.proof

MAKE, LOCK = blocks(PAGE, "A new password without a gap")
SECOND, THIRD = "another-password-of-the-application", "a-third-password-of-the-application"
LEAKED = (
    "ALTER ROLE fairlane_app2 NOLOGIN",
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'fairlane_app2'",
)

#: A client may still use a web's address for a moment after that was told to stop.
DRAIN = {"WEB_DRAIN": "5s"}


@pytest.fixture
def own() -> Iterator[OwnServer]:
    server = PostgresServer()
    made = OwnServer(server, "host fairlane all 127.0.0.1/32 scram-sha-256\n")
    try:
        made.begin()
        yield made
    finally:
        server.remove()


def test_no_request_is_refused_while_roles_alternate_and_no_job_is_lost_when_one_is_locked(
    own: OwnServer, repository: Callable[..., Path], tmp_path: Path
) -> None:
    count, lock = statements(LOCK)
    own.migrate()
    with (
        Service.on(own.url(), tmp_path, repository, seen_as=own.seen(), **DRAIN) as service,
        service.traffic() as client,
    ):
        wait_for(lambda: len(client.accepted) >= 3, "jobs to be accepted")
        own.run(MAKE, fairlane_app2=SECOND)
        alternate(own, service, client, own.url("fairlane_app2", SECOND))
        wait_for(lambda: query(own.server, count) == [(0,)], "the old sessions to end")
        query(own.server, lock)
        wait_for(accepting(client), "jobs to be accepted by the second role alone")
        assert client.refusals == {}

        for statement in LEAKED:
            query(own.server, statement)
        wait_for(lambda: client.refusals["503"], "a request to be refused")
        for process in service.processes:
            process.kill()  # a worker obeys a signal when its database answers again, and this one never will
        query(own.server, f"ALTER ROLE fairlane_app LOGIN PASSWORD '{THIRD}'")
        alternate(own, service, client, own.url("fairlane_app", THIRD))
        client.end()
        wait_for(service.is_idle, "every job to end")
        assert service.bills() == {one.job_id: 1 for one in client.accepted}
        assert service.broken() == []


def alternate(own: OwnServer, service: Service, client: Submitter, url: str) -> None:
    """Give the other role its rights, and replace the processes."""
    done = service.fairlane("migrate", DATABASE_URL=url, DATABASE_OWNER_URL=own.owner_url())
    assert (done.returncode, done.stderr) == (0, "")
    service.replace(DATABASE_URL=url, **DRAIN)
    wait_for(accepting(client), "jobs to be accepted by the new processes")


def accepting(client: Submitter) -> Callable[[], bool]:
    """Whether another three were accepted."""
    before = len(client.accepted)
    return lambda: len(client.accepted) >= before + 3
