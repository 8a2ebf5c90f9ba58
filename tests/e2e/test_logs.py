"""The logs of a real web, worker and beat as JSON: every line is an object, and one jq shows what a tenant saw."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from durable_harness.waiting import wait_for

from app.domain.webhooks import WebhookFields
from app.services.accounts import tokens
from app.services.webhooks import webhooks
from app.services.webhooks.dispatch import QUEUE
from app.services.webhooks.sealing import Keyring
from app.services.webhooks.webhooks import Where
from tests.e2e.conftest import System
from tests.e2e.receivers import Receiver, receiving, status
from tests.e2e.webs import Web

pytestmark = pytest.mark.proof

KEY = "a secret key that only tests use"
ENV = {"SECRET_KEY": KEY, "WEBHOOK_LOOPBACK": "true", "LOG_FORMAT": "json"}
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACE = f"00-{TRACE_ID}-00f067aa0ba902b7-01"
ANALYSES = "/api/v1/analyses"
#: As in docs/operating.md, with one order over all files.
JQ = "map(select(.tenant == $tenant and .timestamp >= $from and .timestamp < $to)) | sort_by(.timestamp) | .[]"


class Service:
    """A web, a worker and a beat with one kind of log."""

    def __init__(self, system: System, **env: str) -> None:
        self.system, self.folder = system, system.nodes.folder
        self.web = Web(system.nodes, self.folder, "", **ENV)
        self.worker = system.stalling_worker("analysis_default", QUEUE, processes=2, **ENV, **env)
        self.beat = system.nodes.beat(**ENV)

    def tenant(self, url: str) -> tuple[UUID, str]:
        """A user with a webhook there, and a token."""
        user, uow = self.system.user(), self.system.world.uow
        own = WebhookFields(url, "", [])
        webhooks.add(uow, user, own, Where(allow_loopback=True), Keyring.of([KEY]), now=uow.now())
        return user, tokens.add_token(uow, user, now=datetime.now(UTC)).secret

    def submit(self, token: str, name: str, **headers: str) -> UUID:
        self.system.make_repository(name)
        body = json.dumps({"repository": f"local:{name}"}).encode()
        given = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **headers}
        with urllib.request.urlopen(urllib.request.Request(self.web.url + ANALYSES, body, given)) as answer:
            return UUID(json.loads(answer.read())["id"])

    def says(self, event: str, job_id: UUID) -> None:
        """Wait for a line of the worker."""
        line = re.compile(f'(?=.*"{event}").*"{job_id}"')
        wait_for(lambda: line.search(self.worker.container.logs()), event)

    def stop(self) -> None:
        for process in (self.worker.container, self.beat, self.web.process):
            process.kill("SIGTERM")
            process.wait()

    def logs(self) -> list[Path]:
        return sorted(self.folder.glob("*.log"))

    def lines(self) -> list[dict[str, Any]]:
        """Every line of every process; each is one JSON object."""
        found = []
        for log in self.logs():
            for line in log.read_text().splitlines():
                try:
                    found.append(json.loads(line))
                except ValueError:
                    pytest.fail(f"{log.name}: {line!r}")
        return found


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving(status(204)) as found:
        yield found


@pytest.fixture
def service(system: System) -> Service:
    return Service(system)


def events(lines: list[dict[str, Any]], **of: str) -> list[str]:
    return [line["event"] for line in lines if all(line.get(name) == value for name, value in of.items())]


def test_every_line_is_json_also_of_a_worker_whose_child_is_killed(service: Service, receiver: Receiver) -> None:
    _, token = service.tenant(receiver.url)
    job_id = service.submit(token, "slow", traceparent=TRACE, **{"X-Request-Id": "order-1"})
    service.system.wait(job_id, "running")
    service.says("started", job_id)  # which comes after the commit
    for process in service.worker.container.children():
        os.kill(process.pid, signal.SIGKILL)
    wait_for(lambda: "signal 9 (SIGKILL)" in service.worker.container.logs(), "the worker to notice")
    service.system.go_on()
    service.system.wait(job_id, "completed")
    service.says("webhook_sent", job_id)
    service.stop()
    found = service.lines()
    assert all({"event", "level", "logger", "timestamp"} <= line.keys() for line in found)
    # the ids of the request are in the lines of both attempts, and so are those of the job
    told = [line for line in found if line.get("request_id") == "order-1"]
    assert events(told, job_id=str(job_id)).count("started") == 2
    assert {line["attempt"] for line in told if line["event"] in ("started", "completed")} == {1, 2}
    assert {line["trace_id"] for line in told} == {TRACE_ID}
    assert {"accepted", "request", "completed", "webhook_sent"} <= {*events(told)}
    said = {line["logger"] for line in found}
    assert {"gunicorn.error", "app.server.access_log", "celery.worker.strategy", "celery.beat"} <= said
    headers, _ = receiver.got[0]
    assert (headers["x-request-id"], headers["traceparent"]) == ("order-1", TRACE)


def test_the_ids_survive_a_retry_and_a_wait_for_a_slot(system: System) -> None:
    service = Service(system, ANALYSIS_TIME_LIMIT="8s")
    user = system.user()
    token = tokens.add_token(system.world.uow, user, now=datetime.now(UTC)).secret
    first = service.submit(token, "slow", **{"X-Request-Id": "first"})
    system.wait(first, "running")
    second = service.submit(token, "shop", **{"X-Request-Id": "second"})
    wait_for(lambda: '"event": "retry"' in service.worker.container.logs(), "the time limit of the first attempt")
    system.go_on()
    for job in (first, second):
        system.wait(job, "completed")
    service.stop()
    lines = service.lines()
    for job, request_id in ((first, "first"), (second, "second")):
        told = [line for line in lines if line.get("job_id") == str(job) and line["logger"] == "tasks.base"]
        assert {line["request_id"] for line in told} == {request_id}
        assert told[-1]["event"] == "completed"
        assert {(line["tenant"], line["queue"]) for line in told} == {(str(user), "analysis_default")}
        assert all(line["seconds"] >= 0 for line in told if line["event"] != "started")


def test_one_jq_shows_what_a_tenant_saw_and_nothing_of_another(service: Service, receiver: Receiver) -> None:
    service.system.go_on()
    began = datetime.now(UTC).isoformat()
    (one, token), (other, others_token) = service.tenant(receiver.url), service.tenant(receiver.url)
    job_id, others = service.submit(token, "shop"), service.submit(others_token, "bar")
    for job in (job_id, others):
        service.system.wait(job, "completed")
    for job in (job_id, others):
        service.says("webhook_sent", job)
    service.stop()
    ended = datetime.now(UTC).isoformat()
    service.lines()
    command = ["jq", "-c", "-s", "--arg", "tenant", str(one), "--arg", "from", began, "--arg", "to", ended, JQ]
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed: apt-get install jq")
    done = subprocess.run(
        [*command, *map(str, service.logs())], capture_output=True, text=True, check=True, timeout=240
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    story = ["request", "accepted", "started", "completed", "webhook_sent"]
    assert sorted(event for event in events(told) if event in story) == sorted(story)
    order = [event for event in events(told) if event in story[1:4]]
    assert order == story[1:4]  # another process sends the webhook once the job has ended, and may say so first
    assert {line["job_id"] for line in told} == {str(job_id)}
    assert str(other) not in done.stdout
    assert str(others) not in done.stdout
    [request] = [line for line in told if line["event"] == "request"]
    assert (request["route"], request["status"]) == (ANALYSES, 202)
    assert {line["request_id"] for line in told} == {request["request_id"]}
