"""Who may read `/metrics`, and what many scrapes cost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr
from service_harness.application import Web

from app.web.limits.read_costs import READS
from app.web.operations import metrics, service_metrics

ELSEWHERE = {"REMOTE_ADDR": "203.0.113.9"}
TOKEN = "a-token-of-the-scraper"


@pytest.fixture
def guarded(make_web: Callable[..., Web]) -> Web:
    """With METRICS_TOKEN."""
    return make_web(metrics_token=SecretStr(TOKEN))


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.9.1", "::1"])
def test_this_machine_may_read_them(web: Web, address: str) -> None:
    assert web.client.get("/metrics", environ_base={"REMOTE_ADDR": address}).status_code == 200


@pytest.mark.parametrize("address", ["203.0.113.9", "10.0.0.7", "::ffff:203.0.113.9", ""])
def test_nobody_else_may(web: Web, address: str) -> None:
    answer = web.client.get("/metrics", environ_base={"REMOTE_ADDR": address})
    assert (answer.status_code, answer.json["type"]) == (401, "/problems/unauthenticated")
    assert "METRICS_TOKEN" in answer.json["detail"]


@pytest.mark.parametrize(
    "header", ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via", "x-forwarded-proto", "CF-Connecting-IP"]
)
def test_what_a_proxy_of_this_machine_passes_on_is_not_of_this_machine(web: Web, header: str) -> None:
    assert web.client.get("/metrics", headers={header: "127.0.0.1"}).status_code == 401


def test_an_operators_token_opens_them_from_anywhere_and_no_other(web: Web) -> None:
    operator = web.token(web.user(is_operator=True).user_id, "read", "operator:read")
    assert web.client.get("/metrics", headers=operator, environ_base=ELSEWHERE).status_code == 200
    assert web.client.get("/metrics", headers=web.token(), environ_base=ELSEWHERE).status_code == 403
    unknown = {"Authorization": "Bearer fl_unknown"}
    assert web.client.get("/metrics", headers=unknown, environ_base=ELSEWHERE).status_code == 401


def test_with_a_token_of_their_own_this_machine_needs_it_too(guarded: Web) -> None:
    client = guarded.client
    assert client.get("/metrics").status_code == 401
    right, wrong = ({"Authorization": f"Bearer {token}"} for token in (TOKEN, f"{TOKEN}x"))
    assert client.get("/metrics", headers=right, environ_base=ELSEWHERE).status_code == 200
    assert client.get("/metrics", headers=wrong).status_code == 401


def test_guesses_at_their_token_are_counted_and_end(make_web: Callable[..., Web]) -> None:
    web = make_web(metrics_token=SecretStr(TOKEN), read_limit_per_minute=5, trust_proxy=True)
    web.app.extensions[READS].buckets.clock = lambda: 0.0

    def ask(token: str, address: str) -> int:
        headers = {"Authorization": f"Bearer {token}", "X-Forwarded-For": address}
        return web.client.get("/metrics", headers=headers).status_code

    assert ask(TOKEN, "192.0.2.2") == 200
    assert [ask(f"{TOKEN}{n}", "192.0.2.1") for n in range(7)] == [401] * 5 + [429] * 2
    assert ask(TOKEN, "192.0.2.1") == 429  # even the right one, or guessing would have no end
    assert [ask(f"{TOKEN}{n}", "192.0.2.2") for n in range(7)] == [401] * 5 + [429] * 2
    assert ask(TOKEN, "192.0.2.2") == 200  # who guesses at the scraper's own address does not shut it out


def test_many_scrapes_get_one_text_until_it_is_a_few_seconds_old(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "KEPT_SECONDS", 600.0)
    empty = read(web, "service")
    web.submit()
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda _: read(web, "service"), range(60))) == {empty}
    monkeypatch.setattr(metrics, "KEPT_SECONDS", 0.0)
    metrics._texts.clear()
    assert 'fairlane_queue_depth{queue="analysis_default"} 1.0' in read(web, "service")


def read(web: Web, of: str) -> str:
    with web.app.test_client() as client:
        return client.get(f"/metrics?of={of}").text


def names(text: str) -> set[str]:
    return {family.name for family in text_string_to_metric_families(text)}


def test_an_instance_and_the_whole_service_are_told_apart(web: Web) -> None:
    process, service = names(read(web, "process")), names(read(web, "service"))
    assert {"fairlane_build_info", "fairlane_lane_places"} <= process
    assert {"fairlane_queue_depth", "fairlane_job_events", "fairlane_nodes", "fairlane_database_bytes"} <= service
    assert process.isdisjoint(service)
    assert names(web.client.get("/metrics").text) == process | service


def test_an_unknown_part_is_refused_with_those_that_there_are(web: Web) -> None:
    answer = web.client.get("/metrics?of=everything")
    assert (answer.status_code, answer.json["errors"][0]["detail"]) == (422, "expected process or service")


def test_what_happened_is_counted_and_timed(web: Web) -> None:
    web.completed(web.submit().json["id"])
    families = {family.name: family for family in text_string_to_metric_families(read(web, "service"))}
    events = {
        sample.labels["event"]: sample.value
        for sample in families["fairlane_job_events"].samples
        if sample.name.endswith("_total") and sample.value
    }
    assert events == {"accepted": 1, "started": 1, "completed": 1}
    [runs] = [one for one in families["fairlane_job_run_seconds"].samples if one.name.endswith("_count")]
    assert (runs.value, runs.labels) == (1, {"service": "analysis", "outcome": "completed"})


def test_alarms_see_the_first_failure_since_its_counter_was_there_before(web: Web) -> None:
    families = {family.name: family for family in text_string_to_metric_families(read(web, "service"))}
    failed = [one.value for one in families["fairlane_job_events"].samples if one.labels.get("event") == "failed"]
    assert failed and set(failed) == {0}


def test_of_many_tenants_those_with_the_most_work_are_shown(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_metrics, "MOST_TENANTS", 2)
    for jobs in (1, 2, 3):
        owner = web.token(web.user().user_id, "read", "write")
        for number in range(jobs):
            assert web.submit(f"shop{jobs}{number}", owner).status_code == 202
    families = {family.name: family for family in text_string_to_metric_families(read(web, "service"))}
    assert [sample.value for sample in families["fairlane_tenant_waiting"].samples] == [3, 2]
