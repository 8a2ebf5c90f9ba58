"""The pages of docs/: what they show as Python, SQL, a query of an exporter or a command is run as it stands."""

import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import psycopg2
import pytest
from celery import Celery
from celery_durable import schema
from celery_durable.cli import durable
from durable_harness.broker import Broker
from durable_harness.postgres import _free_port
from durable_harness.taker import Take
from psycopg2.errors import InsufficientPrivilege

HOME = Path(__file__).parents[1]
PAGES = sorted(path.stem for path in (HOME / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
QUERY = re.compile(r"- metric_name: (\w+)\n(.*?)    query: \|\n((?:      [^\n]*\n)+)", re.DOTALL)
#: (page, kind) -> how many of its blocks a test here runs.  A block that cannot be run would have its reason here.
RUN = {
    ("django", "python"): 1, ("failover", "python"): 1,
    ("fastapi-and-sqlalchemy", "python"): 2,  # FastAPI is not installed here: FASTAPI takes its place
    ("limits", "python"): 1, ("limits", "sql"): 1, ("metrics", "sql"): 7, ("metrics", "yaml"): 1,  # sql_exporter is not installed here: its queries and columns are checked
    ("poolers-and-managed-servers", "python"): 2,  # both addresses are the server's; test_poolers.py has a pooler
    ("poolers-and-managed-servers", "sql"): 1, ("roles", "python"): 1, ("roles", "sql"): 4, ("sizing", "sql"): 3,
    ("upgrading", "python"): 1, ("upgrading", "sql"): 4,
}  # fmt: skip
FASTAPI = """
class FastAPI:
    def post(self, path):
        return lambda function: function
"""
#: Twice the same name is refused at the commit, when the message is already written.
ORDERS = """
    CREATE TABLE orders (id integer GENERATED ALWAYS AS IDENTITY, name text UNIQUE DEFERRABLE INITIALLY DEFERRED)"""
ORDERING = """
import asyncio, shop, async_shop
from sqlalchemy.exc import IntegrityError
shop.order("mug")
try:
    shop.order("mug")
    raise SystemExit("no rollback")
except IntegrityError:
    pass
async def ordering():
    await async_shop.order_async("cup")
    try:
        await async_shop.order_async("cup")
        raise SystemExit("no rollback")
    except IntegrityError:
        pass
    await async_shop.engine.dispose()
asyncio.run(ordering())
"""
DJANGO = """
import django
from shop import app
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("check", fail_level="WARNING")
from types import SimpleNamespace
from django.db import transaction
@app.task(name="bill")
def bill(number):
    pass
order = SimpleNamespace(save=lambda: None, pk=7)
exec(open("shop/views.py").read())
try:
    with transaction.atomic():
        bill.delay(8)
        raise ZeroDivisionError
except ZeroDivisionError:
    pass
"""


def blocks(page: str, kind: str) -> list[str]:
    text = (HOME / "docs" / f"{page}.md").read_text(encoding="utf-8")
    return [block for name, block in BLOCK.findall(text) if name == kind]


def place(broker: Broker) -> str:
    """Its user, server and database, as in a URL."""
    return broker.url.partition("://")[2]


def run(folder: Path, program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, env=os.environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def names_of(block: str, **given: Any) -> dict[str, Any]:
    """What a block of Python leaves."""
    found = dict(given)
    exec(block, found)
    return found


def waiting(broker: Broker) -> int:
    return int(broker.value("SELECT count(*) FROM broker_message"))


@pytest.fixture
def roles(broker: Broker) -> Iterator[None]:
    """Roles belong to the server: those that a page makes go at the end."""
    yield
    for (name,) in broker.query("SELECT rolname FROM pg_roles WHERE rolname IN ('web', 'worker', 'monitor', 'reader')"):
        broker.query(f"DROP OWNED BY {name} CASCADE; DROP ROLE {name}")


def test_every_block_of_a_page_is_run_here() -> None:
    kinds = ("python", "sql", "yaml")
    found = {(page, kind): len(blocks(page, kind)) for page in PAGES for kind in kinds if blocks(page, kind)}
    assert found == RUN


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_exist(page: str) -> None:
    lines = [line for block in blocks(page, "") for line in block.splitlines() if " durable " in line]
    for line in lines:
        _, name, *arguments = shlex.split(line.partition("shop ")[2], comments=True)
        durable.commands[name].make_context(name, arguments)


@pytest.mark.proof
def test_an_order_and_its_message_are_committed_together(broker: Broker, tmp_path: Path) -> None:
    broker.query(ORDERS)
    shop, async_shop = (block.replace("me@localhost/shop", place(broker)) for block in blocks(
        "fastapi-and-sqlalchemy", "python"
    ))  # fmt: skip
    for name, text in (("fastapi", FASTAPI), ("shop", shop), ("async_shop", async_shop)):
        (tmp_path / f"{name}.py").write_text(text)
    run(tmp_path, ORDERING)
    assert broker.query("SELECT name FROM orders ORDER BY name") == [("cup",), ("mug",)]
    assert waiting(broker) == 2


@pytest.mark.proof
def test_a_django_project_is_what_the_page_shows(broker: Broker, tmp_path: Path) -> None:
    broker.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    [block] = blocks("django", "python")
    _, *parts = re.split(r"^# shop/(\w+)\.py\n", block, flags=re.MULTILINE)
    files = dict(zip(parts[::2], parts[1::2], strict=True))
    assert [*files] == ["settings", "__init__", "celery", "views"]
    info = psycopg2.extensions.parse_dsn(broker.url)
    database = {
        "ENGINE": "django.db.backends.postgresql", "NAME": info["dbname"], "USER": info["user"], "HOST": info["host"],
        "PORT": info["port"],
    }  # fmt: skip
    files["settings"] = f"DATABASES = {{'default': {database!r}}}\n{files['settings'].replace('[..., ', '[')}"
    (tmp_path / "shop").mkdir()
    for name, text in files.items():
        (tmp_path / "shop" / f"{name}.py").write_text(text)
    run(tmp_path, DJANGO)
    assert waiting(broker) == 1


@pytest.mark.parametrize("number", [0, 1])
def test_the_settings_behind_a_pooler_are_taken(broker: Broker, number: int) -> None:
    block = blocks("poolers-and-managed-servers", "python")[number]
    sends_with(broker, re.sub(r"me@(pooler|server):\d+/shop", place(broker), block))


def test_a_broker_url_with_several_hosts_goes_to_the_one_that_answers(broker: Broker) -> None:
    [block] = blocks("failover", "python")
    user, _, server = place(broker).partition("@")
    sends_with(broker, block.replace("me@a:5432,b:5432/shop", f"{user}@127.0.0.1:{_free_port()},{server}"))


def sends_with(broker: Broker, settings: str) -> None:
    app = Celery(set_as_current=False)
    broker.stack.callback(app.close)
    app.conf.update({name: value for name, value in names_of(settings).items() if name.startswith("broker_")})
    app.send_task("bill", queue="main", ignore_result=True)
    assert waiting(broker) == 1
    with app.connection() as connection:
        assert connection.default_channel.node is not None


@pytest.mark.usefixtures("roles")
def test_the_roles_of_the_page_have_their_rights(broker: Broker) -> None:
    create, revoke, reader, look = blocks("roles", "sql")
    broker.query(create)
    broker.query(revoke)
    [grants] = blocks("roles", "python")
    with closing(broker.connect()) as connection, connection:
        names_of(grants, connection=connection)
    broker.query(reader)
    assert broker.query(look) == [(True, False, True)]
    broker.app.send_task("bill", queue="main")
    broker.query("SELECT durable_claim('main', 1, NULL, 900, 0, 0)")
    url = broker.url.replace("//postgres@", "//reader@")
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT lease_token IS NOT NULL FROM broker_message")  # of a lease, by a function
        assert cursor.fetchall() == [(True,)]
        with pytest.raises(InsufficientPrivilege):
            cursor.execute("SELECT payload FROM durable_message")


@pytest.mark.parametrize("page", ["poolers-and-managed-servers", "sizing"])
def test_what_a_page_asks_the_server_is_answered(broker: Broker, page: str) -> None:
    answers = [broker.query(block) for block in blocks(page, "sql")]
    assert answers[-1]


def test_limits_are_set_and_removed_as_the_page_shows(broker: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    broker.declare("billing")
    [python], [statements] = blocks("limits", "python"), blocks("limits", "sql")
    limits = "SELECT task, tenant, per_tenant, rate, burst FROM broker_limit ORDER BY id"
    with closing(broker.connect()) as connection:
        names_of(python, connection=connection)
    left = broker.query(limits)
    assert left == [(None, "acme", False, 2.5, 5), (None, None, True, 1.0, 1)]
    assert capsys.readouterr().out.count("Limit(queue='billing'") == len(left)
    first, second, look, last = filter(str.strip, statements.split(";"))
    broker.query(first)
    broker.query(second)
    assert {row[:5] for row in broker.query(look)} == {
        left[0],
        (None, None, True, 1.0, 3),
        ("shop.bill", None, False, 10.0, 1),
    }
    assert broker.query(last) == [(True,)]


def test_a_revision_of_alembic_brings_the_version_that_it_names(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    [block], look = blocks("upgrading", "python"), blocks("upgrading", "sql")[0]
    assert f"to={schema.VERSION})" in block
    with closing(broker.connect()) as connection, connection:
        alembic = ModuleType("alembic")
        vars(alembic)["op"] = SimpleNamespace(get_bind=lambda: connection)
        monkeypatch.setitem(sys.modules, "alembic", alembic)
        revision = names_of(block)
        revision["upgrade"]()
        revision["downgrade"]()
    assert broker.query(look) == [(schema.VERSION,)]


@pytest.mark.parametrize(("before", "number", "built", "taken"), [
    (5, 1, ["kombu_message_task_queue"], ["durable_message_task"]),
    (8, 2, ["durable_ready_key", "durable_waiting_key"], ["durable_ready_pkey", "durable_waiting_pkey"]),
])  # fmt: skip
def test_an_index_that_was_built_before_is_taken(
    broker: Broker, before: int, number: int, built: list[str], taken: list[str]
) -> None:
    broker.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    with closing(broker.connect()) as connection, connection:
        schema.upgrade(connection, to=before)
    for statement in filter(str.strip, blocks("upgrading", "sql")[number].split(";")):
        broker.query(statement)
    numbers = "SELECT array_agg(name::regclass::oid ORDER BY name) FROM unnest(%s) AS name"
    known = broker.value(numbers, built)
    with closing(broker.connect()) as connection, connection:
        schema.upgrade(connection)
    assert broker.value(numbers, taken) == known


def test_the_stock_names_go_when_the_last_old_worker_is_gone(broker: Broker) -> None:
    broker.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    with closing(broker.connect()) as connection, connection:
        schema.upgrade(connection, to=7)
        schema.upgrade(connection)
    names = "SELECT to_regclass('kombu_message') IS NOT NULL, to_regclass('kombu_queue') IS NOT NULL"
    assert broker.query(names) == [(True, True)]
    broker.query(blocks("upgrading", "sql")[3])
    with closing(broker.connect()) as connection, connection:
        schema.upgrade(connection)
    broker.app.send_task("bill", queue="main")
    assert (broker.query(names), waiting(broker)) == ([(False, False)], 1)


@pytest.mark.usefixtures("roles")
def test_metrics_are_read_by_a_role_that_sees_no_payload(broker: Broker, taker: Take) -> None:
    for number in range(3):
        broker.app.send_task("bill", queue="celery", task_id=str(number), headers={"tenant": "ann"})
    broker.query("INSERT INTO kombu_dead_letter (queue, reason, payload) VALUES ('celery', 'rejected', '{}')")
    taker("celery", prefetch=1).take(1)
    facts, tenants, running, dead, nodes, rates, role = blocks("metrics", "sql")
    broker.query(role)
    with closing(psycopg2.connect(broker.url.replace("//postgres@", "//monitor@"))) as monitor:
        monitor.autocommit = True
        cursor = monitor.cursor()

        def ask(query: str) -> list[tuple[Any, ...]]:
            cursor.execute(query)
            return cursor.fetchall()

        assert [(row[0], row[2], row[4], row[8]) for row in ask(facts) if row[0] == "celery"] == [("celery", 2, 1, 1)]
        assert [(row[0], row[1], row[3]) for row in ask(tenants)] == [("ann", 2, 1)]
        assert [row[:2] for row in ask(running)] == [("celery", 1)]
        assert [row[:3] for row in ask(dead)] == [("celery", "rejected", 1)]
        [(name, is_alive, queues, _, silent, held)] = ask(nodes)
        assert (name.split(":")[0], is_alive, queues, held) == (socket.gethostname(), True, ["celery"], 1)
        assert silent is not None
        assert len(ask(rates)) == 1
        for metric, head, query in QUERY.findall(blocks("metrics", "yaml")[0]):
            assert ask(query), metric
            labels, values = (re.findall(rf"{key}: \[(.*)\]", head) for key in ("key_labels", "values"))
            wanted = ", ".join((*labels, *values)).split(", ")
            assert [column.name for column in cursor.description] == wanted, metric
        for secret in ("payload FROM durable_message", "payload FROM broker_dead_letter", "* FROM kombu_dead_letter"):
            with pytest.raises(InsufficientPrivilege):
                ask(f"SELECT {secret}")
