"""A Django project on the broker: its migrations, its transactions and its models, with both drivers."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import celery_durable
import pytest
from celery_durable import schema
from durable_harness.django_process import Shop
from durable_harness.postgres import PostgresServer
from durable_harness.waiting import wait_for

MIGRATIONS = Path(celery_durable.__file__).parent / "contrib" / "django" / "migrations"
WAITING = "SELECT task_id FROM broker_message ORDER BY task_id"


@pytest.fixture(scope="module", params=["psycopg", "psycopg, bound", "psycopg2"])
def shop(
    request: pytest.FixtureRequest, server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    """Migrated from nothing."""
    with ExitStack() as stack:
        folder = tmp_path_factory.mktemp(f"shop_{request.param.replace(', ', '_')}")
        shop = Shop.made(server, folder, stack, request.param)
        shop.does("from django.core.management import call_command; call_command('migrate', verbosity=0)")
        yield shop


@pytest.fixture
def quiet(shop: Shop) -> Shop:
    """Without messages and rows of earlier tests."""
    shop.broker.query("DELETE FROM broker_message; DELETE FROM django_shop_run; DELETE FROM django_shop_order")
    shop.broker.declare("main")
    return shop


def waiting(shop: Shop) -> list[str]:
    return [task_id for (task_id,) in shop.broker.query(WAITING)]


def test_the_newest_migration_brings_the_newest_version() -> None:
    names = sorted(path.stem for path in MIGRATIONS.glob("[0-9]*.py"))
    versions = [int(found[1]) for name in names if (found := re.search(r"_broker_version_(\d+)$", name))]
    assert versions[-1] == schema.VERSION, "add a migration that names the new version"
    assert versions == sorted(versions)
    for name, version in zip(names, versions, strict=True):
        assert f"\nVERSION = {version}\n" in (MIGRATIONS / f"{name}.py").read_text()


def test_migrate_makes_the_tables_and_makemigrations_has_nothing_to_add(shop: Shop) -> None:
    assert shop.does("from django.db.backends.postgresql.psycopg_any import is_psycopg3 as answer") == (
        shop.driver != "psycopg2"
    )
    assert shop.broker.value("SELECT version FROM kombu_schema") == schema.VERSION
    shop.does("from django.core.management import call_command as do; do('makemigrations', check=True, verbosity=0)")
    shop.does("""
        from django.core.management import call_command
        call_command("migrate", "celery_durable", "zero", verbosity=0)
        call_command("migrate", "celery_durable", verbosity=0)
        call_command("check", fail_level="WARNING")
    """)
    assert shop.broker.value("SELECT version FROM kombu_schema") == schema.VERSION


def test_a_rollback_leaves_no_message(quiet: Shop) -> None:
    quiet.does("""
        try:
            with transaction.atomic():
                Order.objects.create(name="mug")
                bill.delay("mug")
                answer = BrokerMessage.objects.count()
                raise ZeroDivisionError
        except ZeroDivisionError:
            pass
        assert answer == 1, "in the transaction itself it is there"
    """)
    assert waiting(quiet) == []


def test_a_commit_publishes_once_and_not_before(quiet: Shop) -> None:
    seen = quiet.does("""
        import psycopg2
        other = psycopg2.connect(connection.get_connection_params()["dbname"] and __import__("os").environ["SHOP_DATABASE"])
        other.autocommit = True
        look = other.cursor()
        def seen():
            look.execute("SELECT count(*) FROM broker_message")
            return look.fetchone()[0]
        with transaction.atomic():
            Order.objects.create(name="mug")
            bill.apply_async(("mug",), task_id="one")
            bill.apply_async(("mug",), task_id="late", countdown=3600, headers={"tenant": "ann", "unique_key": "mug"})
            inside = seen()
        answer = inside, seen()
        other.close()
    """)
    assert seen == [0, 2]
    assert waiting(quiet) == ["late", "one"]
    assert quiet.broker.query(
        "SELECT group_name, unique_key, delay_reason FROM broker_message WHERE task_id = 'late'"
    ) == [("ann", "mug", "eta")]


def test_a_savepoint_that_is_rolled_back_takes_its_message_along(quiet: Shop) -> None:
    quiet.does("""
        with transaction.atomic():
            bill.apply_async(("kept",), task_id="kept")
            try:
                with transaction.atomic():
                    bill.apply_async(("gone",), task_id="gone")
                    raise ZeroDivisionError
            except ZeroDivisionError:
                pass
    """)
    assert waiting(quiet) == ["kept"]


def test_without_a_transaction_and_in_a_block_alone_it_is_sent_at_once(quiet: Shop) -> None:
    quiet.does("""
        bill.apply_async(("mug",), task_id="one")
        try:
            with transaction.atomic():
                with alone():
                    bill.apply_async(("mug",), task_id="two")
                raise ZeroDivisionError
        except ZeroDivisionError:
            pass
    """)
    assert waiting(quiet) == ["one", "two"]


def test_a_chain_goes_where_the_producer_is_that_it_was_given(quiet: Shop) -> None:
    """Also in an open transaction of Django."""
    quiet.does("""
        import psycopg2
        from celery import chain, chord, group
        from celery_durable.publish import producer_in
        other = psycopg2.connect(__import__("os").environ["SHOP_DATABASE"])
        with transaction.atomic():
            chain(bill.si("first"), bill.si("second")).apply_async(producer=producer_in(other))
            group(bill.s("a"), chain(bill.si("b"), bill.si("c"))).apply_async(producer=producer_in(other))
        other.rollback()
        other.close()
    """)
    assert waiting(quiet) == []


def test_groups_and_tasks_sent_by_name_join_as_well(quiet: Shop) -> None:
    program = """
        from celery import chain, group
        try:
            with transaction.atomic():
                group(bill.s(str(number)) for number in range(3))()
                app.send_task("django_shop.tasks.bill", ("mug",))
                chain(bill.si("first"), bill.si("second"))()
                answer = BrokerMessage.objects.count()
                FATE
        except ZeroDivisionError:
            pass
    """
    assert quiet.does(program.replace("FATE", "raise ZeroDivisionError")) == 5
    assert waiting(quiet) == []
    assert quiet.does(program.replace("FATE", "pass")) == 5
    assert len(waiting(quiet)) == 5


#: Collects the ids of `task-sent` from another thread, from the moment on that it has announced itself.
WATCH = """
import threading, time
seen = []
def watch():
    with app.connection_for_read() as other:
        app.events.Receiver(other, handlers={"task-sent": lambda event: seen.append(event["uuid"])}).capture(2, 60)
