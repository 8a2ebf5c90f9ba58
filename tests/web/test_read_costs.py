"""Reads are limited: so many for each client, few large ones at once, and no statement for long."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from service_harness.application import Web, without_csrf
from service_harness.inventories import a_test, file
from sqlalchemy import text

from app.store.core.unit_of_work import UnitOfWork
from app.web.limits.read_costs import EXPORTS_OF_CLIENT, READS, Reads
from tests.web.serving import ask, serving

SOMEBODY = "6f0bb0a0-7b0e-4d8e-9b7e-3f0d6f6f2d11"
TESTS = 12


def done(web: Web, ref: str = "main", files: int = TESTS // 2) -> str:
    """A completed analysis of two tests a file, one of them skipped."""
    job_id: str = web.submit("shop", ref=ref).json["id"]
    rows = [
        file(f"{ref}/test_{n:02}.py", a_test(f"test_{ref}_a{n}"), a_test(f"test_b{n}", line=2, status="skipped"))
        for n in range(files)
    ]
    web.completed(job_id, rows)
    return job_id


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results of this file count as large ones."""
    monkeypatch.setattr("app.web.limits.read_costs.LIGHT", TESTS - 1)
    monkeypatch.setattr("app.web.results.exports.LIGHT", TESTS - 1)
    monkeypatch.setattr("app.web.limits.read_costs.PATIENCE", 0.0)


def lanes(web: Web) -> Reads:
    found: Reads = web.app.extensions[READS]
    return found


@pytest.mark.parametrize("path", ["/api/v1/quota-of-nobody", f"/api/v1/analyses/{SOMEBODY}", "/", "/docs/api"])
def test_who_reads_too_often_is_told_when_to_come_back(make_web: Callable[..., Web], path: str) -> None:
    web = make_web(read_limit_per_minute=5)
    lanes(web).buckets.clock = lambda: 0.0
    web.client.get("/sign-in")
    for _ in range(4):
        web.client.get("/usage")
    other = web.token()
    refused = web.client.get(path)
    if path.endswith("nobody"):  # there is no such route, and nothing is read for it
        assert refused.status_code == 404
        return
    assert (refused.status_code, int(refused.headers["Retry-After"]) >= 12) == (429, True)
    assert web.client.get("/api/v1/me", headers=other).status_code == 200
    assert [web.client.get(path).status_code for path in ("/healthz", "/readyz", "/metrics")] == [200] * 3
    assert web.submit().status_code == 202


