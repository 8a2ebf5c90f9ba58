"""Rules, dashboard and runbook fit together, and promtool finds that each alert fires when it should."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.contract.conftest import ROOT
from tests.contract.watched import FOLDER, RECORDED, alerts, dashboard, drawn, panels, rules

pytestmark = pytest.mark.rule

ENTRY = re.compile(r"^## (Fairlane\w+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
#: promtool's tests; what takes days is looked at rarely, or they would take minutes
TESTS = ("alerts.test.yaml", "alerts.slow.test.yaml")
CASES = [case for name in TESTS for case in yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))["tests"]]


def entries() -> dict[str, str]:
    return dict(ENTRY.findall((ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")))


@pytest.fixture
def promtool() -> str:
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("promtool is not installed (Debian's package prometheus)")
    return found


def run(*argv: str | Path) -> str:
    done = subprocess.run(argv, cwd=FOLDER, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_runbook_has_an_entry_for_each_alert_and_no_other() -> None:
    assert list(entries()) == list(alerts())


@pytest.mark.parametrize("name", alerts())
def test_an_alert_says_how_urgent_it_is_and_links_its_entry_which_says_what_to_do(name: str) -> None:
    alert, entry = alerts()[name], entries()[name]
    assert alert["annotations"].keys() == {"summary", "runbook"}
    assert alert["annotations"]["runbook"] == f"docs/runbook.md#{name.lower()}"
    urgency = {"page": "Page. ", "ticket": "Ticket. "}[alert["labels"]["severity"]]
    assert entry.startswith(f"{urgency}**Means:** ")
    assert "\n**Users feel:** " in entry
    assert "\n**Do:**" in entry


@pytest.mark.parametrize("name", alerts())
def test_an_alert_is_shown_to_be_silent_and_to_fire(name: str) -> None:
    shown = {
        bool(test["exp_alerts"]) for case in CASES for test in case["alert_rule_test"] if test["alertname"] == name
    }
    assert shown == {True, False}


def test_each_recorded_series_has_a_rule() -> None:
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    read = {name for text in (*(rule["expr"] for rule in rules()), *drawn()) for name in RECORDED.findall(text)}
    assert read == recorded


def test_an_objective_burns_by_a_long_and_a_short_window() -> None:
    for name, bounds in {
        "FairlaneAcceptsFail": {("1h", "14.4"), ("5m", "14.4"), ("6h", "6"), ("30m", "6")},
        "FairlaneJobsStartLate": {("1h", "14.4"), ("5m", "14.4"), ("6h", "6"), ("30m", "6")},
        "FairlaneAcceptsFailSlowly": {("3d", "1"), ("6h", "1")},
        "FairlaneJobsStartLateSlowly": {("3d", "1"), ("6h", "1")},
    }.items():
        assert set(re.findall(r"slo_burn:(\w+)\{[^}]*\} > ([\d.]+)", alerts()[name]["expr"])) == bounds


def test_the_jobs_that_alerts_name_are_scraped() -> None:
    scraped = yaml.safe_load((FOLDER / "prometheus.yml").read_text(encoding="utf-8"))["scrape_configs"]
    named = {job for alert in alerts().values() for job in re.findall(r'job="(\w+)"', alert["expr"])}
    assert named <= {job["job_name"] for job in scraped}
    assert [job["params"]["of"] for job in scraped] == [["process"], ["service"]]
    # by their addresses: the web refuses a name that is not its own (app/web/core/trusted_hosts.py)
    assert all("dns_sd_configs" in job and "static_configs" not in job for job in scraped)


def test_promtool_reads_the_rules_and_the_configuration(promtool: str) -> None:
    run(promtool, "check", "rules", "alerts.yaml")
    run(promtool, "check", "config", "--syntax-only", "prometheus.yml")


@pytest.mark.parametrize("name", TESTS)
def test_each_alert_fires_when_its_cause_has_lasted_and_not_before(promtool: str, name: str) -> None:
    run(promtool, "test", "rules", name)


def test_promtool_reads_every_expression_of_the_dashboard(promtool: str, tmp_path: Path) -> None:
    written = [{"record": f"panel:{number}", "expr": expression} for number, expression in enumerate(drawn())]
    (tmp_path / "dashboard.yaml").write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": written}]}))
    assert f"{len(written)} rules found" in run(promtool, "check", "rules", tmp_path / "dashboard.yaml")


def test_each_panel_has_a_place_of_its_own_a_unit_and_the_chosen_source() -> None:
    assert len({panel["id"] for panel in dashboard()["panels"]}) == len(dashboard()["panels"])
    assert len({panel["title"] for panel in panels()}) == len(panels())
    for panel in panels():
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        sources = [panel["datasource"], *(target["datasource"] for target in panel["targets"])]
        assert {source["uid"] for source in sources} == {"${datasource}"}, panel["title"]
    for one, other in combinations(dashboard()["panels"], 2):
        assert not _overlap(one["gridPos"], other["gridPos"]), (one["title"], other["title"])


def _overlap(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(
        one[start] < other[start] + other[size] and other[start] < one[start] + one[size]
        for start, size in (("x", "w"), ("y", "h"))
    )
