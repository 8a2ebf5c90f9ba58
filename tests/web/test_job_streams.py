"""Server-sent events: order, resume, end, and how many."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from uuid import uuid4

import pytest
from service_harness.application import Web
from sqlalchemy import text

from app.domain.queues import Service
from app.store.jobs import heartbeats
from app.web.jobs import job_streams
from app.web.jobs.api import LIVE
from app.web.jobs.job_streams import MOST_STREAMS, MOST_STREAMS_EACH, MOST_STREAMS_OF_VISITORS, Live

Event = dict[str, str]


def read(chunks: Iterator[bytes]) -> Iterator[Event]:
    """Events as a browser reads them; comments and `retry` stand for themselves."""
    for chunk in chunks:
        for block in chunk.decode().strip().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.splitlines())
            yield {name or "comment": value for name, value in fields.items()}


@contextmanager
def follow(web: Web, job_id: str, last_id: str | None = None) -> Iterator[Iterator[Event]]:
    headers = {"Last-Event-ID": last_id} if last_id else {}
    answer = web.app.test_client().get(f"/api/v1/analyses/{job_id}/events", headers=headers)
    assert answer.status_code == 200, answer.text
    try:
        yield (event for event in read(iter(answer.response)) if "comment" not in event)  # type: ignore[arg-type]
    finally:
        answer.close()


def live(web: Web) -> Live:
    found: Live = web.app.extensions[LIVE]
    return found


@pytest.fixture
def short(web: Web) -> Web:
    """Streams that end at once, where only their beginning matters."""
    live(web).stream_seconds = 0.0
    return web


def job_of(event: Event) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(event["data"])
    return parsed


def test_the_headers_keep_proxies_from_holding_events_back(short: Web) -> None:
    answer = short.client.get(f"/api/v1/analyses/{short.submit().json['id']}/events")
    assert answer.mimetype == "text/event-stream"
    assert (answer.headers["X-Accel-Buffering"], answer.headers["Cache-Control"]) == ("no", "no-store")
    answer.close()


def test_events_tell_state_progress_and_final_in_this_order(web: Web) -> None:
    job_id = web.submit().json["id"]
    with follow(web, job_id) as events:
        assert next(events) == {"retry": "2000"}
        first = next(events)
        assert (first["event"], job_of(first)["status"]) == ("state", "queued")
        delivery = web.started(job_id)
        second = next(event for event in events if job_of(event)["status"] != "queued")  # why it waits may change
        assert (second["event"], job_of(second)["status"]) == ("state", "running")
        with web.uow.begin() as tx:
            heartbeats.beat(tx, Service.ANALYSIS, delivery, ("parsing", 3, 9), lease_seconds=15)
        third = next(events)
        assert (third["event"], job_of(third)["progress"]) == ("progress", {"phase": "parsing", "done": 3, "total": 9})
        web.client.delete(f"/api/v1/analyses/{job_id}")
        asked = next(events)
        assert (asked["event"], job_of(asked)) == ("state", job_of(third))
        # a cancelled job ends when its worker has noticed
        web.finish_cancelled(delivery)
        *between, last = list(events)
        assert {event["event"] for event in between} <= {"state"}
        assert (last["event"], job_of(last)["status"]) == ("final", "cancelled")
        ids = [event["id"] for event in (first, second, third, last)]
        assert len(set(ids)) == 4
        assert [int(event_id.split("-")[0]) for event_id in ids] == sorted(int(i.split("-")[0]) for i in ids)


def test_a_client_that_comes_back_gets_what_it_missed_and_nothing_twice(short: Web) -> None:
    job_id = short.submit().json["id"]
    with follow(short, job_id) as events:
        seen = list(events)[-1]
    with follow(short, job_id, seen["id"]) as events:
        assert list(events) == [{"retry": "2000"}]
    short.started(job_id)
    with follow(short, job_id, seen["id"]) as events:
        _, state = events
        assert job_of(state)["status"] == "running"


def test_a_finished_job_ends_the_stream_at_once(web: Web) -> None:
    job_id = web.submit().json["id"]
    web.completed(job_id)
    with follow(web, job_id) as events:
        _, last = events
    assert (last["event"], job_of(last)["status"]) == ("final", "completed")
    with follow(web, job_id, last["id"]) as events:
        assert [event.get("event") for event in events] == [None, "final"]


def test_a_stream_ends_by_itself_after_its_time(web: Web) -> None:
    live(web).stream_seconds = 0.5
    with follow(web, web.submit().json["id"]) as events:  # one that does not end is ended by the time-out of the test
        assert [event.get("event") for event in events] == [None, "state"]


def test_too_many_streams_are_503_and_places_come_back(web: Web) -> None:
    live(web).places.places = 2
    job_id = web.submit().json["id"]
    path = f"/api/v1/analyses/{job_id}/events"
    with follow(web, job_id), follow(web, job_id):
        refused = web.client.get(path)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
        assert web.client.get(f"/api/v1/analyses/{job_id}").status_code == 200
    with follow(web, job_id):
        pass


def test_a_request_for_headers_only_keeps_no_place(web: Web) -> None:
    path = f"/api/v1/analyses/{web.submit().json['id']}/events"
    for _ in range(20):
        web.client.head(path).close()
    with follow(web, path.split("/")[-2]):
        pass


def test_one_thread_reads_for_all_streams_and_ends_with_the_last(make_web: Callable[..., Web]) -> None:
    web = make_web()
    ids = [web.submit(f"r{n}").json["id"] for n in range(3)]
    with follow(web, ids[0]) as a, follow(web, ids[1]) as b, follow(web, ids[2]) as c:
        for events in (a, b, c):
            next(events), next(events)
        assert sum(thread.name == "live" for thread in threading.enumerate()) == 1
    deadline = time.monotonic() + 60
    while any(thread.name == "live" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_one_client_cannot_take_all_streams(web: Web) -> None:
    job_id = web.submit().json["id"]
    path = f"/api/v1/analyses/{job_id}/events"
    with ExitStack() as held:
        for _ in range(MOST_STREAMS_EACH):
            held.enter_context(follow(web, job_id))
        refused = web.client.get(path)
        assert (refused.status_code, refused.json["type"]) == (429, "/problems/too-many-requests")
        other = web.client.get(path, environ_base={"REMOTE_ADDR": "203.0.113.9"})
        assert other.status_code == 200
        other.close()
        signed_in = web.client.get(path, headers=web.token())
        assert signed_in.status_code == 200
        signed_in.close()
    with follow(web, job_id):
        pass


def test_visitors_of_many_addresses_leave_streams_to_signed_in_people(web: Web) -> None:
    path = f"/api/v1/analyses/{web.submit().json['id']}/events"
    of_owner = web.token()
    with ExitStack() as held:
        for number in range(MOST_STREAMS_OF_VISITORS):
            held.enter_context(live(web).place(f"address {number // MOST_STREAMS_EACH}", is_visitor=True))
        refused = web.client.get(path)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
        for number in range((MOST_STREAMS - MOST_STREAMS_OF_VISITORS) - 1):
            held.enter_context(live(web).place(f"account {number // MOST_STREAMS_EACH}", is_visitor=False))
        signed_in = web.client.get(path, headers=of_owner)
        assert signed_in.status_code == 200
        signed_in.close()
    with web.client.get(path, buffered=False) as visitor:
        assert visitor.status_code == 200


def test_a_stream_of_a_job_that_is_not_there_keeps_no_place(web: Web) -> None:
    for _ in range(MOST_STREAMS_EACH + 1):
        assert web.client.get(f"/api/v1/analyses/{uuid4()}/events").status_code == 404


def test_a_job_that_is_gone_ends_its_streams_and_holds_up_no_others(web: Web) -> None:
    live(web).stream_seconds = 600.0
    gone, other = web.submit("gone").json["id"], web.submit("other").json["id"]
    with follow(web, gone) as events, follow(web, other) as others:
        assert [next(one) for one in (events, others)] == [{"retry": "2000"}] * 2
        assert [job_of(next(one))["status"] for one in (events, others)] == ["queued"] * 2
        with web.uow.begin() as tx:
            for table, column in (("job_events", "job_id"), ("analysis_requests", "job_id")):
                tx.run(text(f"DELETE FROM {table} WHERE {column} = :id"), id=gone)
        assert {job_of(event)["status"] for event in events} <= {"queued"}
        web.started(other)
        assert next(event for event in others if job_of(event)["status"] == "running")
    assert live(web)._jobs == {}


def test_streams_are_over_when_the_process_stops_and_further_ones_too(web: Web) -> None:
    job_id = web.submit().json["id"]
    with follow(web, job_id) as events:
        assert [next(events), next(events)["event"]] == [{"retry": "2000"}, "state"]
        live(web).end()
        assert list(events) == []
    with follow(web, job_id) as events:
        _, state = events
        assert state["event"] == "state"


def test_an_error_of_one_read_does_not_end_the_streams_of_the_process(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id, read, failed = web.submit().json["id"], job_streams.follow.stamps, threading.Event()

    def failing(*given: Any) -> Any:
        monkeypatch.setattr(job_streams.follow, "stamps", read)
        failed.set()
        raise OSError("no descriptor is left")

    monkeypatch.setattr(job_streams.follow, "stamps", failing)
    with follow(web, job_id) as events:
        assert [next(events), next(events)["event"]] == [{"retry": "2000"}, "state"]
        assert failed.wait(60)
        web.completed(job_id)
        assert "final" in {event["event"] for event in events}
