"""Queues and processes are the same in the domain, in Celery's settings, in the Procfile and in compose."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.domain.plans import Tier
from app.domain.queues import ALL_QUEUES, MAINTENANCE, Service, select_queue
from app.settings import Settings, load
from tests.contract.conftest import ROOT

ASK = """
import json
from tasks.celery import app
app.loader.import_default_modules()
conf = app.conf
print(json.dumps({
    "queues": [queue.name for queue in conf.task_queues],
    "routing": {queue.name: [queue.exchange.name, queue.exchange.type, queue.routing_key] for queue in conf.task_queues},
    "options": conf.broker_transport_options,
    "tasks": sorted(name for name in app.tasks if not name.startswith("celery.")),
    "limits": {name: [task.soft_time_limit, task.time_limit] for name, task in app.tasks.items()},
    "beat": {name: [e["task"], e["schedule"].total_seconds(), e.get("queue")] for name, e in conf.beat_schedule.items()},
    "reaches": app.connection().transport.database._arguments["password"],
    **{name: getattr(conf, name) for name in (
        "broker_url", "task_default_queue", "task_create_missing_queues", "accept_content", "task_serializer",
        "task_ignore_result", "task_acks_late", "task_acks_on_failure_or_timeout", "task_reject_on_worker_lost",
        "task_publish_retry", "worker_prefetch_multiplier", "broker_connection_max_retries",
    )},
}))
"""
URL = "postgresql+psycopg2://nobody:secret@127.0.0.1:1/none"


@pytest.fixture(scope="module")
def celery(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Celery's settings as a worker reads them; nothing is connected to."""
    home = tmp_path_factory.mktemp("home")
    env = os.environ | {
        "DATABASE_URL": URL,
        "FAIRLANE_HOME": str(home),
        "LEASE_SECONDS": "20",
        "HEARTBEAT_SECONDS": "4",
    }
    done = subprocess.run([sys.executable, "-c", ASK], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def procfile() -> dict[str, str]:
    lines = (ROOT / "Procfile").read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines if line)


def compose() -> dict[str, dict[str, Any]]:
    return yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text(encoding="utf-8"))["services"]


def option(command: str, name: str) -> str:
    found = re.search(rf" {name} (\S+)", command)
    assert found is not None, command
    return found[1]


def test_celery_knows_the_queues_and_no_other(celery: dict[str, Any]) -> None:
    assert tuple(celery["queues"]) == ALL_QUEUES
    assert celery["routing"] == {name: [name, "direct", name] for name in ALL_QUEUES}
    assert celery["task_default_queue"] == select_queue(Service.ANALYSIS, Tier.FREE)
    assert celery["task_create_missing_queues"] is False


def test_celery_acknowledges_late_and_never_because_a_task_raised(celery: dict[str, Any]) -> None:
    assert (celery["task_acks_late"], celery["task_reject_on_worker_lost"]) == (True, True)
    assert celery["task_publish_retry"] is False
    assert celery["task_ignore_result"] is True
    assert celery["broker_connection_max_retries"] is None


def test_celery_reads_json_only(celery: dict[str, Any]) -> None:
    assert (celery["accept_content"], celery["task_serializer"]) == (["json"], "json")


def test_celery_uses_our_transport_on_the_services_database_with_the_services_leases(celery: dict[str, Any]) -> None:
    assert celery["broker_url"] == "durable+" + URL.replace(":secret@", "@")
    assert celery["reaches"] == "secret"
    assert (celery["options"]["lease_seconds"], celery["options"]["heartbeat_seconds"]) == (20, 4)


def test_every_published_and_every_scheduled_task_exists(celery: dict[str, Any]) -> None:
    published = {*(service.task for service in Service), *(task for task, _, _ in celery["beat"].values())}
    assert published <= set(celery["tasks"])
    assert all(name.startswith("tasks.") for name in celery["tasks"])


def test_beat_sends_to_queues_that_exist_at_the_intervals_of_the_rules(celery: dict[str, Any]) -> None:
    assert {queue for _, _, queue in celery["beat"].values() if queue} <= set(ALL_QUEUES)
    seconds = {name: every for name, (_, every, _) in celery["beat"].items()}
    assert (seconds["reschedule"], seconds["sweep"]) == (3600, 300)


def test_what_takes_long_has_a_queue_of_its_own_a_time_limit_and_never_delays_the_sweep(celery: dict[str, Any]) -> None:
    queues = {name: queue for name, (_, _, queue) in celery["beat"].items()}
    assert {name for name, queue in queues.items() if queue == MAINTENANCE} == {"prune", "reconcile", "reschedule"}
    assert queues["sweep"] is None
    for name in ("prune", "reconcile", "reschedule"):
        soft, hard = celery["limits"][f"tasks.maintenance.{name}"]
        assert soft < hard
    assert celery["limits"]["tasks.maintenance.reschedule"][1] < 3600


