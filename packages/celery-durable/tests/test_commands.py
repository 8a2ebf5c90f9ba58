"""`celery -A app durable …`, typed in a shell: what it does, and what it says when it cannot."""

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from celery_durable.schema import VERSION
from durable_harness.broker import Broker
from durable_harness.other_brokers import REDIS, RedisServer
from durable_harness.waiting import wait_for
from kombu import Connection

pytestmark = pytest.mark.proof

APP = """
import os
import celery_durable
from celery import Celery

app = Celery("shop", broker=os.environ["SHOP_BROKER"])
app.conf.broker_transport_options = {"spare_queues": {"slow": 1}, **eval(os.environ.get("SHOP_OPTIONS", "{}"))}
"""


class Shell:
    """Somebody who types commands in the folder of an app."""

    def __init__(self, folder: Path, broker: Broker) -> None:
        (folder / "shop.py").write_text(APP)
        self.folder = folder
        self.environment = {**os.environ, "SHOP_BROKER": broker.url.replace("postgresql:", "durable:")}

    def types(self, *arguments: str, code: int = 0, app: tuple[str, ...] = ("-A", "shop"), **environment: str) -> str:
        """The command's output, or what it says of an error in one line."""
        done = subprocess.run(
            [sys.executable, "-m", "celery", *app, "durable", *arguments],
            cwd=self.folder, env=self.environment | environment, capture_output=True, text=True,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == code, done.stdout + done.stderr
        return done.stderr.strip() if code else done.stdout

    def listed(self, *arguments: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.types(*arguments, "--json"))
        return found

    def refused(self, *arguments: str, **options: Any) -> str:
        line = self.types(*arguments, code=1, **options)
        assert line.startswith("Error: ")
        assert "\n" not in line
        return line.removeprefix("Error: ")


@pytest.fixture
def shell(broker: Broker, tmp_path: Path) -> Shell:
    return Shell(tmp_path, broker)


def bury(broker: Broker, *task_ids: str) -> list[int]:
    for task_id in task_ids:
        broker.send("work", task_id=task_id)
    channel = broker.kombu().channel()
    for _ in task_ids:
        wait_for(lambda: channel.basic_get("main")).reject()
    channel.close()
    rows = dict(broker.query("SELECT task_id, id FROM broker_dead_letter"))
    return [rows[task_id] for task_id in task_ids]


def test_upgrade_makes_the_tables_and_gives_roles_their_rights(broker: Broker, shell: Shell) -> None:
    broker.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    broker.query("CREATE ROLE shop_web")
    broker.stack.callback(broker.query, "DROP OWNED BY shop_web CASCADE; DROP ROLE shop_web")
    assert "run `celery -A APP durable upgrade`" in shell.refused("facts")
    assert shell.types("upgrade", "--grant-publisher", "shop_web") == f"version {VERSION}\n"
    assert broker.query("SELECT 1 FROM information_schema.role_routine_grants WHERE grantee = 'shop_web'")
    broker.query("UPDATE kombu_schema SET version = 99")
    assert "are of version 99" in shell.refused("upgrade")


def test_a_schema_of_the_options_is_the_one_that_is_made_and_looked_at(broker: Broker, shell: Shell) -> None:
    broker.stack.callback(broker.query, "DROP SCHEMA post CASCADE")
    options = {"SHOP_OPTIONS": "{'schema': 'post'}"}
    shell.types("upgrade", **options)
    broker.declare("letters", schema="post")
    assert json.loads(shell.types("facts", "--json", **options))[0]["queue"] == "letters"
    shell.types("pause", "letters", **options)
    assert broker.value("SELECT paused_at IS NOT NULL FROM post.broker_queue")


def test_facts_are_of_queues_and_of_the_tenants_of_one(broker: Broker, shell: Shell) -> None:
    for tenant in ("ann", "ann", "bob"):
        broker.send("work", headers={"tenant": tenant})
    broker.send("work", countdown=3600)
    [main] = shell.listed("facts")
    assert (main["queue"], main["paused"], main["ready"], main["delayed"]) == ("main", False, 3, 1)
    tenants = {row["group"]: row["ready"] for row in shell.listed("facts", "main")}
    assert (tenants["ann"], tenants["bob"]) == (2, 1)
    assert [row["group"] for row in shell.listed("facts", "main", "--tenant", "bob")] == ["bob"]
    heads, row = shell.types("facts").splitlines()
    assert heads.split()[:3] == ["queue", "paused", "ready"]
    assert row.split()[:3] == ["main", "no", "3"]


def test_a_paused_queue_delivers_nothing_until_it_is_resumed(broker: Broker, shell: Shell) -> None:
    broker.send("work", task_id="one")
    channel = broker.kombu().channel()
    assert shell.types("pause", "main") == "paused main\n"
    assert shell.listed("facts")[0]["paused"]
    assert channel.basic_get("main") is None
    assert shell.types("resume", "main") == "resumed main\n"
    assert wait_for(lambda: channel.basic_get("main")).headers["id"] == "one"
    assert shell.refused("pause", "main", "nowhere") == "there is no queue 'nowhere'"
    assert not shell.listed("facts")[0]["paused"], "of several queues all are paused or none"


def test_a_limit_is_set_shown_and_removed(broker: Broker, shell: Shell) -> None:
    broker.declare("main", "other")
    assert shell.types("limit", "main", "10/s", "--task", "shop.bill", "--burst", "3") == (
        "limited main, task shop.bill to 10/s\n"
    )
    assert shell.types("limit", "main", "5/h", "--per-tenant") == "limited main, each tenant to 5/h\n"
    assert shell.types("limit", "other", "1", "--tenant", "") == "limited other, messages without a tenant to 1\n"
    [bill, each, none] = shell.listed("limits")
    assert bill == {"queue": "main", "task": "shop.bill", "tenant": None, "per_tenant": False, "rate": 10.0, "burst": 3,
                    "waiting": 0}  # fmt: skip
    assert (each["per_tenant"], none["tenant"], shell.listed("limits", "other")) == (True, "", [none])
    assert shell.types("limits", "main").splitlines()[1].split() == ["main", "shop.bill", "-", "no", "10.0", "3", "0"]
    assert shell.types("unlimit", "main", "--per-tenant") == "removed the limit of main, each tenant\n"
    assert shell.refused("unlimit", "main", "--per-tenant") == "there is no limit of main, each tenant"
    assert shell.listed("limits", "main") == [bill]
    assert shell.refused("limit", "nowhere", "1/s") == "there is no queue 'nowhere'"
    assert shell.refused("limit", "main", "fast").startswith("a rate is 10/s, 100/m, 5/h or a number")


def test_dead_letters_are_listed_redriven_and_dropped(broker: Broker, shell: Shell) -> None:
    first, second, third = bury(broker, "one", "two", "three")
    assert [row["task_id"] for row in shell.listed("dead", "--most", "2")] == ["three", "two"]
    assert [row["id"] for row in shell.listed("dead", "--before", str(second))] == [first]
    [whole] = shell.listed("dead", str(first))
    assert len(whole["payload"]) == whole["payload_size"]
    assert whole["reason"] in shell.types("dead", "--queue", "main")
    assert shell.types("redrive", str(first)) == "1 redriven\n"
    broker.send("work", task_id="two")
    assert shell.refused("redrive", str(second), "99") == f"{second} stays dead (in the way); 99 is no dead letter"
    assert shell.types("drop", "--reason", "lost") == "0 dropped\n"
    assert shell.types("drop", "--all") == "2 dropped\n"
    assert shell.refused("drop", str(third)) == f"{third} is no dead letter"
    assert broker.query("SELECT task_id FROM broker_message ORDER BY 1") == [("one",), ("two",)]


def test_nothing_is_dropped_that_was_not_chosen(broker: Broker, shell: Shell) -> None:
    bury(broker, "one")
    for command in ("redrive", "drop"):
        assert "name the IDS of dead letters" in shell.types(command, code=2)
    assert shell.listed("dead")[0]["task_id"] == "one"


def test_a_tenant_moves_and_what_runs_of_it_is_told(broker: Broker, shell: Shell) -> None:
    for task_id in ("one", "two", "three"):
        broker.send("work", task_id=task_id, headers={"tenant": "ann"})
    broker.send("work", queue="slow")
    channel = broker.kombu().channel()
    wait_for(lambda: channel.basic_get("main"))
    assert (
        shell.types("move", "ann", "main", "slow") == "moved 'ann' from main to slow; 1 run and 0 wait on main still\n"
    )
    moved = "SELECT count(*) FROM broker_message JOIN broker_queue AS q ON q.id = queue_id WHERE q.name = 'slow'"
    assert broker.value(f"{moved} AND group_name = 'ann'") == 2
    assert shell.types("move", "", "slow", "main") == "moved '' from slow to main\n"
    for queues in (("nowhere", "main"), ("main", "nowhere")):
        assert shell.refused("move", "ann", *queues) == "there is no queue 'nowhere'"


def test_what_cannot_be_done_is_one_sentence(broker: Broker, shell: Shell) -> None:
    (shell.folder / "other.py").write_text("from celery import Celery\n\napp = Celery(broker='amqp://')\n")
    # kombu 5.7 has localhost as its default
    other = shell.refused("facts", app=("-A", "other")).replace("localhost", "127.0.0.1")
    assert "is amqp://guest:**@127.0.0.1:5672//, not durable://" in other
    nobody = "durable://postgres:secret@127.0.0.1:1/postgres"
    found = shell.refused("facts", SHOP_BROKER=nobody)
    assert "Connection refused" in found
    assert "secret" not in found
    assert "did you mean 'lease_seconds'?" in shell.refused("facts", SHOP_OPTIONS="{'lease_second': 1}")
    assert "No such transport: nobroker" in shell.refused("facts", SHOP_BROKER="nobroker://x")
    assert "--tenant needs a QUEUE" in shell.types("facts", "--tenant", "ann", code=2)


def test_receive_takes_what_waits_elsewhere(broker: Broker, shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    folders = {
        "data_folder_in": str(folder),
        "data_folder_out": str(folder),
        "control_folder": str(tmp_path / "control"),
    }
    with Connection("filesystem://", transport_options=folders) as old:
        app = Celery(set_as_current=False)
        for number, key in enumerate(("free", "held")):
            options = {"headers": {"unique_key": key}, "task_id": str(number), "queue": "main"}
            app.send_task("shop.work", producer=old.Producer(), **options)
    broker.send("work", task_id="holder", headers={"unique_key": "held"})
    options = [f"--option={name}={value}" for name, value in folders.items()]
    said = shell.refused("receive", "filesystem://", *options, "--queue", "main", "--wait", "0.5")
    assert said == "1 stay at the source: 1 of main (unique key 'held' is held by task holder)"
    assert broker.query("SELECT task_id FROM broker_message ORDER BY 1") == [("0",), ("holder",)]
    assert shell.types("receive", "filesystem://", *options, "--wait", "0.5") == "received 0 of celery\n"


def test_what_cannot_be_received_is_one_sentence(broker: Broker, shell: Shell) -> None:
    assert "the source is a durable broker" in shell.refused("receive", broker.url.replace("postgresql:", "durable:"))
    assert "No such transport: nobroker" in shell.refused("receive", "nobroker://x")
    nobody = shell.refused("receive", "amqp://ann:secret@127.0.0.1:1//")
    assert "the source amqp://ann:**@127.0.0.1:1// failed" in nobody
    assert "--unacked is for Redis" in shell.types("receive", "memory://", "--unacked", code=2)
    assert "expected NAME=VALUE" in shell.types("receive", "memory://", "--option", "x", code=2)


def test_no_piece_of_a_password_is_shown_of_a_source_that_cannot_be_used(broker: Broker, shell: Shell) -> None:
    for url in ("redis://:pa/SECRET@127.0.0.1:6/0", "amqp://ann:SE/CRET@127.0.0.1:1//", "redis://127.0.0.1:6/SECRET"):
        found = shell.refused("receive", url)
        assert found.startswith("the source cannot be used: its URL cannot be read; in a password / is written %2F")
        assert "SE" not in found
    found = shell.refused("facts", SHOP_BROKER="amqp://ann:SE/CRET@127.0.0.1:1//")
    assert found.startswith("the broker of this app cannot be used: its URL cannot be read")
    assert "SE" not in found
    assert "master_name" in shell.refused("receive", "sentinel://:SECRET@127.0.0.1:6/0")
    assert "-1" in shell.types("receive", "memory://", "--wait", "-1", code=2)


@pytest.mark.skipif(REDIS is None, reason="redis-server is not installed (apt-get install redis-server)")
def test_a_run_that_follows_names_what_it_refuses_and_ends_in_order(broker: Broker, shell: Shell) -> None:
    with closing(RedisServer()) as server:
        old = Celery(set_as_current=False, broker=server.url())
        with old.connection_for_write() as connection, old.amqp.Producer(connection.channel()) as producer:
            for task_id, weight in (("bad", "much"), ("good", 1)):
                headers = {"weight": weight}
                old.send_task("shop.work", task_id=task_id, queue="main", headers=headers, producer=producer)
        assert "cannot be used" in shell.refused("receive", server.url(), "--option", "priority_steps=7")
        arguments = ("receive", server.url(), "--queue", "main", "--follow")
        run = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "shop", "durable", *arguments], cwd=shell.folder,
            env=shell.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert run.stderr is not None
        try:
            assert run.stderr.readline().startswith("stays at the source: bad of main (header 'weight' must be")
        finally:
            run.terminate()
            out, err = run.communicate(timeout=240)
        assert (run.returncode, out) == (1, "received 1 of main\n")
        assert err.startswith("Error: 1 stay at the source: bad of main")
        with old.connection_for_read() as connection:
            assert connection.channel().client.llen("main") == 1
        old.close()
