"""The client on its own: what it makes of answers that are no answers."""

from __future__ import annotations

from collections.abc import Callable

import fairlane_client
import httpx
import pytest
from fairlane_client import Client, Job, RefusedError, UnreachableError
from fairlane_client.client import JOB

SERVICE = "http://127.0.0.1"


def answering(answer: Callable[[httpx.Request], httpx.Response]) -> Client:
    return Client(SERVICE, transport=httpx.MockTransport(answer))


def test_every_public_name_can_be_imported_at_once() -> None:
    found: dict[str, object] = {}
    exec("from fairlane_client import *", found)
    assert set(fairlane_client.__all__) <= found.keys()


def test_an_answer_of_a_proxy_is_a_refusal_too() -> None:
    with (
        answering(lambda _: httpx.Response(502, text="<h1>Bad gateway</h1>")) as client,
        pytest.raises(RefusedError) as bad,
    ):
        client.job("x")
    assert (str(bad.value), bad.value.errors, bad.value.retry_after) == ("HTTP 502", [], None)


@pytest.mark.parametrize("text", ["<h1>Sign in</h1>", "[1]", "null", "", '"\\ud800', "\x00", '{"id": "x"}'])
def test_a_success_without_an_object_does_not_come_from_the_service(text: str) -> None:
    with (
        answering(lambda _: httpx.Response(200, text=text)) as client,
        pytest.raises(UnreachableError, match="HTTP 200 without an object of this API"),
    ):
        client.job("x")


@pytest.mark.parametrize("errors", [["x", 3], {"a": 1}, "x", None])
def test_wrong_members_that_are_none_are_not_told(errors: object) -> None:
    with (
        answering(lambda _: httpx.Response(422, json={"detail": "No", "errors": errors})) as client,
        pytest.raises(RefusedError, match="No") as refused,
    ):
        client.job("x")
    assert refused.value.errors == []


def test_who_is_asked_too_often_is_asked_again_after_the_time_it_names() -> None:
    answers = iter([
        httpx.Response(429, headers={"Retry-After": "7"}, json={"title": "Too many requests"}),
        httpx.Response(200, json=dict.fromkeys(JOB, None) | {"id": "x", "status": "completed"}),
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
