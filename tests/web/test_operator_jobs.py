"""An operator finds jobs of all users."""

from __future__ import annotations

import pytest
from service_harness.application import POLICY, Web, now
from sqlalchemy import text

from app.domain.lifecycle import Status
from app.domain.plans import Tier
from app.services.jobs import describe
from app.services.operations import find_jobs as module
from app.services.operations.find_jobs import find_jobs
from app.store.operations.job_search import JobFilter


def stories(web: Web) -> dict[str, str]:
    """A job in each state, by the state."""
    header = web.token(web.user(Tier.FREE).user_id)
    found = {}
    for state in ("completed", "failed", "cancelled", "running", "waiting"):
        job_id = web.submit(state, header).json["id"]
        if state == "completed":
            web.completed(job_id)
        elif state == "failed":
            web.failed(job_id, "git_failed", "The host is away")
        elif state == "cancelled":
            web.client.delete(f"/api/v1/analyses/{job_id}", headers=header)
        else:
            web.started(job_id)
        found[state] = job_id
    found["retrying"] = web.submit("retrying", web.token()).json["id"]
    with web.uow.begin() as tx:
        delayed = (
            "UPDATE kombu_message SET visible = false, delay_reason = 'retry', visible_at = now() + interval '1 min'"
        )
        tx.run(text(f"{delayed} WHERE task_id = :id"), id=found["retrying"])
    found["queued"] = web.submit("queued", web.token()).json["id"]
    return found


def ids(web: Web, **wanted: object) -> list[str]:
    return [str(one.job.id) for one in find_jobs(web.uow, JobFilter(**wanted), POLICY, now=now()).jobs]


def test_each_state_is_the_one_that_a_reader_of_the_job_sees(web: Web) -> None:
    every = stories(web)
    for state, job_id in every.items():
        assert ids(web, state=state) == [job_id], state
    with web.uow.begin() as tx:
        described = describe.jobs(tx, [one.job.id for one in find_jobs(web.uow, JobFilter(), POLICY, now=now()).jobs],
                                  POLICY, asker=None, now=now())  # fmt: skip
    assert {str(job_id): job.status for job_id, job in described.items()} == {
        job_id: Status(state) for state, job_id in every.items()
    }


def test_jobs_are_found_by_what_they_are(web: Web) -> None:
    every = stories(web)
    assert ids(web)[0] == every["queued"]  # newest first
    assert ids(web, repository="ACME/comp") == [every["completed"]]
    assert ids(web, error="git_failed") == [every["failed"]]
    assert ids(web, service="specview") == []
    assert ids(web, queue="analysis_default", state="queued") == [every["queued"]]
    assert ids(web, tier="pro") == []
    found = find_jobs(web.uow, JobFilter(state="running"), POLICY, now=now()).jobs[0]
    assert found.payer
    assert len(ids(web, user_id=found.payer.user_id)) == 5


def test_pages_follow_each_other_and_a_search_is_bounded(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    header = web.token(web.user(Tier.ENTERPRISE).user_id)
    made = [web.submit(f"shop{number}", header).json["id"] for number in range(7)][::-1]
    monkeypatch.setattr(module, "SIZE", 3)
    pages, before = [], None
    while True:
        found = find_jobs(web.uow, JobFilter(), POLICY, before=before, now=now())
        pages.append([str(one.job.id) for one in found.jobs])
        before = found.next
        if before is None:
            break
    assert pages == [made[:3], made[3:6], made[6:]]
    monkeypatch.setattr(module, "SEARCHED", 2)
    first = find_jobs(web.uow, JobFilter(repository="shop0"), POLICY, now=now())
    assert (first.jobs, first.is_cut) == ([], True)
    looked = 1
    while first.next:
        first = find_jobs(web.uow, JobFilter(repository="shop0"), POLICY, before=first.next, now=now())
        looked += 1
    assert [str(one.job.id) for one in first.jobs] == [made[-1]]
    assert looked == 4


def test_the_page_is_for_operators_and_keeps_its_filter(web: Web) -> None:
    every = stories(web)
    person = web.user()
    web.sign_in(person)
    assert web.client.get("/operator/jobs").status_code == 403
    web.sign_in(web.user(is_operator=True))
    page = web.client.get("/operator/jobs?state=waiting").text
    assert f"/analyses/{every['waiting']}" in page
    assert f"/analyses/{every['running']}" not in page
    assert '<option value="waiting" selected>' in page
    assert "Your jobs use 1 of 1 slots" in page
    assert "No job matches." in web.client.get(f"/operator/jobs?user={person.email}").text
    assert web.client.get("/operator/jobs?user=nobody@example.org").status_code == 404
    assert web.client.get("/operator/jobs?state=lost").status_code == 422
