"""No secret of the service is in anything that Celery, kombu, the system or a dump can show of it."""

import json
import re
import socket
import subprocess
import sys
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import psutil
import pytest
from celery.app.defaults import SETTING_KEYS
from durable_harness.waiting import wait_for
from kombu import Connection
from sqlalchemy.engine import make_url

from app import embedded
from app.domain.canaries import Canaries
from app.embedded import binaries
from app.services.operations.find_leaks import find_leaks
from tests.e2e.conftest import System
from tests.nodes import LocalWorker
from tests.tiers import proofs

ROOT = Path(__file__).parents[2]
OWN = {"SECRET_KEY": "key-of-this-test-0123456789", "FAIRLANE_TOKEN": "fl_token-of-this-test-0123456789-0123456789"}
#: As `celery inspect COMMAND`, all in one process, which takes a second to start.
INSPECT = """
import json, sys
from tasks.celery import app
inspect = app.control.inspect(destination=[sys.argv[1]], timeout=60)
asked = {
    "stats": {}, "conf": {"with_defaults": True}, "report": {}, "active": {}, "reserved": {}, "scheduled": {},
    "registered": {}, "active_queues": {}, "revoked": {}, "clock": {}, "query_task": {"ids": ["x"]},
}
print(json.dumps({name: inspect._request(name, **given) for name, given in asked.items()}, default=repr))
"""


def canaries(system: System) -> dict[str, str]:
    return OWN | {"DATABASE_URL": str(make_url(system.nodes.database_url).password)}


def shown(system: System, text: str) -> set[str]:
    """Names of the secrets that a text shows."""
    return Canaries.of(canaries(system)).found(text)


def celery(system: System, *arguments: str, code: int = 0) -> str:
    command = [sys.executable, "-m", "celery", "-A", "tasks", *arguments]
    environment = system.nodes.environment(**OWN)
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def inspected(system: System) -> dict[str, dict[str, object]]:
    """The node's answer to every command of `celery inspect`."""
    argv = [sys.executable, "-c", INSPECT, f"node0@{socket.gethostname()}"]
    environment = system.nodes.environment(**OWN)
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100, check=True)
    assert shown(system, done.stdout + done.stderr) == set()
    return {name: answer for name, answers in json.loads(done.stdout).items() for answer in (answers or {}).values()}


def arguments(pid: int) -> str:
    """What `ps` shows of a process and its children."""
    process = psutil.Process(pid)
    told = []
    for one in [process, *process.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            told += one.cmdline()
    return "\n".join(told)


@pytest.fixture
def worker(system: System) -> LocalWorker:
    return system.nodes.worker(processes=1, **OWN)


@pytest.mark.proof
def test_remote_control_shows_no_secret_and_leaves_none_in_the_broadcast_rows(
    system: System, worker: LocalWorker
) -> None:
    told = inspected(system)
    assert {"stats", "conf", "report", "active", "registered", "query_task"} <= told.keys()
    assert system.world.value("SELECT count(*) FROM kombu_broadcast") > 0
    assert find_leaks(system.world.uow, canaries(system), within=timedelta(minutes=1)) == []
    assert "Connected to durable+postgresql+psycopg2://app:**@" in worker.container.logs()
    assert shown(system, worker.container.logs() + arguments(worker.container.pid)) == set()
    assert told["stats"]["broker"]["hostname"] == "durable+" + re.sub(r":[^:@]+@", "@", system.nodes.database_url)  # type: ignore[index]
    assert told["conf"].keys() <= {*SETTING_KEYS, "deprecated_settings"}


@pytest.mark.proof
def test_events_of_a_job_show_no_secret(system: System, worker: LocalWorker) -> None:
    celery(system, "control", "--timeout", "60", "-d", f"node0@{socket.gethostname()}", "enable_events")
    dump = [sys.executable, "-m", "celery", "-A", "tasks", "events", "--dump"]
    log = system.nodes.folder / "events.log"
    with log.open("wb") as out:
        environment = system.nodes.environment(**OWN, PYTHONUNBUFFERED="1")
        reader = subprocess.Popen(dump, cwd=ROOT, env=environment, stdout=out, stderr=out)
    try:
        wait_for(lambda: " heartbeat: " in log.read_text(), "the first event")
        for _ in range(50):  # Celery drops what a reader leaves for five seconds
            if "succeeded" in log.read_text():
                break
            system.wait(system.submit(system.user(), uuid4().hex), "completed")
        assert "succeeded" in log.read_text()
        assert find_leaks(system.world.uow, canaries(system), within=timedelta(minutes=1)) == []
    finally:
        reader.kill()
        reader.wait()
    assert shown(system, log.read_text()) == set()


@pytest.mark.proof
def test_a_dump_of_the_database_holds_no_secret(system: System, worker: LocalWorker, server: embedded.Server) -> None:
    system.wait(system.submit(system.user()), "completed")
    inspected(system)
    folder = binaries.binaries()
    assert folder is not None
    url = make_url(system.nodes.database_url)
    argv = [folder / "pg_dump", "--host", url.host, "--port", str(url.port), "--user", url.username, url.database]
    dump = subprocess.run(
        argv, env={"PGPASSWORD": str(url.password)}, capture_output=True, text=True, check=True, timeout=240
    ).stdout
    assert "kombu_broadcast" in dump
    assert shown(system, dump) == set()


@pytest.mark.proof
def test_reports_and_settings_show_no_secret(system: System) -> None:
    told = celery(system, "report")
    assert "transport:durable" in told
    assert shown(system, told) == set()
    listed = subprocess.run(
        [sys.executable, "-m", "app.cli", "config"],
        cwd=ROOT, env=system.nodes.environment(**OWN), capture_output=True, text=True, check=True, timeout=240,
    ).stdout  # fmt: skip
    assert "SECRET_KEY=(set, not shown)  # environment" in listed
    assert shown(system, listed) == set()


@pytest.mark.parametrize("log_format", proofs(["text", "json"], but=["json"]))
def test_a_worker_that_is_refused_says_so_without_the_password(system: System, log_format: str) -> None:
    wrong = make_url(system.nodes.database_url).set(password=OWN["SECRET_KEY"]).render_as_string(hide_password=False)
    refused = system.nodes.worker(ready=False, DATABASE_URL=wrong, LOG_FORMAT=log_format)
    wait_for(lambda: "password authentication failed" in refused.container.logs(), "the refusal")
    assert shown(system, refused.container.logs() + arguments(refused.container.pid)) == set()


@pytest.mark.parametrize(
    "url", ["ann:{}@h/d", "ann:{}@h/d?sslmode=require", "h/d?user=ann&password={}", "ann@h/d?sslpassword={}"]
)
def test_what_kombu_shows_of_any_connection_has_no_password(url: str) -> None:
    secret = "hush-%2F-hush"
    options = {"direct_url": f"postgresql://bob:{secret}@direct/d"}
    one = f"durable+postgresql+psycopg2://{url.format(secret)}"
    with Connection(one, transport_options=options, alternates=[one]) as connection:
        told = [connection.as_uri(), connection.as_uri(include_password=True), repr(connection)]
        told += [repr(connection.info()), repr(connection.clone().info()), repr(vars(connection.transport))]
        told += [repr(connection.transport.options), repr(connection.clone().as_uri())]
        assert [text for text in told if "hush" in text] == []
        parameters = connection.clone().transport.database._arguments
        assert secret.replace("%2F", "/") in (parameters.get("password"), parameters.get("sslpassword"))
