"""The rules and the dashboard, read from their files: alerts, and every expression."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml

from tests.contract.conftest import ROOT

FOLDER = ROOT / "deploy" / "monitoring"
#: of ours; a name with a colon is one that a rule records
METRIC = re.compile(r"(?<![\w:])fairlane_[a-z0-9_]+\b(?!:)")
RECORDED = re.compile(r"\bfairlane:[a-z0-9_:]+")


def groups() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load((FOLDER / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
    return found


def rules() -> list[dict[str, Any]]:
    return [rule for group in groups() for rule in group["rules"]]


def alerts() -> dict[str, dict[str, Any]]:
    return {rule["alert"]: rule for rule in rules() if "alert" in rule}


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))
    return found


def panels() -> list[dict[str, Any]]:
    """All but the headings of rows."""
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def drawn() -> Iterator[str]:
    """Each expression of the dashboard, with its variables filled in as Grafana does."""
    for panel in panels():
        for target in panel["targets"]:
            yield target["expr"].replace("$__rate_interval", "5m").replace("$service", ".*")


def names() -> set[str]:
    """The metrics of the service that a rule or the dashboard reads."""
    lists = [variable["definition"] for variable in dashboard()["templating"]["list"] if "definition" in variable]
    texts = [*(rule["expr"] for rule in rules()), *drawn(), *lists]
    return {name for text in texts for name in METRIC.findall(text)}
