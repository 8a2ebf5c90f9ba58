"""Which reads a replica answers, and what is seen while it lags: never less than before, and nobody else's."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from durable_harness.standby import query
from durable_harness.waiting import wait_for

from app.domain.plans import Tier
from app.services.accounts import forget
from tests.e2e.replicated import Replicated, reasons, statements

pytestmark = pytest.mark.proof

#: Of a statement that describes jobs.
RECORD = "error_retryable, summary, progress FROM analyses"
REPOSITORY = "/repositories/github.com/acme/shop"
#: What is read of completed jobs, with a part of a statement that the primary is spared.
CONTENTS = {
    "/api/v1/analyses/{job}/tests": "jsonb_array_elements",
    "/api/v1/analyses/{job}/tests?q=checkout": "jsonb_array_elements",
    "/api/v1/analyses/{job}/files": "file_inventories",
    "/api/v1/analyses/{job}/compare/{other}": "DECLARE different",
    f"/api/v1{REPOSITORY}": RECORD,
    f"/api/v1{REPOSITORY}/history": RECORD,
    f"/api/v1{REPOSITORY}/badge.svg": RECORD,
    "/api/v1/me/history": RECORD,
}
#: Pages have a token of the session and ids of requests in them, so only the statements are compared.
PAGES = {
    "/analyses/{job}": "jsonb_array_elements",
    "/analyses/{other}/compare/{job}": "DECLARE different",
    "/analyses/{job}/test?file=tests/test_cart.py&name=test_adds": "jsonb_agg",
    REPOSITORY: RECORD,
    "/history": RECORD,
}
#: What may change at any time, for which the primary is asked for its position.
LISTS = {
    "/explore": "WITH chosen",
    "/explore?q=shop": "WITH chosen",
    "/operator/jobs": "WITH looked",
    "/operator/failures": "error_code",
    "/operator": "WITH newest",
}


@pytest.fixture(scope="module")
def servers() -> Iterator[Replicated]:
    with Replicated.streaming() as made:
        yield made


@pytest.fixture
def pair(servers: Replicated) -> Replicated:
    """Servers for tests that leave them as they are; nothing is left alone any more."""
    servers.elapsed.pass_by()
    return servers


def test_what_completed_is_read_from_the_replica_and_is_the_same(pair: Replicated) -> None:
    headers = pair.web.token()
    other, job = (pair.completed(headers=headers) for _ in range(2))
    pair.caught_up()
    for path, spared in CONTENTS.items():
        address = path.format(job=job, other=other)
        with reasons() as found, statements(pair.pair.primary) as here, statements(pair.pair.standby) as there:
            answer = pair.web.client.get(address, headers=headers)
        assert answer.status_code == 200, address
        assert found.keys() == {"none"}, (address, found)
        assert any(spared in line for line in there), address
        assert not any(spared in line for line in here), address
        assert answer.data == pair.alone.client.get(address, headers=headers).data, address


def test_pages_and_lists_are_read_from_the_replica(pair: Replicated) -> None:
    boss = pair.web.user(Tier.PRO, is_operator=True)
    headers = pair.web.token(boss.user_id)
    other, job = (pair.completed(headers=headers) for _ in range(2))
    pair.web.sign_in(boss)
    pair.caught_up()
    for path, spared in (PAGES | LISTS).items():
        address = path.format(job=job, other=other)
        with reasons() as found, statements(pair.pair.primary) as here, statements(pair.pair.standby) as there:
            answer = pair.web.client.get(address)
        assert answer.status_code == 200, address
        assert found.keys() == {"none"}, (address, found)
        assert any(spared in line for line in there), address
        assert not any(spared in line for line in here), address


def test_without_a_replica_nothing_is_asked_twice(pair: Replicated) -> None:
    headers = pair.web.token()
    job = pair.completed(headers=headers)
    for path in ("/api/v1/analyses/{job}/tests?limit=5&framework=pytest", "/api/v1/me/history", f"/api/v1{REPOSITORY}"):
        with statements(pair.pair.primary) as here, reasons() as found:
            assert pair.alone.client.get(path.format(job=job), headers=headers).status_code == 200
        assert not found
        assert not any("wal" in line or "job_records" in line for line in here)


def test_of_a_replica_that_stands_still_only_earlier_results_are_read(pair: Replicated) -> None:
    headers = pair.web.token()
    earlier = pair.completed("early", headers)
    with pair.standing_still():
        job = pair.completed("late", headers)
        with reasons() as found:
            tests = pair.web.client.get(f"/api/v1/analyses/{job}/tests", headers=headers)
        assert (tests.status_code, len(tests.json["items"])) == (200, 3)
        assert found.keys() == {"lacking"}
        with reasons() as found:
            tests = pair.web.client.get(f"/api/v1/analyses/{earlier}/tests", headers=headers)
        assert (tests.status_code, len(tests.json["items"])) == (200, 3)
        assert found.keys() == {"none"}
        with reasons() as found:
            assert "acme/late" in pair.web.client.get("/explore", headers=headers).text
        assert found == {"behind": 1}
        with reasons() as found:  # it is not waited for again
            assert "acme/late" in pair.another_web().client.get("/explore").text
            assert "acme/late" in pair.web.client.get("/explore").text
        assert found == {"behind": 2}
        assert pair.web.client.get("/readyz").json["replica"] == "it has not replayed what the primary had"
    pair.elapsed.pass_by()
    with reasons() as found:
        assert "acme/late" in pair.web.client.get("/explore").text
        assert pair.web.client.get(f"/api/v1/analyses/{job}/tests", headers=headers).status_code == 200
    assert found.keys() == {"none"}
    assert pair.web.client.get("/readyz").json["replica"] == "ok"


def test_a_replica_of_an_idle_primary_is_not_behind(pair: Replicated) -> None:
    pair.completed()
    pair.caught_up()
    pair.elapsed.pass_by(86_400)
    with reasons() as found:
        assert pair.web.client.get("/explore").status_code == 200
    assert found == {"none": 1}


def test_ones_own_jobs_are_never_seen_older_than_before(pair: Replicated) -> None:
    """Two web processes in turn, one of which saw the replica stand still before it caught up."""
    headers = pair.web.token(pair.web.user(Tier.ENTERPRISE).user_id)
    webs = [pair.web, pair.another_web()]
    known: dict[str, str] = {}

    def check() -> None:
        for web in webs:
            pair.elapsed.pass_by()
            listed = web.client.get("/api/v1/me/history", headers=headers).json["items"]
            assert {one["id"]: one["status"] for one in listed} == known
            newest = web.client.get("/api/v1/repositories/github.com/acme/monotonic", headers=headers)
            completed = [one["id"] for one in newest.json["history"]] if newest.status_code == 200 else []
            assert sorted(completed) == sorted(one for one, status in known.items() if status == "completed")

    def job() -> None:
        made = pair.web.submit("monotonic", headers, commit=f"{len(known):040x}").json["id"]
        known[made] = "queued"
        check()
        delivery = pair.web.started(made)
        known[made] = "running"
        check()
        pair.web.finished(delivery)
        known[made] = "completed"
        check()

    job()
    with pair.standing_still():
        job()
        job()
    check()
    job()


def test_a_job_that_was_taken_over_is_described_with_ones_own_request(pair: Replicated) -> None:
    """The replica has the job as completed, but as a visitor's."""
    visitor, headers = pair.web.user(), pair.web.token(own := pair.web.user().user_id)
    job = pair.completed("visited", pair.web.token(visitor.user_id))
    with pair.standing_still():
        statement = "UPDATE analysis_requests SET user_id = %s WHERE job_id = %s"
        query(pair.pair.primary, statement, str(own), job)
        with reasons() as found:
            [listed] = pair.web.client.get("/api/v1/me/history", headers=headers).json["items"]
        assert (listed["id"], listed["tier"]) == (job, "free")
        assert found == {"lacking": 1}


