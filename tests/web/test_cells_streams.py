"""Live progress of jobs through a router over two cells."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest
from werkzeug.test import Client

from app.services.cells import cells as of_service
from app.services.cells.change_cell import change_cell
from app.web.jobs.api import LIVE
from tests.databases import Databases
from tests.web.joined_cells import Joined, two_cells
from tests.web.test_job_streams import Event, job_of, read

#: No stream of these tests may end by itself.
FOR_EVER = 600.0


@pytest.fixture(scope="module")
def cells(databases: Databases) -> Iterator[Joined]:
    with two_cells(databases) as made:
        for web in (made.a, made.b):
            web.app.extensions[LIVE].stream_seconds = FOR_EVER
        yield made


@contextmanager
def follow(client: Client, job_id: str, last_id: str | None = None, **headers: str) -> Iterator[Iterator[Event]]:
    """The events of a job, without the comments."""
    given = headers | ({"Last-Event-ID": last_id} if last_id else {})
    answer = client.get(f"/api/v1/analyses/{job_id}/events", headers=given)
    assert (answer.status_code, answer.mimetype) == (200, "text/event-stream")
    try:
        chunks: Any = iter(answer.response)
        events = (event for event in read(chunks) if "comment" not in event)
        assert next(events) == {"retry": "2000"}
        yield events
    finally:
        answer.close()


def places(cells: Joined) -> int:
    """How many streams are open."""
    return sum(len(web.app.extensions[LIVE]._jobs) for web in (cells.a, cells.b))


@pytest.mark.parametrize("cell", ["a", "b"])
@pytest.mark.parametrize("reader", ["token", "session", "visitor of a", "visitor of b"])
def test_a_stream_comes_from_the_cell_that_has_the_job(cells: Joined, cell: str, reader: str) -> None:
    web = getattr(cells, cell)
    account = web.user()
    headers = web.token(account.user_id)
    job_id = web.submit(f"streamed-{uuid4().hex}", headers).json["id"]
    client = cells.visitor(reader[-1]) if reader.startswith("visitor") else cells.client()
    client = cells.browser(web, account.user_id) if reader == "session" else client
    with follow(client, job_id, **(headers if reader == "token" else {})) as events:
        first = next(events)
        assert (first["event"], job_of(first)["status"]) == ("state", "queued")
        delivery = web.started(job_id)
        assert next(one for one in events if job_of(one)["status"] == "running")
        web.finished(delivery)
        *_, last = events
        assert (last["event"], job_of(last)["id"]) == ("final", job_id)
    assert places(cells) == 0


def test_a_stream_goes_on_in_the_cell_to_which_its_account_moves(cells: Joined) -> None:
    account, other = cells.a.user(), cells.a.user()
    headers, others = cells.a.token(account.user_id), cells.a.token(other.user_id)
    job_id = cells.a.submit("moving", headers).json["id"]
    staying = cells.a.submit("staying", others).json["id"]
    service = of_service.Cells("a", {"a": cells.a.uow, "b": cells.b.uow}, cells.directory)
    with follow(cells.client(), job_id, **headers) as events, follow(cells.client(), staying, **others) as stays:
        first, _ = next(events), next(stays)
        change_cell(service, account.email or "", "b", actor="test")
        assert all(job_of(one)["status"] == "queued" for one in events)  # and it ends
        delivery = cells.a.started(staying)
        assert next(one for one in stays if job_of(one)["status"] == "running")
        with follow(cells.client(), job_id, first["id"], **headers) as again:
            cells.b.started(job_id)
            assert next(one for one in again if job_of(one)["status"] == "running")
        cells.a.finished(delivery)
        assert json.loads([*stays][-1]["data"])["id"] == staying
    assert places(cells) == 0
