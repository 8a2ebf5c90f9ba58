"""A cell, or the directory, that does not answer: the accounts of the other cells go on."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy.exc import OperationalError

from app.services.cells.threads import MOST, SILENT_SECONDS
from app.web.analyses.commit_lookups import EXTENSION as LOOKUPS
from tests.databases import Databases
from tests.web.joined_cells import Joined, away, me, two_cells


@pytest.fixture(scope="module")
def cells(databases: Databases) -> Iterator[Joined]:
    with two_cells(databases) as made:
        yield made


def test_only_the_accounts_of_a_cell_that_is_away_wait(cells: Joined) -> None:
    here, there = cells.a.token(), cells.b.token()
    unknown = cells.b.token()
    assert [me(cells.client(), headers).status_code for headers in (here, there)] == [200, 200]
    with away(cells.b.uow):
        answers = [me(cells.client(), headers) for headers in (here, there, unknown)]
    assert [answer.status_code for answer in answers] == [200, 503, 503]
    assert {answer.headers["Retry-After"] for answer in answers[1:]} == {"2"}


def test_a_cell_whose_host_has_vanished_leaves_the_others_threads(cells: Joined) -> None:
    here, there = cells.a.token(), cells.b.token()
    assert [me(cells.client(), headers).status_code for headers in (here, there)] == [200, 200]
    waiting, go_on = threading.Semaphore(0), threading.Event()

    def connect() -> Any:
        waiting.release()
        go_on.wait(60)
        raise OperationalError("connect", {}, Exception("timed out"))

    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(MOST) as pool:
        patch.setattr(cells.b.uow.engine, "raw_connection", connect)
        silent = [pool.submit(me, cells.client(), there) for _ in range(MOST)]
        for _ in silent:
            assert waiting.acquire(timeout=60)
        later = cells.router._places.threads["b"]
        patch.setattr(later, "clock", lambda: time.monotonic() + SILENT_SECONDS)
        refused = me(cells.client(), there)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
        assert "does not answer" in refused.json["detail"]
        assert me(cells.client(), here).status_code == 200
        go_on.set()
        assert {one.result().status_code for one in silent} == {503}
        assert later.is_silent
    assert me(cells.client(), there).status_code == 200


def test_keys_that_nobody_has_used_wait_for_a_silent_cell_in_few_threads(cells: Joined) -> None:
    unknown = cells.b.token()
    cells.router._places.threads["a"].is_silent = True
    with away(cells.a.uow):
        answers = [me(cells.client(), unknown), me(cells.client(), {"Authorization": "Bearer fl_nobodys"})]
        with cells.router._places.threads["a"].one(), cells.router._places.threads["a"].one():
            cells.router._places.threads["a"]._answered -= 2 * SILENT_SECONDS
            cells.router._places.threads["a"].is_silent = True
            answers.append(me(cells.client(), {"Authorization": "Bearer fl_nobodys2"}))
    assert [answer.status_code for answer in answers] == [200, 503, 503]
    assert "does not answer" in answers[2].json["detail"]
    cells.router._places.threads["a"].is_silent = False


def test_without_the_directory_those_that_are_remembered_and_visitors_go_on(cells: Joined) -> None:
    known, unknown = cells.a.token(), cells.a.token()
    assert me(cells.client(), known).status_code == 200
    with away(cells.directory):
        answers = [me(cells.client(), known), me(cells.client(), unknown), cells.client().get("/")]
    assert [answer.status_code for answer in answers] == [200, 503, 200]
    assert "looked up" in answers[1].json["detail"]


def test_metrics_and_readiness_are_of_the_cell_that_is_named(cells: Joined) -> None:
    with away(cells.b.uow):
        answers = [cells.client().get("/readyz", query_string={"cell": cell}).status_code for cell in ("a", "b", "c")]
    assert answers == [200, 503, 200]


@pytest.mark.parametrize("cell", ["a", "b"])
def test_a_web_is_ready_for_a_balancer_while_one_of_its_cells_is(cells: Joined, cell: str) -> None:
    with away(getattr(cells, cell).uow):
        assert cells.client().get("/readyz").status_code == 200
        with away(cells.b.uow if cell == "a" else cells.a.uow):
            assert cells.client().get("/readyz").status_code == 503


def test_what_a_silent_cell_is_asked_for_is_not_answered_by_another(cells: Joined) -> None:
    threads = cells.router._places.threads["b"]
    with threads.one(), threads.one():
        threads.is_silent = True
        threads._answered -= 2 * SILENT_SECONDS
        answers = [cells.client().get(path, query_string={"cell": "b"}) for path in ("/readyz", "/metrics")]
        assert cells.client().get("/healthz").status_code == 200
    assert [answer.status_code for answer in answers] == [503, 503]
    assert not threads.is_silent


def test_what_does_not_exist_is_said_without_the_directory(cells: Joined) -> None:
    headers = cells.a.token()
    assert me(cells.client(), headers).status_code == 200
    with away(cells.directory):
        assert cells.client().get(f"/api/v1/analyses/{uuid4()}", headers=headers).status_code == 404


@contextmanager
def slow_host(cells: Joined) -> Iterator[tuple[threading.Semaphore, threading.Event]]:
    """A Git host that says nothing.  Returns: released by each look-up; to be set when it shall answer."""
    asks, answers = threading.Semaphore(0), threading.Event()
    found = cells.a.app.extensions[LOOKUPS]

    def resolve(*given: Any) -> Any:
        asks.release()
        assert answers.wait(60)
        return real(*given)

    with pytest.MonkeyPatch.context() as patch:
        real = found.resolve
        patch.setattr(found, "resolve", resolve)
        patch.setattr(found, "seconds", 60.0)
        try:
            yield asks, answers
        finally:
            answers.set()


@pytest.mark.parametrize("path", ["/api/v1/analyses", "/api/v1/analyses/batch"])
def test_who_waits_for_a_git_host_does_not_wait_for_the_cell(cells: Joined, path: str) -> None:
    headers, item = cells.b.token(), {"repository": "acme/slow"}
    body = {"items": [item]} if path.endswith("batch") else item
    threads = cells.router._places.threads["b"]
    with ThreadPoolExecutor(1) as pool, slow_host(cells) as (asks, answers):
        submission = pool.submit(cells.client().post, path, json=body, headers=headers)
        assert asks.acquire(timeout=60)
        assert threads._held == 0
        answers.set()
        assert submission.result(60).status_code < 300
    assert threads._held == 0


def test_who_comes_back_from_a_git_host_to_a_silent_cell_is_refused(cells: Joined) -> None:
    headers = cells.b.token()
    threads = cells.router._places.threads["b"]
    with ThreadPoolExecutor(1) as pool, slow_host(cells) as (asks, answers), threads.one():
        submission = pool.submit(cells.client().post, "/api/v1/analyses", json={"repository": "a/b"}, headers=headers)
        assert asks.acquire(timeout=60)
        with threads.one():
            threads.is_silent = True
            answers.set()
            refused = submission.result(60)
        assert threads._held == 1
    assert (refused.status_code, refused.json["type"]) == (503, "/problems/unavailable")
    assert (refused.headers["Retry-After"], "does not answer" in refused.json["detail"]) == ("2", True)
    assert not threads.is_silent
