"""The operator's calls about nodes and dead letters."""

from __future__ import annotations

from datetime import datetime

import pytest
from service_harness.application import Web, now

from tests.web.conftest import rows
from tests.web.operations import NODE, bury_all, letter, node

WORKERS, DEAD = "/api/v1/operator/workers", "/api/v1/operator/dead"


def test_a_living_node_is_shown_with_its_queues_and_the_jobs_that_it_runs(
    web: Web, operator: dict[str, str], database_url: str
) -> None:
    ann = web.user()
    job = web.submit("shop", web.token(ann.user_id)).json["id"]
    web.started(job)
    web.submit("cart", web.token())  # leased by nobody
    with node(web, database_url):
        rows(web, "UPDATE kombu_message SET lease_owner = :lock WHERE task_id = :id RETURNING 1", lock=NODE, id=job)
        [shown] = web.client.get(WORKERS, headers=operator).json["items"]
        assert {name: shown[name] for name in ("name", "is_alive", "queues", "processes", "leased")} == {
            "name": "host:7",
            "is_alive": True,
            "queues": ["analysis_default"],
            "processes": 3,
            "leased": 1,
        }
        [running] = shown["running"]
        assert (running["job_id"], running["queue"], running["user_id"]) == (job, "analysis_default", str(ann.user_id))
        assert datetime.fromisoformat(running["started_at"]) <= now()
    [shown] = web.client.get(WORKERS, headers=operator).json["items"]
    assert (shown["is_alive"], shown["seen_at"], len(shown["running"])) == (False, None, 1)


def test_a_node_that_takes_from_no_queue_any_more_drains(web: Web, operator: dict[str, str], database_url: str) -> None:
    boss = web.user(is_operator=True)
    job = web.submit("shop", web.token()).json["id"]
    web.started(job)
    with node(web, database_url):
        rows(web, "UPDATE kombu_message SET lease_owner = :lock WHERE task_id = :id RETURNING 1", lock=NODE, id=job)
        rows(web, "UPDATE kombu_node SET queues = '{}' RETURNING 1")
        [shown] = web.client.get(WORKERS, headers=operator).json["items"]
        assert (shown["is_draining"], shown["queues"], shown["leased"]) == (True, [], 1)
        web.sign_in(boss)
        assert "none: it drains" in web.client.get("/operator").text
        rows(web, "UPDATE kombu_message SET lease_owner = NULL RETURNING 1")
        assert "none: it is drained" in web.client.get("/operator").text
        rows(web, "UPDATE kombu_node SET queues = NULL RETURNING 1")  # before its first look
        [shown] = web.client.get(WORKERS, headers=operator).json["items"]
        assert (shown["is_draining"], shown["queues"]) == (False, [])


def test_without_nodes_the_list_is_empty(web: Web, operator: dict[str, str]) -> None:
    assert web.client.get(WORKERS, headers=operator).json == {"items": []}


def test_dead_letters_come_in_pages_by_queue_and_reason(web: Web, operator: dict[str, str]) -> None:
    ids = [letter(web), letter(web, "lost"), letter(web, "lost", "specview_default")]
    first = web.client.get(f"{DEAD}?limit=2", headers=operator).json
    rest = web.client.get(f"{DEAD}?limit=2&cursor={first['next']}", headers=operator).json
    assert [one["id"] for one in first["items"] + rest["items"]] == ids[::-1]
    assert rest["next"] is None
    lost = web.client.get(f"{DEAD}?reason=lost&queue=specview_default", headers=operator).json["items"]
    assert [(one["id"], one["reason"], one["queue"]) for one in lost] == [(ids[2], "lost", "specview_default")]
    assert web.client.get(f"{DEAD}?reason=boredom", headers=operator).status_code == 422


def test_a_payload_is_text_and_whole_where_one_letter_is_asked_for(web: Web, operator: dict[str, str]) -> None:
    payload = "<script>alert(1)</script>" * 100
    number = letter(web, payload=payload)
    [listed] = web.client.get(DEAD, headers=operator).json["items"]
    assert (listed["payload"], listed["payload_size"]) == (payload[:200], len(payload))
    assert web.client.get(f"{DEAD}/{number}", headers=operator).json["payload"] == payload


def test_a_letter_is_redriven_once_and_the_audit_log_says_by_whom(web: Web) -> None:
    boss = web.user(is_operator=True)
    operator = web.token(boss.user_id, "operator")
    job = web.submit("shop", web.token()).json["id"]
    [number] = bury_all(web)
    refused = web.client.delete(f"{DEAD}/{number}", headers=operator)
    assert (refused.status_code, refused.json["type"]) == (409, "/problems/conflict")
    answers = [web.client.post(f"{DEAD}/{number}/redrive", headers=operator).status_code for _ in range(2)]
    assert answers == [204, 404]
    assert rows(web, "SELECT task_id, visible FROM kombu_message") == [(job, True)]
    logged = rows(web, "SELECT actor, action, facts FROM audit_log WHERE action LIKE 'dead.%'")
    assert logged == [(str(boss.user_id), "dead.redrive", {"ids": [number], "reason": None})]


def test_a_letter_is_dropped_once(web: Web, operator: dict[str, str]) -> None:
    number = letter(web)
    assert [web.client.delete(f"{DEAD}/{number}", headers=operator).status_code for _ in range(2)] == [204, 404]
    assert web.client.get(DEAD, headers=operator).json == {"items": [], "next": None}
    [(action, facts)] = rows(web, "SELECT action, facts FROM audit_log WHERE action LIKE 'dead.%'")
    assert (action, facts["ids"]) == ("dead.drop", [number])


@pytest.mark.parametrize("number", ["0", "99999999999999999999999"])
def test_a_letter_that_cannot_be_is_404(web: Web, operator: dict[str, str], number: str) -> None:
    path = f"{DEAD}/{number}"
    assert web.client.get(path, headers=operator).status_code == 404
    assert web.client.delete(path, headers=operator).status_code == 404
    assert web.client.post(f"{path}/redrive", headers=operator).status_code == 404


def test_a_letter_of_a_job_that_has_ended_cannot_be_redriven(web: Web, operator: dict[str, str]) -> None:
    job = web.submit("shop", web.token()).json["id"]
    web.completed(job)
    add = """INSERT INTO kombu_dead_letter (queue, task_id, payload, reason)
             VALUES ('analysis_default', :id, '{}', 'lost') RETURNING id"""
    [(number,)] = rows(web, add, id=job)
    refused = web.client.post(f"{DEAD}/{number}/redrive", headers=operator)
    assert refused.status_code == 409
    assert "has ended" in refused.json["detail"]


def test_these_calls_are_for_operators_by_token(web: Web) -> None:
    number, clerk = letter(web), web.token(web.user().user_id, "read", "write", "operator")
    for path in (WORKERS, DEAD, f"{DEAD}/{number}"):
        assert web.client.get(path).status_code == 401
        assert web.client.get(path, headers=clerk).status_code == 403
    assert web.client.delete(f"{DEAD}/{number}", headers=clerk).status_code == 403
    assert web.client.post(f"{DEAD}/{number}/redrive", headers=clerk).status_code == 403
    assert len(rows(web, "SELECT 1 FROM kombu_dead_letter")) == 1
