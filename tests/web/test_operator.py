"""The operator's calls: who may make them, and what they tell."""

from __future__ import annotations

from typing import Any

import pytest
from service_harness.application import POLICY, Web, now
from sqlalchemy import text

from app.services.operations.reconcile import reconcile
from app.services.operations.sweep import sweep
from app.store.operations.invariants import ALL
from app.web.operations import metrics


def test_an_audit_names_every_invariant(web: Web, operator: dict[str, str]) -> None:
    web.completed(web.submit().json["id"])
    answer = web.client.get("/api/v1/operator/audit", headers=operator)
    assert (answer.status_code, answer.json["broken"], answer.json["unknown"]) == (200, 0, 0)
    assert [item["number"] for item in answer.json["items"]] == [invariant.number for invariant in ALL]


def test_an_audit_shows_the_rows_that_break_one(web: Web, operator: dict[str, str]) -> None:
    jobs = [web.submit(f"shop{number}", web.token()).json["id"] for number in range(3)]
    with web.uow.begin() as tx:
        tx.run(text("DELETE FROM quota_reservations"))
    answer = web.client.get("/api/v1/operator/audit?limit=2", headers=operator).json
    [broken] = [item for item in answer["items"] if item["status"] == "broken"]
    assert (answer["broken"], broken["number"], broken["broken"], len(broken["rows"])) == (1, "I4", 3, 2)
    assert {row["job_id"] for row in broken["rows"]} < set(jobs)
    later = web.client.get("/api/v1/operator/audit?since=2999-01-01T00:00:00Z", headers=operator)
    assert later.json["broken"] == 0


def test_an_audit_is_for_operators_by_token(web: Web) -> None:
    boss, clerk = web.user(is_operator=True), web.user()
    refusals = {
        "nobody": {},
        "another account": web.token(clerk.user_id, "read", "operator"),
        "an everyday token": web.token(boss.user_id, "read", "write"),
    }
    found = {who: web.client.get("/api/v1/operator/audit", headers=sent).status_code for who, sent in refusals.items()}
    assert found == {"nobody": 401, "another account": 403, "an everyday token": 403}
    web.sign_in(boss)
    assert web.client.get("/api/v1/operator/audit").status_code == 403


@pytest.mark.parametrize("query", ["since=yesterday", "limit=0", "limit=1001", "from=2026-01-01T00:00:00Z"])
def test_a_question_that_makes_no_sense_is_refused(web: Web, operator: dict[str, str], query: str) -> None:
    answer = web.client.get(f"/api/v1/operator/audit?{query}", headers=operator)
    assert (answer.status_code, answer.mimetype) == (422, "application/problem+json")


def test_metrics_count_orphans_and_tell_of_the_last_reconciliation(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "KEPT_SECONDS", 0.0)
    before = web.client.get("/metrics").text
    assert "fairlane_orphans_total 0.0" in before
    assert "fairlane_reconciliation" not in before
    web.submit()
    with web.uow.begin() as tx:
        tx.run(text("DELETE FROM kombu_message"))
        tx.run(text("UPDATE quota_reservations SET expires_at = now() - interval '1 h'"))
    assert sweep(web.uow, POLICY, now=now()).orphans == 1
    assert reconcile(web.uow, now=now()).differences == []
    page = web.client.get("/metrics").text
    assert "fairlane_orphans_total 1.0" in page
    assert "fairlane_reconciliation_differences 0.0" in page
    assert "fairlane_reconciliation_age_seconds" in page


def test_the_other_calls_are_for_operators_by_token_too(web: Web) -> None:
    clerk = web.token(web.user().user_id, "read", "operator")
    for call in ("tenants", "fairness"):
        assert web.client.get(f"/api/v1/operator/{call}").status_code == 401
        assert web.client.get(f"/api/v1/operator/{call}", headers=clerk).status_code == 403


