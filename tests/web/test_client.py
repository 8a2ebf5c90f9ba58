"""The Python client against the real application."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_type_hints

import httpx
import pytest
from fairlane_client import Client, RefusedError, shapes
from service_harness.application import Web, commit_of

SERVICE = "http://127.0.0.1"


@pytest.fixture
def client(web: Web) -> Iterator[Client]:
    token = web.token()["Authorization"].removeprefix("Bearer ")
    with Client(SERVICE, token, transport=httpx.WSGITransport(app=web.app)) as client:
        yield client


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


def test_results_are_compared_and_a_repository_its_history_and_the_usage_are_read(web: Web, client: Client) -> None:
    first, second = (client.submit("acme/shop", commit=commit_of(name))["id"] for name in ("shop", "till"))
    for job_id in (first, second):
        web.completed(job_id)
    found = client.compare(first, second)
    assert unlike(found, shapes.Comparison) == []
    assert found["totals"]["unchanged"] > 0
    repository = client.repository("github.com", "acme", "shop")
    assert unlike(repository, shapes.RepositoryResult) == []
    assert client.history("github.com", "acme", "shop") == repository["history"]
    usage = client.usage()
    assert unlike(usage, shapes.Usage) == unlike(usage["analysis"], shapes.Meter) == []
    assert usage["analysis"]["used"] == 2
    assert client.specifications(first) == client.specifications() == []


def test_a_repository_of_an_odd_name_is_only_not_found(client: Client) -> None:
    with pytest.raises(RefusedError) as refused:
        client.repository("github.com", "acme", "../../me")
    assert refused.value.status == 404
