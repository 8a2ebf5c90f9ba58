"""The service on a server that refuses whoever comes without TLS, and with a certificate that each session checks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from durable_harness.postgres import PACKAGED, PackagedServer
from durable_harness.strict_postgres import certificate
from durable_harness.waiting import wait_for

from tests.e2e.own_server import PAGE, OwnServer
from tests.e2e.pages import blocks
from tests.e2e.service import Service
from tests.e2e.webs import Web
from tests.nodes import ROOT, Nodes

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(not PACKAGED, reason="the embedded server has no TLS: apt-get install postgresql"),
]

SETTINGS, HOSTS, PARAMETERS, SHOWN = blocks(PAGE, "TLS")
FOLDER, AUTHORITY = "/etc/postgresql", "/etc/ssl/certs/fairlane-postgresql.pem"
#: By what the sessions call themselves: those of beat as those of workers, the broker's as the last one.
PROGRAMS = {"fairlane web", "fairlane worker", "durable-broker"}


@pytest.fixture
def own(tmp_path: Path) -> Iterator[OwnServer]:
    """Make a server by the steps of the page."""
    server = PackagedServer()
    for name, file in zip(("server.crt", "server.key"), certificate(tmp_path), strict=True):
        (server.home / name).write_bytes(file.read_bytes())
        (server.home / name).chmod(0o600)
        os.chown(server.home / name, (server.data / "base").stat().st_uid, -1)
    with (server.data / "postgresql.conf").open("a") as conf:
        conf.write(SETTINGS.replace(FOLDER, str(server.home)))
    made = OwnServer(server, HOSTS, "localhost", PARAMETERS.strip().replace(AUTHORITY, str(tmp_path / "crt")))
    try:
        made.begin()
        made.migrate()
        yield made
    finally:
        server.remove()


def test_web_workers_beat_and_commands_use_it(own: OwnServer, repository: Callable[..., Path], tmp_path: Path) -> None:
    with Service.on(own.url(), tmp_path, repository) as service, service.traffic() as client:
        wait_for(lambda: len(client.accepted) >= 3, "jobs to be accepted")
        client.end()
        wait_for(service.is_idle, "every job to end")
        assert service.bills() == {one.job_id: 1 for one in client.accepted}
        [rows] = own.run(SHOWN)
        assert {name for name, ssl, _ in rows if not ssl} == set()
        assert {str(name) for name, *_ in rows} >= PROGRAMS
        assert '"nodes do not listen"' in service.fairlane("doctor", "--json").stdout
        for command in (["migrate"], ["backup", str(tmp_path / "a.dump")], ["queues"]):
            done = service.fairlane(*command, DATABASE_OWNER_URL=own.owner_url())
            assert (done.returncode, done.stderr) == (0, ""), command


def test_a_server_of_another_name_is_refused_by_all_of_them(own: OwnServer, tmp_path: Path) -> None:
    refusal = 'does not match host name "127.0.0.1"'
    with Nodes.open(own.url(host="127.0.0.1"), tmp_path) as nodes:
        worker, beat, web = nodes.worker(ready=False).container, nodes.beat(), Web(nodes, tmp_path, "")
        wait_for(lambda: refusal in worker.logs(), "the worker to say so")
        wait_for(lambda: "beat_lost_database" in beat.logs(), "beat to say so")
        assert httpx.get(f"{web.url}/readyz", timeout=60, trust_env=False).status_code == 503
        argv = [sys.executable, "-m", "app.cli", "queues"]
        done = subprocess.run(argv, cwd=ROOT, env=nodes.environment(), capture_output=True, text=True)
        assert (done.returncode, refusal in done.stderr) == (4, True)
