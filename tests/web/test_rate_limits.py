"""The fields RateLimit and RateLimit-Policy, on what is granted and on what is refused."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from service_harness.application import Web
from service_harness.inventories import a_test, file
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.web.limits.read_costs import READS
from tests.rate_buckets import refill_nothing
from tests.web.test_account import items

ITEM = re.compile(r'"(\w+)";r=(\d+);t=(\d+)')


def left(answer: TestResponse) -> dict[str, tuple[int, int]]:
    """policy -> (remaining, seconds until it is whole or grants)."""
    found = ITEM.findall(answer.headers.get("RateLimit", ""))
    assert ", ".join(f'"{policy}";r={r};t={t}' for policy, r, t in found) == answer.headers.get("RateLimit", "")
    return {policy: (int(r), int(t)) for policy, r, t in found}


def policies(answer: TestResponse) -> str | None:
    return answer.headers.get("RateLimit-Policy")


def stop_clock(web: Web) -> None:
    """Let nothing be refilled any more."""
    web.app.extensions[READS].buckets.clock = lambda: 0.0


@pytest.fixture
def web(make_web: Callable[..., Web]) -> Web:
    return make_web(read_limit_per_minute=4, rate_limit_per_minute=4)


def test_a_read_tells_what_is_left_until_it_is_refused(web: Web) -> None:
    headers = web.token()
    stop_clock(web)
    answers = [web.client.get("/api/v1/me", headers=headers) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200] * 4 + [429]
    assert {policies(answer) for answer in answers} == {'"reads";q=4;w=60'}
    assert [left(answer)["reads"][0] for answer in answers] == [3, 2, 1, 0, 0]
    assert [left(answer)["reads"][1] for answer in answers[:4]] == [15, 30, 45, 60]
    refused = answers[-1]
    assert refused.headers["Retry-After"] == str(left(refused)["reads"][1])
    assert left(refused)["reads"][1] == 15


@pytest.mark.parametrize("by", ["token", "address"])
def test_a_write_tells_what_is_left_until_it_is_refused(web: Web, by: str) -> None:
    headers = web.token() if by == "token" else {}
    answers = []
    for n in range(5):
        refill_nothing(web.uow)
        answers.append(web.submit(f"r{n}", headers))
    assert [answer.status_code for answer in answers] == [202] * 4 + [429]
    assert {policies(answer) for answer in answers} == {'"writes";q=4;w=60'}
    assert [left(answer)["writes"][0] for answer in answers] == [3, 2, 1, 0, 0]
    refused = answers[-1]
    assert refused.headers["Retry-After"] == str(left(refused)["writes"][1])


def test_a_batch_counts_each_item_and_debt_is_told_as_nothing_left(web: Web) -> None:
    headers = web.token()
    began = time.monotonic()
    batch = web.client.post("/api/v1/analyses/batch", json=items(*"abcdef"), headers=headers)
    (remaining, whole), took = left(batch)["writes"], time.monotonic() - began
    assert (batch.status_code, remaining) == (202, 0)
    assert 89 - took <= whole <= 90
    refused = web.submit("shop", headers)
    assert refused.status_code == 429
    assert left(refused)["writes"][0] == 0
    assert 44 - (time.monotonic() - began) <= int(refused.headers["Retry-After"]) <= 45


def test_a_large_read_counts_as_several(make_web: Callable[..., Web]) -> None:
    web = make_web(read_limit_per_minute=100)
    headers = web.token(web.user().user_id)
    job = web.submit("shop", headers).json["id"]
    web.completed(job, [file("tests/test_a.py", *(a_test(f"test_{n}") for n in range(7_000)))])
    stop_clock(web)
    light = web.client.get("/api/v1/me", headers=headers)
    heavy = web.client.get(f"/api/v1/analyses/{job}/tests?q=test_1&limit=1", headers=headers)
    assert heavy.status_code == 200
    assert left(light)["reads"][0] - left(heavy)["reads"][0] == 8


@pytest.mark.proof
def test_pages_tell_it_too_and_a_page_that_is_refused(web: Web) -> None:
    stop_clock(web)
    answers = [web.client.get("/docs/api") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200] * 4 + [429]
    assert [left(answer)["reads"][0] for answer in answers] == [3, 2, 1, 0, 0]
    form = web.client.post("/", data={"repository": "acme/shop"})
    assert "reads" not in left(form)


@pytest.mark.parametrize("path", ["/healthz", "/static/fairlane.css", "/metrics"])
def test_what_is_not_limited_tells_nothing(web: Web, path: str) -> None:
    answer = web.client.get(path)
    assert answer.status_code == 200
    assert (policies(answer), left(answer)) == (None, {})
    answer.close()


def test_a_bad_token_is_counted_as_a_read_and_not_in_the_database(web: Web) -> None:
    answer = web.submit("shop", {"Authorization": "Bearer fl_unknown"})
    assert (answer.status_code, left(answer)["reads"][0], "writes" in left(answer)) == (401, 3, False)
    with web.uow.begin() as tx:
        assert tx.run(text("SELECT count(*) FROM rate_buckets")).scalar_one() == 0


def test_the_document_describes_the_fields(web: Web) -> None:
    document = web.client.get("/api/v1/openapi.json").json
    assert {"RateLimit", "RateLimit-Policy", "Retry-After"} <= document["components"]["headers"].keys()
    for calls in document["paths"].values():
        for call in calls.values():
            for status, response in call["responses"].items():
                told = set(response.get("headers", {}))
                assert ({"RateLimit", "RateLimit-Policy"} <= told) == (status < "300" or status == "429"), call
            assert "Retry-After" in call["responses"]["429"]["headers"]
