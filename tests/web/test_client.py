"""The Python client against the real application."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, get_type_hints

import httpx
import pytest

from app.client import Client, Job, RefusedError, UnreachableError, shapes
from tests.web.conftest import Web, commit_of

SERVICE = "http://127.0.0.1"


@pytest.fixture
def client(web: Web) -> Iterator[Client]:
    token = web.token()["Authorization"].removeprefix("Bearer ")
    with Client(SERVICE, token, transport=httpx.WSGITransport(app=web.app)) as client:
        yield client


def answering(answer: Callable[[httpx.Request], httpx.Response]) -> Client:
    return Client(SERVICE, transport=httpx.MockTransport(answer))


def unlike(found: Any, shape: Any) -> list[str]:
    """Members of a shape that an answer does not have."""
    return [name for name in get_type_hints(shape) if name not in found]


def test_a_job_is_submitted_waited_for_and_read(web: Web, client: Client) -> None:
    job = client.submit("acme/shop", ref="main")
    assert (job["status"], job["commit"]) == ("queued", commit_of("shop"))
    assert unlike(job, shapes.Job) == unlike(job["repository"], shapes.Repository) == []
    assert job["wait"] is not None
    assert unlike(job["wait"], shapes.Wait) == []
    seen: list[str] = []

    def complete(_: float) -> None:
        web.completed(job["id"])

    ended = client.wait(job, seen=lambda one: seen.append(one["status"]), pause=complete)
    assert (seen, ended["status"]) == (["queued"], "completed")
    assert ended["summary"] is not None
    assert unlike(ended["summary"], shapes.Summary) == []
    tests = list(client.tests(job["id"], limit="2"))
    assert len(tests) == ended["summary"]["tests"] > 2, "one page has two"
    assert unlike(tests[0], shapes.Test) == []
    assert [one["status"] for one in client.tests(job["id"], status="skipped")] == ["skipped"]


def test_a_failure_says_why(web: Web, client: Client) -> None:
    job = client.submit("acme/shop")
    web.failed(job["id"])
    error = client.job(job["id"])["error"]
    assert error is not None
    assert unlike(error, shapes.Failure) == []
    assert client.submit("acme/shop", retry=True)["id"] != job["id"]


def test_a_key_submits_once_and_a_job_is_cancelled(client: Client) -> None:
    first, again = (client.submit("acme/shop", key="one") for _ in range(2))
    assert first["id"] == again["id"]
    client.cancel(first["id"])
    assert client.job(first["id"])["status"] == "cancelled"


def test_a_problem_is_raised_with_what_is_wrong(client: Client) -> None:
    with pytest.raises(RefusedError, match="address") as refused:
        client.submit("ftp://nowhere")
    assert refused.value.status == 422
    assert refused.value.errors[0]["pointer"] == "/repository"


def test_an_answer_of_a_proxy_is_a_refusal_too() -> None:
    with (
        answering(lambda _: httpx.Response(502, text="<h1>Bad gateway</h1>")) as client,
        pytest.raises(RefusedError) as bad,
    ):
        client.job("x")
    assert (str(bad.value), bad.value.errors, bad.value.retry_after) == ("HTTP 502", [], None)


def test_who_is_asked_too_often_is_asked_again_after_the_time_it_names() -> None:
    answers = iter([
        httpx.Response(429, headers={"Retry-After": "7"}, json={"title": "Too many requests"}),
        httpx.Response(200, json={"id": "x", "status": "completed"}),
    ])  # fmt: skip
    waited: list[float] = []
    job: Job = {"id": "x", "status": "queued"}  # type: ignore[typeddict-item]
    with answering(lambda _: next(answers)) as client:
        assert client.wait(job, pause=waited.append)["status"] == "completed"
    assert waited[1:] == [7.0]


def test_a_service_that_does_not_answer_is_named() -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("connection refused")

    with answering(refuse) as client, pytest.raises(UnreachableError, match=r"http://127\.0\.0\.1 does not answer"):
        client.job("x")