def test_a_commit_that_only_the_replica_shows_is_not_shown(pair: Replicated) -> None:
    """A commit that waits for a synchronous standby is visible on other standbys before it is on the primary."""
    headers = pair.web.token()
    pair.completed()  # so that the files are known, and nothing is committed before the end
    job = pair.web.submit("waiting", headers, commit="a" * 40).json["id"]
    delivery = pair.web.started(job)
    pair.caught_up()
    pair.pair.wait_for_standby("FIRST 1 (nobody)")
    completing = threading.Thread(target=pair.web.finished, args=(delivery,))
    try:
        completing.start()
        status = f"SELECT status::text FROM analyses WHERE id = '{job}'"
        wait_for(lambda: query(pair.pair.standby, status) == [("completed",)], "the replica to show it")
        assert query(pair.pair.primary, status) == [("running",)]
        [listed] = pair.web.client.get("/api/v1/me/history", headers=headers).json["items"]
        assert listed["status"] == "running"
        assert pair.web.client.get(f"/api/v1/analyses/{job}/tests", headers=headers).status_code == 409
    finally:
        pair.pair.wait_for_standby("")
        completing.join(60)
    [listed] = pair.web.client.get("/api/v1/me/history", headers=headers).json["items"]
    assert listed["status"] == "completed"


def test_who_may_read_is_decided_on_the_primary(pair: Replicated) -> None:
    owner = pair.web.user()
    headers, stranger = pair.web.token(owner.user_id), pair.web.token()
    public = pair.completed("hidden", headers)
    paths = (f"/api/v1/analyses/{public}/tests", f"/api/v1/analyses/{public}/files", f"/analyses/{public}")
    pair.caught_up()
    client = pair.web.app.test_client()  # nobody is signed in
    assert all(client.get(path, headers=stranger).status_code == 200 for path in paths)
    with pair.standing_still():
        query(pair.pair.primary, "UPDATE codebases SET is_private = true WHERE name = 'hidden'")
        assert [client.get(path, headers=stranger).status_code for path in paths] == [404, 404, 404]
        assert client.get("/api/v1/repositories/github.com/acme/hidden").status_code == 404
        assert "acme/hidden" not in client.get("/explore").text
        assert client.get(paths[0], headers=headers).status_code == 200
        forget.forget(pair.web.uow, owner.user_id, actor="test", now=pair.web.uow.now())
        assert [client.get(path, headers=headers).status_code for path in paths[:2]] == [401, 401]
