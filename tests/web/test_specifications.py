"""Specifications over REST: asked for, read, shared, cancelled; for nobody else (docs/adr/0047)."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from service_harness.application import Web, commit_of
from sqlalchemy import text

from app.domain.plans import Tier

SPECS = "/api/v1/specs"


@pytest.fixture
def ann(web: Web) -> dict[str, str]:
    return web.token(web.user(Tier.PRO).user_id)


@pytest.fixture
def analysis(web: Web, ann: dict[str, str]) -> str:
    job_id = str(web.submit(headers=ann).json["id"])
    web.completed(job_id)
    return job_id


def ask(web: Web, headers: dict[str, str], analysis_id: str, **members: Any) -> Any:
    return web.client.post(SPECS, json={"analysis_id": analysis_id, "language": "en", **members}, headers=headers)


def test_a_specification_is_asked_for_and_read(web: Web, ann: dict[str, str], analysis: str) -> None:
    dry = ask(web, ann, analysis, dry_run=True)
    assert (dry.status_code, dry.json["units"], dry.json["tests"], dry.json["allowed"]) == (200, 3, 3, True)
    asked = ask(web, ann, analysis)
    assert (asked.status_code, asked.json["status"], asked.json["service"]) == (202, "queued", "specview")
    assert asked.json["queue"] == "specview_priority"
    where = asked.headers["Location"]
    assert where == f"{SPECS}/{asked.json['id']}"
    waiting = web.client.get(where, headers=ann).json
    assert (waiting["status"], waiting["document"], waiting["wait"]["position"]) == ("queued", None, 1)
    usage = web.client.get("/api/v1/usage", headers=ann).json["specview"]
    assert (usage["used"], usage["reserved"]) == (0, 3)
    web.written(asked.json["id"])
    done = web.client.get(where, headers=ann).json
    assert (done["status"], done["version"], done["units"], done["billed"]) == ("completed", 1, 3, True)
    domains = done["document"]["domains"]
    assert [domain["name"] for domain in domains] == ["tests/test_cart.py", "tests/unit/test_price.py"]
    assert domains[0]["features"][0]["behaviours"][1] == {
        "sentence": "Says test_removes.", "status": "skipped", "file": "tests/test_cart.py", "line": 9,
        "framework": "pytest", "suites": [], "name": "test_removes", "fell_back": False,
    }  # fmt: skip
    assert web.client.get("/api/v1/usage", headers=ann).json["specview"]["used"] == 3
    listed = web.client.get(f"{SPECS}?analysis_id={analysis}", headers=ann).json["items"]
    assert [one["id"] for one in listed] == [asked.json["id"]]
    history = web.client.get("/api/v1/me/history", headers=ann).json["items"]
    assert [one["service"] for one in history] == ["specview", "analysis"]
    again = ask(web, ann, analysis)
    assert (again.status_code, again.json["id"]) == (200, asked.json["id"])


def test_a_repeated_request_gets_the_stored_answer(web: Web, ann: dict[str, str], analysis: str) -> None:
    key = {**ann, "Idempotency-Key": "once"}
    first, second = ask(web, key, analysis), ask(web, key, analysis)
    assert (second.status_code, second.json["id"]) == (202, first.json["id"])
    assert second.headers["Idempotency-Replayed"] == "true"
    assert ask(web, key, analysis, language="ko").status_code == 422


def test_nobody_else_sees_it(web: Web, ann: dict[str, str], analysis: str) -> None:
    job_id = ask(web, ann, analysis).json["id"]
    web.written(job_id)
    for headers, status in ((web.token(), 404), (None, 401)):
        for path in ("", "/timeline"):
            assert web.client.get(f"{SPECS}/{job_id}{path}", headers=headers).status_code == status
        assert web.client.delete(f"{SPECS}/{job_id}", headers=headers).status_code == status
        assert web.client.post(f"{SPECS}/{job_id}/share", headers=headers).status_code == status
    for path in ("", "/tests", "/files", "/timeline", "/events"):
        assert web.client.get(f"/api/v1/analyses/{job_id}{path}").status_code == 404, path
    assert web.client.get(f"/analyses/{job_id}").status_code == 404
    assert web.client.get(f"{SPECS}/{analysis}", headers=ann).status_code == 404
    assert web.client.get(f"{SPECS}?analysis_id={analysis}", headers=web.token()).json["items"] == []


def test_bad_input_says_what_is_allowed(web: Web, ann: dict[str, str], analysis: str) -> None:
    unknown = ask(web, ann, analysis, language="tlh")
    assert (unknown.status_code, unknown.json["errors"][0]["pointer"]) == (422, "/language")
    assert "en (English)" in unknown.json["errors"][0]["detail"]
    assert ask(web, ann, analysis, mode="twice").json["errors"][0]["pointer"] == "/mode"
    assert ask(web, ann, "shop").json["errors"][0]["pointer"] == "/analysis_id"
    assert ask(web, ann, str(uuid4())).status_code == 404
    running = web.submit("other", headers=ann).json["id"]
    assert ask(web, ann, running).status_code == 409
    assert ask(web, {}, analysis).status_code == 401


def test_a_queued_one_is_cancelled_and_its_units_return(web: Web, ann: dict[str, str], analysis: str) -> None:
    job_id = ask(web, ann, analysis).json["id"]
    assert web.client.delete(f"{SPECS}/{job_id}", headers=ann).status_code == 204
    assert web.client.delete(f"{SPECS}/{job_id}", headers=ann).status_code == 204
    assert web.client.get(f"{SPECS}/{job_id}", headers=ann).json["status"] == "cancelled"
    assert web.client.get("/api/v1/usage", headers=ann).json["specview"]["reserved"] == 0


def test_a_spent_quota_is_402_and_the_dry_run_says_so_before(web: Web, ann: dict[str, str], analysis: str) -> None:
    with web.uow.begin() as tx:
        from sqlalchemy import text

        tx.run(text("UPDATE subscription_plans SET spec_units_per_period = 2 WHERE tier = 'pro'"))
    try:
        assert ask(web, ann, analysis, dry_run=True).json["allowed"] is False
        refused = ask(web, ann, analysis)
        assert (refused.status_code, refused.json["limit"]) == (402, 2)
    finally:
        with web.uow.begin() as tx:
            tx.run(text("UPDATE subscription_plans SET spec_units_per_period = 50000 WHERE tier = 'pro'"))


def test_a_specification_that_costs_nothing_is_made_although_a_downgrade_left_more_used_than_the_limit(
    web: Web,
) -> None:
    ann = web.token(web.user(Tier.PRO).user_id)
    first, second = (web.submit("shop", headers=ann, commit=commit_of(name)).json["id"] for name in ("one", "two"))
    web.completed(first)
    web.written(web.client.post(SPECS, json={"analysis_id": first, "language": "en"}, headers=ann).json["id"])
    web.completed(second)
    with web.uow.begin() as tx:
        tx.run(text("UPDATE subscription_plans SET spec_units_per_period = 1 WHERE tier = 'pro'"))
    assert web.client.get("/api/v1/usage", headers=ann).json["specview"]["used"] > 1
    wanted = {"analysis_id": second, "language": "en"}
    price = web.client.post(SPECS, json=wanted | {"dry_run": True}, headers=ann).json
    assert (price["units"], price["allowed"]) == (0, True)
    assert web.client.post(SPECS, json=wanted, headers=ann).status_code == 202