def test_the_procfile_has_one_worker_per_queue_named_after_it() -> None:
    workers = {name: command for name, command in procfile().items() if name.startswith("worker_")}
    assert {name: option(command, "-Q") for name, command in workers.items()} == {f"worker_{q}": q for q in ALL_QUEUES}
    for queue in ALL_QUEUES:
        command = workers[f"worker_{queue}"]
        assert command.startswith("celery -A tasks worker ")
        assert option(command, "-n") == f"{queue}@%h"


@pytest.mark.parametrize("queue", ALL_QUEUES)
def test_concurrency_comes_from_the_setting_and_its_default_is_the_settings_own(queue: str) -> None:
    variable, default = re.fullmatch(r"\$\{(\w+):-(\d+)\}", option(procfile()[f"worker_{queue}"], "-c")).groups()  # type: ignore[union-attr]
    assert Settings.model_fields[variable.lower()].default == int(default)
    assert load({variable: "77"}).workers(queue) == 77


def test_the_procfile_starts_everything_there_is() -> None:
    assert procfile().keys() == {"web", "beat", *(f"worker_{queue}" for queue in ALL_QUEUES)}


def test_no_line_of_the_procfile_ends_by_itself_which_would_stop_all_others() -> None:
    for name, command in procfile().items():
        last = command.rpartition(" && ")[2].removeprefix("exec ")
        assert last.startswith(("gunicorn ", "celery -A tasks worker ", "celery -A tasks beat ")), name


def test_compose_starts_the_processes_of_the_procfile_a_database_its_migration_a_proxy_and_what_watches() -> None:
    watching = {name for name, service in compose().items() if service.get("profiles") == ["monitoring"]}
    assert watching == {"prometheus", "grafana"}
    assert compose().keys() == {"postgres", "release", "proxy", *watching, *procfile()}
    assert compose()["release"]["command"] == procfile()["web"].partition(" && ")[0].split()


@pytest.mark.parametrize("name", ["beat", *(f"worker_{queue}" for queue in ALL_QUEUES)])
def test_compose_and_the_procfile_run_the_same_command(name: str) -> None:
    assert " ".join(compose()[name]["command"]) == procfile()[name]


def test_the_image_serves_as_the_procfile_does() -> None:
    lines = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    (command,) = [json.loads(line.removeprefix("CMD ")) for line in lines if line.startswith("CMD ")]
    assert f"fairlane migrate --allow-newer && exec {' '.join(command)}" == bound(procfile()["web"])


@pytest.mark.parametrize(
    ("given", "address"),
    [({}, "0.0.0.0:8000"), ({"PORT": "9123"}, "0.0.0.0:9123"), ({"WEB_HOST": "127.0.0.1"}, "127.0.0.1:8000")],
)
def test_the_web_of_the_procfile_is_reached_from_outside_at_the_platforms_port(
    given: dict[str, str], address: str
) -> None:
    assert option(bound(procfile()["web"], **given), "-b") == address


def bound(command: str, **environment: str) -> str:
    """As the shell of a process manager reads it."""
    reading = ["sh", "-c", f'echo "{command}"']
    return subprocess.run(reading, env=environment, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("node", ["beat", *ALL_QUEUES])
def test_a_container_is_healthy_when_its_own_node_gives_signs_of_life(node: str) -> None:
    service = compose()[node if node == "beat" else f"worker_{node}"]
    assert service["environment"]["NODE"] == node
    assert service["healthcheck"]["test"] == ["CMD-SHELL", "fairlane-alive $$NODE"]


def test_every_container_of_ours_takes_settings_from_a_file_that_need_not_be_there() -> None:
    for name, service in compose().items():
        if service["image"].startswith("fairlane:"):
            assert service["env_file"] == [{"path": ".env", "required": False}], name
            # a secret's place would win over the file's own address
            assert {"DATABASE_URL_FILE", "SECRET_KEY_FILE"} <= service["environment"].keys(), name


def test_every_container_is_hardened_and_reads_its_secrets_from_files() -> None:
    for name, service in compose().items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        for variable, value in service.get("environment", {}).items():
            assert "PASSWORD" not in variable or Path(value).parts[1:3] == ("run", "secrets"), (name, variable)


def test_no_container_but_the_release_has_the_owners_address_and_none_works_as_superuser() -> None:
    services = compose()
    assert {name for name, service in services.items() if "database_owner_url" in service.get("secrets", ())} == {
        "postgres", "release",
    }  # fmt: skip
    superuser = services["postgres"]["environment"]["POSTGRES_USER"]
    head = (ROOT / "docker" / "compose.yaml").read_text(encoding="utf-8").partition("\nname:")[0]
    roles = re.findall(r"postgresql://(\w+):", head)
    assert roles == ["fairlane_owner", "fairlane_app"]
    assert superuser not in roles
