"""A cell, or the directory, that does not answer: the accounts of the other cells go on."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from app.web.cells.threads import MOST, SILENT_SECONDS, CellThreads, SilentError
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
        later = cells.router._threads["b"]
        patch.setattr(later, "clock", lambda: time.monotonic() + SILENT_SECONDS)
        refused = me(cells.client(), there)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
        assert "does not answer" in refused.json["detail"]
        assert me(cells.client(), here).status_code == 200
        go_on.set()
        assert {one.result().status_code for one in silent} == {503}
    assert me(cells.client(), there).status_code == 200


def test_a_cell_that_answers_may_hold_more_threads() -> None:
    now = [0.0]
    threads = CellThreads(2, lambda: now[0])
    with threads.one(), threads.one(), threads.one():
        now[0] = SILENT_SECONDS + 0.1
        with pytest.raises(SilentError), threads.one():
            pass
    with threads.one(), threads.one(), threads.one():
        pass


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