@pytest.mark.usefixtures("large")
def test_a_large_read_counts_for_its_size(make_web: Callable[..., Web], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.web.limits.read_costs.PER_UNIT", 1)
    web = make_web(read_limit_per_minute=2 * TESTS + 10)
    lanes(web).buckets.clock = lambda: 0.0
    one, other = done(web, "one"), done(web, "two")
    path = f"/api/v1/analyses/{one}/compare/{other}"
    assert [web.client.get(path).status_code for _ in range(2)] == [200, 429]


@pytest.mark.usefixtures("large")
def test_few_large_results_are_read_at_once_and_others_are_told_so(web: Web) -> None:
    one, other = done(web, "one"), done(web, "two")
    small = done(web, "three", files=2)
    paths = [
        f"/api/v1/analyses/{one}/compare/{other}", f"/analyses/{one}/compare/{other}", f"/analyses/{one}?q=test",
        f"/api/v1/analyses/{one}/tests?q=a", f"/api/v1/analyses/{one}/files",
    ]  # fmt: skip
    lane = lanes(web).heavy
    lane.waiting = 0
    with lane.place("a"), lane.place("b"):
        for path in paths:
            refused = web.client.get(path)
            assert (refused.status_code, int(refused.headers["Retry-After"]) > 0) == (503, True), path
        assert web.client.get(paths[0]).json["type"] == "/problems/busy"
        easy = ["/healthz", "/readyz", f"/api/v1/analyses/{one}", f"/api/v1/analyses/{small}/tests?q=a", "/"]
        assert [web.client.get(path).status_code for path in easy] == [200] * len(easy)
    assert [web.client.get(path).status_code for path in paths] == [200] * len(paths)


@pytest.mark.usefixtures("large")
def test_a_result_is_gone_through_once_for_all_pages_of_a_filter(web: Web) -> None:
    job_id = done(web)
    query = f"/api/v1/analyses/{job_id}/tests?status=skipped&limit=2"
    page = web.client.get(query).json
    lane = lanes(web).heavy
    lane.waiting = 0
    with lane.place("a"), lane.place("b"):
        names = [row["name"] for row in page["items"]]
        while page["next"]:
            page = web.client.get(f"{query}&cursor={page['next']}").json
            assert page["total"] == TESTS // 2
            names += [row["name"] for row in page["items"]]
        assert web.client.get(f"/analyses/{job_id}?status=skipped&page=9").status_code == 200
    assert names == [f"test_b{n}" for n in range(TESTS // 2)]


def test_what_is_remembered_of_a_result_shows_it_to_nobody_else(web: Web) -> None:
    owner = web.token()
    job_id = web.submit(headers=owner).json["id"]
    web.completed(job_id)
    with web.uow.begin() as tx:
        tx.run(text("UPDATE codebases SET is_private = true"))
    path = f"/api/v1/analyses/{job_id}/tests"
    assert [web.client.get(path, headers=one).status_code for one in (owner, {}, web.token())] == [200, 404, 404]


def test_one_client_writes_few_exports_at_once(web: Web) -> None:
    path = f"/api/v1/analyses/{done(web)}/tests?format=csv"
    unread = [web.client.get(path, buffered=False) for _ in range(EXPORTS_OF_CLIENT)]
    refused = web.client.get(path)
    assert (refused.status_code, refused.json["type"]) == (429, "/problems/too-many-requests")
    for answer in unread:
        answer.close()
    with web.client.get(path) as whole:
        assert whole.text.count("\n") == 1 + TESTS
    assert not lanes(web).exports._taken


def test_the_exports_of_what_is_not_there_hold_no_place(web: Web) -> None:
    running = web.submit("other").json["id"]
    for job_id, status in ((SOMEBODY, 404), (running, 409)):
        for _ in range(EXPORTS_OF_CLIENT + 1):
            assert web.client.get(f"/api/v1/analyses/{job_id}/tests?format=csv").status_code == status
    assert not lanes(web).exports._taken


@pytest.mark.proof
def test_all_processes_of_the_web_together_grant_the_documented_reads(
    web: Web, database_url: str, tmp_path: Path
) -> None:
    path, limit, asked = f"/api/v1/analyses/{done(web)}", 30, 150
    settings = {"WEB_CONCURRENCY": "3", "READ_LIMIT_PER_MINUTE": str(limit)}
    with serving(database_url, tmp_path, **settings) as port, ThreadPoolExecutor(10) as clients:
        began = time.monotonic()
        answers = Counter(clients.map(lambda _: ask(port, "GET", path)[0], range(asked)))
        refilled = (time.monotonic() - began) * limit / 60
    assert set(answers) <= {200, 429}
    assert min(limit, asked) <= answers[200] <= limit + refilled + 1


def test_a_statement_that_takes_too_long_is_a_problem(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(uow: UnitOfWork, *_: Any, **__: Any) -> None:
        with uow.begin() as tx:
            tx.run(text("SET LOCAL statement_timeout = '50ms'"))
            tx.run(text("SELECT pg_sleep(60)"))

    monkeypatch.setattr("app.services.jobs.read_jobs.job", slow)
    refused = web.client.get(f"/api/v1/analyses/{SOMEBODY}")
    assert (refused.status_code, refused.json["type"]) == (503, "/problems/timed-out")
    assert int(refused.headers["Retry-After"]) > 0
    assert web.client.get("/readyz").status_code == 200


def test_the_document_is_made_once(make_own_web: Callable[..., Web], monkeypatch: pytest.MonkeyPatch) -> None:
    web = make_own_web()
    made, make = [], web.app._generate_spec

    def counted() -> Any:
        made.append(time.monotonic())
        return make()

    monkeypatch.setattr(web.app, "_generate_spec", counted)
    pages = {without_csrf(web.client.get("/docs/api").text) for _ in range(3)}
    assert (len(pages), len(made)) == (1, 1)


def test_a_search_for_repositories_counts_as_five_reads_and_takes_a_place_of_the_heavy_lane(
    make_web: Callable[..., Web], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.web.limits.read_costs.PATIENCE", 0.0)
    web = make_web(read_limit_per_minute=12)
    lanes(web).buckets.clock = lambda: 0.0
    assert [web.client.get(f"/explore?q={part}").status_code for part in ("shop", "acme", "none")] == [200, 200, 429]
    looks = [web.client.get("/explore").status_code for _ in range(3)]
    assert looks == [200, 429, 429], "what the three searches left, the refused one counting as a request"
    other = make_web()
    with lanes(other).heavy.place("somebody"), lanes(other).heavy.place("somebody else"):
        busy = other.client.get("/explore?q=shop")
        assert (busy.status_code, other.client.get("/explore").status_code) == (503, 200)