watcher = threading.Thread(target=watch)
watcher.start()
with connection.cursor() as cursor:
    announced = 0
    while not announced:
        time.sleep(0.05)
        cursor.execute("SELECT count(*) FROM kombu_broadcast WHERE exchange = ''")
        [(announced,)] = cursor.fetchall()
"""


def test_the_event_of_a_sent_task_follows_the_commit(quiet: Shop) -> None:
    send = """
app.conf.task_send_sent_event = True
try:
    with transaction.atomic():
        bill.apply_async(("mug",), task_id="gone")
        raise ZeroDivisionError
except ZeroDivisionError:
    pass
with transaction.atomic():
    bill.apply_async(("mug",), task_id="kept")
bill.apply_async(("mug",), task_id="alone")
app.conf.task_send_sent_event = False
watcher.join(60)
answer = seen
"""
    assert quiet.does(WATCH + send) == ["kept", "alone"]
    assert waiting(quiet) == ["alone", "kept"]


@pytest.mark.proof
def test_a_worker_runs_what_was_committed_and_retries_and_replaces_within_a_transaction(quiet: Shop) -> None:
    worker = quiet.worker()
    quiet.does("""
        for number in range(20):
            try:
                with transaction.atomic():
                    Order.objects.create(name=f"order {number}")
                    bill.delay(f"order {number}")
                    if number % 2:
                        raise ZeroDivisionError
            except ZeroDivisionError:
                pass
        retries.delay("retried")
        is_replaced.delay("replaced")
    """)
    runs = "SELECT name, saw_the_order FROM django_shop_run ORDER BY name"
    wait_for(lambda: len(quiet.broker.query(runs)) == 13 and waiting(quiet) == [])
    others = [("replaced", False), ("replaced, again", False), ("retried", False)]
    assert quiet.broker.query(runs) == sorted([*((f"order {number}", True) for number in range(0, 20, 2)), *others])
    assert worker.stop() == 0


@pytest.mark.proof
def test_what_a_task_sends_about_itself_waits_for_the_block_that_holds_its_message(quiet: Shop) -> None:
    worker = quiet.worker()
    names = ["commits", "deletes", "fails", "replaces", "retries", "starts"]
    quiet.does(f"for name in {names}: holds_its_message.apply_async((name,), task_id=name)")
    wait_for(lambda: waiting(quiet) == [], "the end of all tasks")
    runs = [name for (name,) in quiet.broker.query("SELECT name FROM django_shop_run ORDER BY name")]
    assert runs == sorted([*names, "commits, first"])
    assert worker.stop() == 0


def test_models_read_the_views_and_refuse_to_write(quiet: Shop) -> None:
    quiet.broker.query("INSERT INTO kombu_group SELECT id, 'ann', now(), 30 FROM broker_queue WHERE name = 'main'")
    found = quiet.does("""
        from django.db import NotSupportedError
        bill.apply_async(("mug",), task_id="one", headers={"tenant": "ann"})
        [message] = BrokerMessage.objects.select_related("queue")
        [group] = BrokerGroup.objects.filter(queue__name="main")
        [facts] = BrokerFacts.objects.all()
        refused = 0
        for act in (message.save, message.delete, BrokerMessage.objects.all().delete,
                    lambda: BrokerQueue.objects.update(name="x"), lambda: BrokerQueue.objects.create(id=7, name="x")):
            try:
                act()
            except NotSupportedError:
                refused += 1
        answer = [message.task_id, message.queue.name, message.group_name, group.pk[1], facts.parked, list(facts.estimated),
                  list(BrokerDeadLetter.objects.all()), list(BrokerNode.objects.all()), refused]
    """)
    quiet.broker.query("DELETE FROM kombu_group")
    assert found == ["one", "main", "ann", "ann", 1, [], [], [], 5]


def test_each_state_of_a_message_has_a_model(quiet: Shop) -> None:
    quiet.does("bill.apply_async(('mug',), task_id='leased')")
    quiet.broker.query("SELECT durable_claim('main', 1, NULL, 900, 0, 0)")
    found = quiet.does("""
        bill.apply_async(("mug",), task_id="ready", headers={"tenant": "ann"})
        bill.apply_async(("mug",), task_id="waiting", countdown=60)
        [ready], [waiting], [lease] = (
            kind.objects.filter(queue__name="main").select_related("message")
            for kind in (BrokerReady, BrokerWaiting, BrokerLease))
        answer = [ready.message.task_id, ready.message.tenant, ready.tenant, waiting.message.task_id, waiting.reason,
                  waiting.tenant, lease.message.task_id, lease.token == lease.message.lease_token, lease.node_id]
    """)
    assert found == ["ready", "ann", "ann", "waiting", "eta", "", "leased", True, None]


def test_another_url_of_the_same_database_joins_and_one_of_another_database_is_warned_of(shop: Shop) -> None:
    address = shop.broker.url.replace("postgresql:", "durable:")
    found = shop.does(f"""
        from celery_durable.contrib.django.aliases import database_of
        from celery_durable.contrib.django.broker_check import check_broker
        own, answer = app.conf.broker_write_url, []
        for url in ({address!r}, {address.replace("durable:", "durable+postgresql:")!r}, {address!r} + "_2", "amqp://"):
            app.conf.broker_write_url = url
            answer.append([database_of(app), [one.id for one in check_broker()]])
        app.conf.broker_write_url = own
    """)
    assert found == [["default", []], ["default", []], [None, ["celery_durable.W001"]], [None, []]]


def test_the_check_finds_what_cannot_be_used_and_what_does_not_join(shop: Shop) -> None:
    address = shop.broker.url.replace("postgresql:", "durable:")
    found = shop.does(f"""
        from celery import Celery
        from celery_durable.contrib.django.broker_check import check_broker
        own, answer = app.conf.broker_write_url, []
        for url in ("durable-django://typo", "nobroker://x", {address!r} + ";" + {address!r} + "x"):
            app.conf.broker_write_url = url
            answer.append([(one.id, one.msg) for one in check_broker()])
        app.conf.broker_write_url = own
        plain = Celery("plain", broker=own)
        answer.append([(one.id, one.msg) for one in check_broker()])
        app.set_current()
    """)
    ids = [[name for name, _ in one] for one in found]
    assert ids == [["celery_durable.E001"], ["celery_durable.E001"], ["celery_durable.E001"], ["celery_durable.W002"]]
    assert "DATABASES has no 'typo'" in found[0][0][1]


def test_of_several_aliases_of_the_broker_the_one_in_a_transaction_is_joined(quiet: Shop) -> None:
    address = quiet.broker.url.replace("postgresql:", "durable:")
    found = quiet.does(f"""
        from celery_durable.contrib.django.aliases import database_of
        from celery_durable.contrib.django.broker_check import check_broker
        own, given = app.conf.broker_write_url, connections.settings
        app.conf.broker_write_url = {address!r}
        broken = given["default"] | {{"NAME": "x" * 70}}
        connections.settings = {{"broken": broken, "replica": given["default"], **given}}
        answer = [database_of(app), [one.id for one in check_broker()]]
        for alias in ("default", "replica"):
            with transaction.atomic(using=alias):
                answer.append(database_of(app))
                bill.apply_async(("mug",), task_id=alias)
                transaction.set_rollback(True, using=alias)
        with transaction.atomic(using="replica"), transaction.atomic():
            answer.append(database_of(app))
        connections["replica"].close()
        app.conf.broker_write_url, connections.settings = own, given
    """)
    assert found == ["default", ["celery_durable.W003"], "default", "replica", "default"]
    assert waiting(quiet) == []


def test_without_autocommit_a_message_waits_for_the_commit_and_the_rest_of_a_chain_does_not(quiet: Shop) -> None:
    quiet.does("""
        connection.close()
        connection.settings_dict["AUTOCOMMIT"] = False
        try:
            bill.apply_async(("mug",), task_id="gone")
            transaction.rollback()
            bill.apply_async(("mug",), task_id="kept")
            transaction.commit()
            from celery.app.trace import trace_task
            request = {"id": "one", "chain": [dict(bill.si("mug").set(task_id="next"))], "retries": 0,
                       "delivery_info": {"exchange": "", "routing_key": "main"}, "ignore_result": True}
            trace_task(bill, "one", ("mug",), {}, request=request, app=app)
            connection.close()  # as Celery does after a task
        finally:
            connection.settings_dict["AUTOCOMMIT"] = True
            connection.close()
    """)
    assert waiting(quiet) == ["kept", "next"]


def test_a_block_in_a_handler_after_the_run_is_joined(quiet: Shop) -> None:
    quiet.does("""
        from celery.app.trace import trace_task
        def on_success(*_):
            with transaction.atomic():
                bill.apply_async(("mug",), task_id="gone")
                transaction.set_rollback(True)
            bill.apply_async(("mug",), task_id="kept")
        task = app.tasks[bill.name]
        type(task).on_success, task.__trace__ = on_success, None
        request = {"id": "one", "retries": 0, "delivery_info": {}, "ignore_result": True}
        trace_task(task, "one", ("mug",), {}, request=request, app=app)
        del type(task).on_success
        task.__trace__ = None
    """)
    assert waiting(quiet) == ["kept"]


def test_an_event_that_cannot_be_sent_fails_nothing_that_was_committed(quiet: Shop) -> None:
    assert quiet.does("""
        answer, pool, connections = [], type(app).producer_pool, app.producer_pool.connections
        app.conf.task_send_sent_event = True
        broken = type("Pool", (), {"acquire": lambda pool, **_: 1 / 0, "connections": connections})()
        type(app).producer_pool = property(lambda app: broken)
        try:
            with transaction.atomic():
                bill.apply_async(("mug",), task_id="one")
                transaction.on_commit(lambda: answer.append("mail"))
        finally:
            type(app).producer_pool = pool
            app.conf.task_send_sent_event = False
    """) == ["mail"]
    assert waiting(quiet) == ["one"]


def test_a_test_of_the_project_has_its_broker_in_the_test_database(shop: Shop) -> None:
    assert shop.does("""
        name = connection.settings_dict["NAME"]
        connection.settings_dict["NAME"] = "test_" + name
        answer = f"/test_{name}?" in app.connection_for_write().transport.url
        connection.settings_dict["NAME"] = name
    """)