def test_tenants_are_told_with_what_they_have_in_the_queues(web: Web, operator: dict[str, str]) -> None:
    ann, bob = web.user(), web.user()
    for name in ("one", "two", "three"):
        web.submit(name, web.token(ann.user_id))
    web.submit("four", web.token(bob.user_id))
    items = web.client.get("/api/v1/operator/tenants", headers=operator).json["items"]
    assert [(row["email"], row["ready"], row["held"], row["limit"]) for row in items] == [
        (ann.email, 2, 1, 1),
        (bob.email, 1, 0, 1),
    ]
    assert len(web.client.get("/api/v1/operator/tenants?limit=1", headers=operator).json["items"]) == 1


def test_fairness_is_told_by_tier_or_user_since_a_time(web: Web, operator: dict[str, str]) -> None:
    ann = web.user()
    web.completed(web.submit("one", web.token(ann.user_id)).json["id"])
    answer = web.client.get("/api/v1/operator/fairness", headers=operator).json
    assert [(row["tier"], row["jobs"]) for row in answer["items"]] == [("free", 1)]
    [row] = web.client.get("/api/v1/operator/fairness?by=user", headers=operator).json["items"]
    assert (row["user_id"], row["email"]) == (str(ann.user_id), ann.email)
    assert row["wait_mean"] == pytest.approx(
        sum(row[c] for c in ("own_limit", "paused", "others", "no_worker")), abs=0.01
    )
    later = web.client.get("/api/v1/operator/fairness?since=2999-01-01T00:00:00Z", headers=operator)
    assert later.json["items"] == []
    assert web.client.get("/api/v1/operator/fairness?by=colour", headers=operator).status_code == 422


def test_metrics_tell_starts_waits_and_slots_by_tier(web: Web) -> None:
    ann = web.user()
    ids = [web.submit(name, web.token(ann.user_id)).json["id"] for name in ("one", "two")]
    web.started(ids[0])
    web.started(ids[1])  # over the limit
    page = web.client.get("/metrics").text.splitlines()
    for line in (
        'fairlane_job_events_total{event="started",service="analysis",tier="free"} 1.0',
        'fairlane_job_events_total{event="started",service="analysis",tier="pro"} 0.0',
        'fairlane_job_events_total{event="snoozed",service="analysis",tier="free"} 1.0',
        'fairlane_slots_in_use{service="analysis",tier="free"} 1.0',
        'fairlane_slots_in_use{service="specview",tier="free"} 0.0',
        'fairlane_job_wait_seconds_bucket{le="+Inf",service="analysis",tier="free"} 1.0',
    ):
        assert line in page, line


def test_metrics_tell_how_many_starts_lay_inside_of_the_interval_that_was_told(web: Web) -> None:
    ann = web.user()
    ids = [web.submit(name, web.token(ann.user_id)).json["id"] for name in ("one", "two", "three")]
    with web.uow.begin() as tx:
        promise = """UPDATE job_events SET facts = facts || jsonb_build_object('eta', CAST(:eta AS jsonb))
                      WHERE event = 'accepted' AND job_id = :job"""
        for job, eta in zip(ids, ("[0, 60]", "[600, 700]", "null"), strict=True):
            tx.run(text(promise), job=job, eta=eta)
    for job in ids:
        web.completed(job)
    page = web.client.get("/metrics").text.splitlines()
    assert 'fairlane_job_estimates_total{kept="true"} 1.0' in page
    assert 'fairlane_job_estimates_total{kept="false"} 1.0' in page


def test_an_accept_keeps_what_it_promised(web: Web) -> None:
    headers = web.token(web.user().user_id)
    web.completed(web.submit("one", headers).json["id"])
    told = web.submit("two", headers).json
    [kept] = web.client.get(f"/api/v1/analyses/{told['id']}/timeline").json["items"]
    assert kept["facts"]["eta"] == [told["wait"]["eta_low"], told["wait"]["eta_high"]]


