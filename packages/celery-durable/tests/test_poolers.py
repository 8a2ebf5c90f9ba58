"""Behind pgbouncer in transaction mode, where two statements of a client may meet two sessions of the server."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg2
import pytest
from celery import Celery
from celery_durable.publish import producer_in
from durable_harness.broker import Worker
from durable_harness.pgbouncer import PROGRAM, PgBouncer
from durable_harness.postgres import PostgresServer
from durable_harness.standing import TASKS, Standing, standing
from durable_harness.waiting import wait_for
from kombu import Connection, pools
from sqlalchemy import create_engine

pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="needs pgbouncer: apt-get install pgbouncer (the service itself may stay off)"
)
#: Until a test ends them.
LONG = {"lease_seconds": 60}
POLLED = {"listen": False, "poll_seconds": 0.2, "lease_seconds": 1, "heartbeat_seconds": 0.3}


@pytest.fixture(scope="module")
def broker(server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    with standing(server, tmp_path_factory.mktemp("poolers")) as broker:
        yield broker


@pytest.fixture(scope="module")
def pooled(broker: Standing) -> Iterator[str]:
    """Its database through the pooler.  One session for all: what one client leaves in it, the next one finds."""
    pooler = PgBouncer(broker.server.port, size=1)
    try:
        pooler.start()
        yield pooler.url(broker.url.rpartition("/")[2])
    finally:
        pooler.remove()


@pytest.fixture
def worker(broker: Standing, pooled: str) -> Iterator[Any]:
    """Starts one with these options and a window of one message."""
    started = []

    def start(**options: Any) -> Worker:
        given = {"CELERY_BROKER_URL": f"durable+{pooled}", "BROKER_TEST_OPTIONS": json.dumps(options)}
        started.append(broker.worker("-c", "1", "-I", TASKS, BROKER_TEST_MULTIPLIER="1", **given))
        return started[-1]

    yield start
    for one in started:
        one.clear()


@pytest.fixture
def app(pooled: str) -> Iterator[Celery]:
    app = Celery(set_as_current=False, broker=f"durable+{pooled}")
    app.conf.update(task_ignore_result=True, task_default_queue="main", task_publish_retry=False)
    yield app
    app.close()
    pools.reset()


def send(app: Celery, name: str, *args: Any, **options: Any) -> str:
    return str(app.send_task(f"{TASKS}.{name}", args=args, **options).id)


def left_behind(pooled: str) -> list[tuple[Any, ...]]:
    """What the shared session has besides the defaults."""
    connection = psycopg2.connect(pooled)
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()),"
            " (SELECT count(*) FROM pg_listening_channels()), current_setting('synchronous_commit')"
        )
        found = cursor.fetchall()
    connection.close()
    return found


def test_a_worker_that_polls_leaves_nothing_in_the_session_it_shares(
    broker: Standing, pooled: str, worker: Any, app: Celery
) -> None:
    polling = worker(**POLLED | LONG)
    sent = [send(app, "report", number) for number in range(10)] + [send(app, "retried", 2, countdown=0.3)]
    for task_id in sent:
        broker.is_over(task_id)
    assert [len(broker.told(task_id)) for task_id in sent] == [1] * 10 + [3]
    assert left_behind(pooled) == [(0, 0, "on")]
    assert polling.stop() == 0
    assert left_behind(pooled) == [(0, 0, "on")]


@pytest.mark.proof
def test_a_killed_worker_that_polled_is_noticed_by_the_end_of_its_leases(
    broker: Standing, worker: Any, app: Celery
) -> None:
    doomed = worker(**POLLED | LONG)
    task_id = send(app, "sleeps", 5)
    wait_for(lambda: broker.told(task_id))
    doomed.kill_tree()
    broker.query("UPDATE kombu_message SET visible_at = now() WHERE task_id = %s", task_id)
    worker(**POLLED | LONG)
    broker.is_over(task_id)
    assert [one["deliveries"] for one in broker.told(task_id, "start")] == [1, 2]
    assert len(broker.told(task_id, "end")) == 1


@pytest.mark.proof
def test_with_a_direct_url_workers_are_woken_and_a_killed_one_is_noticed_at_once(
    broker: Standing, pooled: str, worker: Any, app: Celery
) -> None:
    direct = {"direct_url": broker.url, "poll_seconds": 60, "lease_seconds": 60}
    doomed, _ = worker(**direct), worker(**direct)
    sent = [send(app, "sleeps", 5) for _ in range(2)]
    wait_for(lambda: all(broker.told(task_id) for task_id in sent))
    doomed.kill_tree()
    for task_id in sent:
        broker.is_over(task_id, seconds=50)
    assert sorted(len(broker.told(task_id, "start")) for task_id in sent) == [1, 2]
    assert left_behind(pooled) == [(0, 0, "on")]


@pytest.mark.proof
def test_a_transaction_through_the_pooler_publishes_with_its_commit_only(
    broker: Standing, pooled: str, app: Celery
) -> None:
    engine = create_engine(pooled.replace("postgresql:", "postgresql+psycopg2:"))
    with engine.connect() as connection, ThreadPoolExecutor(1) as pool:
        # its queue is new, and the pooler has no second session for it: it would let it wait for two minutes
        undone = pool.submit(send, app, "report", producer=producer_in(connection), queue="quiet").result(timeout=60)
        connection.rollback()
        done = send(app, "report", producer=producer_in(connection), queue="quiet", countdown=60)
        assert not broker.waits(done)
        connection.commit()
    engine.dispose()
    assert (broker.waits(undone), broker.waits(done)) == (False, True)


def test_session_settings_in_the_url_are_refused_by_the_pooler_and_it_says_so(pooled: str) -> None:
    url = f"durable+{pooled}?options=-csearch_path%3Dpublic"
    with Connection(url) as refused, pytest.raises(Exception, match=r"parameter.*options"):
        refused.ensure_connection(max_retries=1, interval_start=0)
