"""The Helm chart: what it renders is valid, runs the processes of the Procfile with few rights, and takes no wrong value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from app.domain.queues import ALL_QUEUES
from app.settings import Settings, load
from tests.contract.chart import ALL, CHART, documents, values
from tests.contract.conftest import ROOT
from tests.contract.test_processes import procfile

pytestmark = pytest.mark.rule

helm = pytest.importorskip("helm_python.chart", reason="helm-python-sdk is not installed: make packaging")
errors = pytest.importorskip("helm_python.errors", reason="helm-python-sdk is not installed: make packaging")
kubernetes = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed: make packaging")

#: The oldest that Chart.yaml names and that there are schemas of, and the newest.
VERSIONS = ("1.27", kubernetes.latest_version())
#: Objects of KEDA and of the Prometheus operator, of which there are no schemas here.
FOREIGN = {"ScaledObject", "TriggerAuthentication", "ServiceMonitor", "PrometheusRule"}


def rendered(given: dict[str, Any]) -> list[dict[str, Any]]:
    with helm.Chart.load(CHART) as chart:
        chart.validate_schema(given)
        files = chart.render(given, name="fair", namespace="tests")
    return [one for path, text in sorted(files.items()) if path.endswith(".yaml") for one in documents(text)]


PLAIN, FULL = rendered({}), rendered(ALL)


def of_kind(kind: str, objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for one in objects if one["kind"] == kind}


def pods(objects: list[dict[str, Any]] = FULL) -> Iterator[tuple[str, dict[str, Any]]]:
    for one in objects:
        if one["kind"] in ("Deployment", "Job"):
            yield one["metadata"]["name"], one["spec"]["template"]["spec"]


def queue_of(name: str) -> str:
    return name.removeprefix("fair-fairlane-worker-").replace("-", "_")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("objects", [PLAIN, FULL], ids=["plain", "full"])
def test_kubernetes_takes_what_the_chart_renders(version: str, objects: list[dict[str, Any]]) -> None:
    names = [(one["kind"], one["metadata"]["name"]) for one in objects]
    assert len(set(names)) == len(names)
    for one in objects:
        if one["kind"] not in FOREIGN:
            kubernetes.validate(one, version, strict=True)


@pytest.mark.parametrize("given", [{}, ALL], ids=["plain", "full"])
def test_helm_lint_finds_nothing_but_that_there_is_no_icon(given: dict[str, Any]) -> None:
    found = helm.lint(CHART, given, strict=True)
    assert (found["errors"], [one["error"] for one in found["messages"]]) == ([], ["icon is recommended"])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"wbe": {}}, "'wbe' not allowed"),
        ({"workers": {"analysis": {}}}, "'analysis' not allowed"),
        ({"settings": {"web drain": 1}}, "'web drain'"),
        ({"web": {"replicas": 0}}, "/web/replicas"),
        ({"web": {"drainSeconds": 31}}, "/web/drainSeconds"),
        ({"image": {"digest": "latest"}}, "/image/digest"),
    ],
    ids=str,
)
def test_a_wrong_value_is_refused(wrong: dict[str, Any], words: str) -> None:
    with helm.Chart.load(CHART) as chart, pytest.raises(errors.HelmValuesError, match=words):
        chart.validate_schema(wrong)


def test_each_queue_has_a_worker_that_runs_the_command_of_the_procfile_and_its_setting() -> None:
    workers = {name: pod for name, pod in pods(PLAIN) if "-worker-" in name}
    assert {queue_of(name) for name in workers} == set(ALL_QUEUES) == set(values()["workers"])
    for name, pod in workers.items():
        told = re.sub(r" -c \S+", "", procfile()[f"worker_{queue_of(name)}"])
        assert " ".join(pod["containers"][0]["args"]) == told
    settings = {name.lower(): value for name, value in values()["settings"].items()}
    assert settings == {name: Settings.model_fields[name].default for name in settings}
    assert len(settings) == len(ALL_QUEUES)


def test_all_processes_know_the_address_of_the_ingress_unless_the_settings_say_another_one() -> None:
    def told(given: dict[str, Any]) -> list[list[str]]:
        envs = [pod["containers"][0]["env"] for _, pod in pods(rendered(given))]
        return [[one["value"] for one in env if one["name"] == "PUBLIC_URL"] for env in envs]

    ingress = {"enabled": True, "host": "tests.example.org", "tlsSecret": "tls"}
    assert {str(one) for one in told({"ingress": ingress})} == {"['https://tests.example.org']"}
    own = {"PUBLIC_URL": "https://own.example.org"}
    assert {str(one) for one in told({"ingress": ingress, "settings": own})} == {"['https://own.example.org']"}
    assert {str(one) for one in told({})} == {"[]"}


def test_the_ports_of_a_pooler_and_of_its_server_are_both_open() -> None:
    policy = of_kind("NetworkPolicy", rendered({"networkPolicy": {"databasePorts": [6432, 5432]}}))["fair-fairlane"]
    assert [one["port"] for one in policy["spec"]["egress"][1]["ports"]] == [6432, 5432]


def test_settings_are_written_as_the_service_reads_them() -> None:
    given = {"MAX_TESTS": 1_000_000, "LLM_SHARE_PER_ACCOUNT": 0.25, "FAIRNESS_ENABLED": False, "SPEC_TIME_LIMIT": "90m"}
    _, pod = next(pods(rendered({"settings": given})))
    told = {one["name"]: one["value"] for one in pod["containers"][0]["env"]}
    assert given.keys() <= told.keys()
    read = load({name: told[name] for name in given})
    assert (read.max_tests, read.llm_share_per_account, read.fairness_enabled) == (1_000_000, 0.25, False)


def test_beat_and_the_migration_run_the_commands_of_the_procfile_and_the_web_that_of_the_image() -> None:
    commands = {
        name.rpartition("-")[2]: pod["containers"][0].get("args") for name, pod in pods(PLAIN) if "worker" not in name
    }
    assert commands == {
        "beat": procfile()["beat"].split(),
        "migrate": procfile()["web"].partition(" && ")[0].split(),
        "web": None,
    }
    [job] = of_kind("Job", PLAIN).values()
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"


def test_every_pod_has_few_rights_bounds_and_no_token_of_the_cluster() -> None:
    for name, pod in pods():
        assert pod["automountServiceAccountToken"] is False, name
        assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]) == (True, 10001)
        assert all("sizeLimit" in volume["emptyDir"] for volume in pod["volumes"] if "emptyDir" in volume), name
        for container in pod["containers"]:
            held = container["securityContext"]
            assert (held["readOnlyRootFilesystem"], held["allowPrivilegeEscalation"]) == (True, False), name
            assert held["capabilities"] == {"drop": ["ALL"]}
            assert {"memory"} <= container["resources"]["limits"].keys()
            assert {"cpu", "memory"} <= container["resources"]["requests"].keys()


def test_only_the_migration_has_the_owners_address_and_no_secret_is_in_an_environment() -> None:
    for name, pod in pods(PLAIN):
        held = {source["secret"]["name"] for source in pod["volumes"][2]["projected"]["sources"]}
        assert held == ({"fairlane", "fairlane-owner"} if name.endswith("-migrate") else {"fairlane"}), name
        given = {one["name"]: one["value"] for one in pod["containers"][0]["env"]}
        secrets = {"DATABASE_URL", "DATABASE_OWNER_URL", "SECRET_KEY", "METRICS_TOKEN"}
        assert secrets & given.keys() == set()
        assert given.keys() & {f"{one}_FILE" for one in secrets} >= {"DATABASE_URL_FILE", "SECRET_KEY_FILE"}
        assert {one.removesuffix("_FILE").lower() for one in given} <= Settings.model_fields.keys(), name


def test_each_process_is_asked_whether_it_works_and_has_the_time_to_stop_that_it_needs() -> None:
    longest = load({"SHUTDOWN_GRACE": "20s"}).shutdown_grace.total_seconds()
    for name, pod in pods():
        [container] = pod["containers"]
        if name.endswith("-web"):
            drain = next(one["value"] for one in container["env"] if one["name"] == "WEB_DRAIN")
            assert load({"WEB_DRAIN": drain}).web_drain.total_seconds() + 10 <= pod["terminationGracePeriodSeconds"]
            assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
            assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
        elif "-worker-" in name:
            assert longest + 10 <= pod["terminationGracePeriodSeconds"]
            assert container["livenessProbe"]["exec"]["command"] == ["fairlane-alive", queue_of(name)]


def test_what_is_scaled_has_no_number_of_its_own_and_what_serves_has_a_budget() -> None:
    scaled = {
        one["spec"]["scaleTargetRef"]["name"]
        for kind in ("ScaledObject", "HorizontalPodAutoscaler")
        for one in of_kind(kind, FULL).values()
    }
    deployments = of_kind("Deployment", FULL)
    assert scaled == {name for name, one in deployments.items() if "replicas" not in one["spec"]}
    assert {queue_of(name) for name in scaled if "worker" in name} == set(values()["autoscaling"]["queues"])
    for name, budget in of_kind("PodDisruptionBudget", PLAIN).items():
        assert budget["spec"]["selector"] == deployments[name]["spec"]["selector"]
    assert of_kind("PodDisruptionBudget", PLAIN).keys() == deployments.keys() - {"fair-fairlane-beat"}


def test_a_policy_holds_each_pod_and_the_web_alone_is_reached() -> None:
    policies = of_kind("NetworkPolicy", FULL)
    every = policies["fair-fairlane"]["spec"]
    assert every["policyTypes"] == ["Ingress", "Egress"]
    assert "ingress" not in every
    for one in FULL:
        if one["kind"] in ("Deployment", "Job"):
            assert every["podSelector"]["matchLabels"].items() <= one["spec"]["template"]["metadata"]["labels"].items()
    assert [name for name, one in policies.items() if one["spec"].get("ingress")] == ["fair-fairlane-web"]
    assert policies["fair-fairlane-web"]["spec"]["ingress"][0]["from"] == ALL["networkPolicy"]["ingressFrom"]


def test_the_rules_and_the_dashboard_of_the_chart_are_those_of_the_repository() -> None:
    folder = ROOT / "deploy" / "monitoring"
    [rule] = of_kind("PrometheusRule", FULL).values()
    assert rule["spec"] == yaml.safe_load((folder / "alerts.yaml").read_text(encoding="utf-8"))
    [shown] = of_kind("ConfigMap", FULL).values()
    assert shown["data"]["fairlane.json"] == (folder / "dashboard.json").read_text(encoding="utf-8")
    [watched] = of_kind("ServiceMonitor", FULL).values()
    assert [end["params"]["of"] for end in watched["spec"]["endpoints"]] == [["process"], ["service"]]
    labels = of_kind("Service", FULL)["fair-fairlane-web"]["metadata"]["labels"]
    assert watched["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert labels[watched["spec"]["jobLabel"]] == "fairlane"