def audited(web: Web) -> list[tuple[str, str, dict[str, Any]]]:
    with web.uow.begin() as tx:
        acts = text(
            "SELECT action, subject, facts FROM audit_log WHERE action NOT IN ('user.add', 'token.add', 'user.link') ORDER BY id"
        )
        return [(row.action, row.subject, row.facts) for row in tx.run(acts)]


def test_an_operator_changes_a_tier_and_a_limit_and_both_are_in_the_audit_log(
    web: Web, operator: dict[str, str]
) -> None:
    user = web.user()
    path, who = f"/api/v1/operator/users/{user.user_id}", {"user_id": str(user.user_id), "email": user.email}
    put = web.client.put
    assert put(f"{path}/tier", json={"tier": "pro"}, headers=operator).json == {
        **who, "tier": "pro", "limit": 3, "own_limit": None,
    }  # fmt: skip
    assert put(f"{path}/limit", json={"limit": 7}, headers=operator).json == {
        **who, "tier": "pro", "limit": 7, "own_limit": 7,
    }  # fmt: skip
    assert put(f"{path}/limit", json={"limit": None}, headers=operator).json["limit"] == 3
    tier = put("/api/v1/operator/tiers/pro/limit", json={"limit": 4}, headers=operator)
    assert tier.json == {"tier": "pro", "slots": 4, "of_plan": 4, "by_setting": False}
    try:
        assert web.client.get("/api/v1/operator/tiers", headers=operator).json["items"][1] == tier.json
    finally:
        put("/api/v1/operator/tiers/pro/limit", json={"limit": 3}, headers=operator)
    name = str(user.user_id)
    assert audited(web)[-5:] == [
        ("user.tier", name, {"before": "free", "after": "pro"}),
        ("user.limit", name, {"before": None, "after": 7}),
        ("user.limit", name, {"before": 7, "after": None}),
        ("plan.limit", "pro", {"before": 3, "after": 4}),
        ("plan.limit", "pro", {"before": 4, "after": 3}),
    ]


def test_an_operator_pauses_a_queue_and_opens_it_again(web: Web, operator: dict[str, str]) -> None:
    path = "/api/v1/operator/queues/analysis_default/pause"
    told = []
    for body in ({}, {"paused": False}, {"paused": True}):
        assert web.client.put(path, json=body, headers=operator).status_code == 200
        items = web.client.get("/api/v1/operator/queues", headers=operator).json["items"]
        told.append({item["queue"]: item["paused"] for item in items}["analysis_default"])
    assert told == [True, False, True]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("users/{user}/tier", {"tier": "gold"}, 422),
        ("users/{user}/limit", {"limit": 0}, 422),
        ("users/{user}/limit", {}, 422),
        ("users/{user}/limit", {"limit": "5"}, 422),
        ("users/00000000-0000-0000-0000-000000000000/limit", {"limit": 5}, 404),
        ("users/00000000-0000-0000-0000-000000000000/tier", {"tier": "pro"}, 404),
        ("tiers/gold/limit", {"limit": 5}, 404),
        ("tiers/pro/limit", {"limit": 1001}, 422),
        ("queues/nowhere/pause", {}, 422),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(
    web: Web, operator: dict[str, str], path: str, body: dict[str, Any], status: int
) -> None:
    path = path.format(user=web.user().user_id)
    before = len(audited(web))
    answer = web.client.put(f"/api/v1/operator/{path}", json=body, headers=operator)
    assert (answer.status_code, answer.mimetype) == (status, "application/problem+json")
    assert len(audited(web)) == before


def test_changes_are_for_operators_by_token(web: Web) -> None:
    boss = web.user(is_operator=True)
    path, body = f"/api/v1/operator/users/{boss.user_id}/tier", {"tier": "enterprise"}
    assert web.client.put(path, json=body).status_code == 401
    assert web.client.put(path, json=body, headers=web.token(boss.user_id)).status_code == 403
    assert web.client.put(path, json=body, headers=web.token(None, "read", "write", "operator")).status_code == 403
    web.sign_in(boss)
    assert web.client.put(path, json=body).status_code == 401
    assert audited(web) == []
