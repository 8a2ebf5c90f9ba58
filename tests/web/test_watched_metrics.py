"""What the rules and the dashboard read is what `/metrics` gives: names, and the routes that submit jobs."""

from __future__ import annotations

import re

from durable_harness.waiting import wait_for
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from service_harness.application import Web

from app.services.operations import reconcile
from tests.contract.watched import names, rules

#: What the names of a family's samples end with.
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("_total",)}


def families(web: Web) -> list[Metric]:
    return list(text_string_to_metric_families(web.client.get("/metrics").text))


def missing(web: Web) -> set[str]:
    """What is read and not given."""
    given = {f"{one.name}{end}" for one in families(web) for end in SUFFIXES.get(one.type, ("",))}
    return names() - given


def test_each_metric_that_a_rule_or_the_dashboard_reads_is_there(web: Web) -> None:
    web.submit()
    reconcile.reconcile(web.uow, now=web.uow.now())
    try:
        wait_for(lambda: not missing(web), "a text that is new enough", seconds=10)
    finally:
        assert missing(web) == set()


def test_the_objective_watches_routes_that_submit_jobs_under_the_names_that_they_have(web: Web) -> None:
    labels = [rule["expr"] for rule in rules() if rule.get("labels") == {"slo": "accepts"}]
    [watched] = {routes for text in labels for routes in re.findall(r'route=~"([^"]+)"', text)}
    known = {rule.rule for rule in web.app.url_map.iter_rules() if "POST" in (rule.methods or ())}
    assert set(watched.split("|")) <= known
    assert "/api/v1/analyses" in watched.split("|")  # as tests/web/test_web_metrics.py finds it counted
