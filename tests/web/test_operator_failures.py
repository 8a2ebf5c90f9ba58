"""Failures by fingerprint, on their page and in the API."""

from __future__ import annotations

from service_harness.application import Web, now

from app.services.operations.failures import read_failures
from tests.web.conftest import rows
from tests.web.test_audit_log_page import lines

API, PAGE = "/api/v1/operator/failures", "/operator/failures"


def test_failures_that_differ_in_names_and_numbers_are_one_group(web: Web, operator: dict[str, str]) -> None:
    ann, bob = web.token(), web.token()
    jobs = [web.submit(name, who).json["id"] for name, who in (("a", ann), ("b", ann), ("c", bob))]
    for number, job in enumerate(jobs):
        web.failed(job, "repository_too_large", f"`acme/secret-{number}` at {number:040x} has {number}.5 GB.")
    other = web.submit("d", bob).json["id"]
    web.failed(other, "repository_too_large", "It has no size.")
    found = web.client.get(API, headers=operator).json
    large, none = found["items"]
    assert (found["jobs"], found["is_cut"]) == (4, False)
    assert (large["code"], large["message"]) == ("repository_too_large", "… at … has N GB.")
    assert (large["jobs"], large["users"], large["repositories"]) == (3, 2, 3)
    assert large["examples"] == jobs[::-1]
    assert large["first_at"] < large["last_at"]
    assert (none["message"], none["examples"]) == ("It has no size.", [other])


def test_the_window_is_stated_and_older_failures_are_left_out(web: Web, operator: dict[str, str]) -> None:
    job = web.submit("shop", web.token()).json["id"]
    web.failed(job)
    rows(web, "UPDATE analyses SET completed_at = completed_at - interval '2 days' RETURNING 1")
    assert web.client.get(API, headers=operator).json["items"] == []
    [group] = web.client.get(f"{API}?window=7d", headers=operator).json["items"]
    assert group["examples"] == [job]
    assert web.client.get(f"{API}?window=1y", headers=operator).status_code == 422


def test_only_the_newest_are_read_and_the_answer_says_since_when(web: Web) -> None:
    for name in "abc":
        web.failed(web.submit(name, web.token()).json["id"])
    [(oldest,)] = rows(web, "SELECT completed_at FROM analyses ORDER BY completed_at DESC OFFSET 1 LIMIT 1")
    until = now()
    found = read_failures(web.uow, since=until.replace(year=2020), until=until, most=2)
    assert (found.jobs, found.is_cut, found.since) == (2, True, oldest)


def test_jobs_that_did_not_fail_are_in_no_group(web: Web, operator: dict[str, str]) -> None:
    web.completed(web.submit("shop", web.token()).json["id"])
    web.started(web.submit("cart", web.token()).json["id"])
    assert web.client.get(API, headers=operator).json["jobs"] == 0


def test_the_page_leads_to_the_jobs_and_names_no_repository(web: Web) -> None:
    web.sign_in(web.user(is_operator=True))
    job = web.submit("secretive", web.token()).json["id"]
    web.failed(job, "access_denied", "https://github.com/acme/secretive refused <b> 3 times.")
    page = web.client.get(PAGE).text
    [line] = lines(page)
    assert line[1] == f"… refused &lt;b&gt; N times. Newest job: {job[:8]}"
    assert line[2:5] == ["1", "1", "1"]
    assert f'href="/analyses/{job}"' in page
    assert "acme" not in page
    assert "secretive" not in page
    assert f'href="{PAGE}"' in web.client.get("/operator").text


def test_failures_are_for_operators(web: Web) -> None:
    assert web.client.get(PAGE).status_code == 401
    web.sign_in(web.user())
    assert web.client.get(PAGE).status_code == 403
    assert web.client.get(API, headers=web.token()).status_code == 403
