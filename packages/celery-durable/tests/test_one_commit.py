"""A group is published in one commit, whoever sends it and however long it is."""

import subprocess
import sys
import threading
from typing import Any

import psycopg2
import pytest
from celery import Celery, chain, chord, group
from celery.canvas import chunks
from celery.signals import before_task_publish
from celery_durable import DuplicateKey
from celery_durable.database import Database
from celery_durable.publish import producer_in
from durable_harness.broker import PREFIX, Broker
from durable_harness.versions import needs_batches
from kombu.exceptions import OperationalError

pytestmark = needs_batches

#: How many messages, in how many transactions.
STORED = "SELECT count(*), count(DISTINCT xmin::text) FROM durable_message"


@pytest.fixture
def work(broker: Broker) -> Any:
    return lambda *args, **options: broker.app.signature(f"{PREFIX}.work", args=args, options=options)


@pytest.mark.proof
def test_a_group_is_one_commit_also_beyond_one_insert(broker: Broker, work: Any) -> None:
    result = group(work(number) for number in range(2500)).apply_async()
    assert len(result.results) == 2500
    assert broker.query(STORED) == [(2500, 1)]


def test_chunks_are_one_commit(broker: Broker, work: Any) -> None:
    chunks(work(), ((number,) for number in range(100)), 10, app=broker.app).apply_async()
    assert broker.query(STORED) == [(10, 1)]


def test_the_header_of_a_chord_is_one_commit_with_its_nested_groups(broker: Broker, work: Any) -> None:
    broker.app.conf.result_backend = "cache+memory://"
    inner = group(work(number) for number in range(5))
    chord([work(1), chain(work(2), work(3)), inner], work()).apply_async()
    # The task that waits for a chord without a counter in its backend is sent before.
    headers = (
        "SELECT count(*), count(DISTINCT xmin::text) FROM durable_message WHERE payload::json #>> '{headers,task}' = %s"
    )
    assert broker.query(headers, f"{PREFIX}.work") == [(7, 1)]


def test_a_group_in_the_caller_s_transaction_is_gone_after_a_rollback(broker: Broker, work: Any) -> None:
    connection = broker.connect()
    for end in (connection.rollback, connection.commit):
        group(work(number) for number in range(20)).apply_async(producer=producer_in(connection))
        assert broker.left() == 0
        end()
    connection.close()
    assert broker.query(STORED) == [(20, 1)]


@pytest.mark.parametrize("kind", ["chain", "chord", "chain of a group", "group of chains"])
def test_a_canvas_stays_in_the_caller_s_transaction(broker: Broker, work: Any, kind: str) -> None:
    broker.app.conf.result_backend = "cache+memory://"
    made = {
        "chain": chain(work(1), work(2)),
        "chord": chord([work(1), chain(work(2), work(3))], work()),
        "chain of a group": chain(group(work(1), work(2)), work(3)),
        "group of chains": group(chain(work(1), work(2)), chain(work(3), work(4))),
    }[kind]
    connection = broker.connect()
    made.apply_async(producer=producer_in(connection))
    assert broker.left() == 0
    connection.rollback()
    assert broker.left() == 0
    made.apply_async(producer=producer_in(connection))
    connection.commit()
    connection.close()
    assert broker.left() > 0
    work(9).apply_async()
    assert broker.query("SELECT count(DISTINCT xmin::text) FROM durable_message") == [(2,)]


def test_of_a_group_with_a_held_key_nothing_is_stored(broker: Broker, work: Any) -> None:
    broker.send("work", headers={"unique_key": "k"})
    tasks = [work(number, headers={"unique_key": key}) for number, key in enumerate("ijkl")]
    with pytest.raises(DuplicateKey):
        group(tasks).apply_async()
    assert broker.left() == 1
    group(tasks[:2]).apply_async()
    assert broker.left() == 3


def test_a_task_that_cannot_be_built_stores_nothing_of_its_group(broker: Broker, work: Any) -> None:
    with pytest.raises(Exception, match="object"):
        group(work(1), work(object())).apply_async()
    assert broker.left() == 0


def test_a_session_that_is_lost_before_the_commit_costs_nothing(broker: Broker, work: Any) -> None:
    group(work(0)).apply_async()  # opens the session of the pool
    broker.query("""
        SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
         WHERE backend_type = 'client backend' AND datname = current_database() AND pid <> pg_backend_pid()""")
    group(work(number) for number in range(20)).apply_async(retry=True)
    assert broker.query(STORED) == [(21, 2)]


def test_a_commit_whose_answer_is_lost_is_not_made_twice(broker: Broker, work: Any, monkeypatch: Any) -> None:
    run, lost = Database.run, []

    def commits_and_fails(self: Database, statement: str, parameters: Any = None) -> Any:
        rows = run(self, statement, parameters)
        if statement == "COMMIT" and not lost:
            lost.append(statement)
            self.close()
            raise psycopg2.OperationalError("the answer was lost")
        return rows

    monkeypatch.setattr(Database, "run", commits_and_fails)
    group(work(number) for number in range(20)).apply_async(retry=True)
    assert lost
    assert broker.query(STORED) == [(20, 1)]


@pytest.mark.proof
def test_without_a_server_the_error_is_kombu_s(broker: Broker, work: Any) -> None:
    broker.app.conf.broker_url = "durable://nobody@127.0.0.1:1/nothing"
    with pytest.raises(OperationalError):
        group(work(number) for number in range(3)).apply_async(retry=False)


@pytest.mark.proof
def test_other_transports_publish_as_before(work: Any) -> None:
    script = """
import celery_durable.transport
from celery import Celery, group
app = Celery(broker="memory://")
group(app.signature("work", (n,)) for n in range(3)).apply_async()
with app.connection_for_read() as connection:
    print(connection.default_channel._size("celery"))
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout == "3\n"


@pytest.mark.proof
@pytest.mark.parametrize("first", ["import celery_durable\nimport celery", "import celery\nimport celery_durable"])
def test_the_first_group_of_a_process_is_one_commit(broker: Broker, first: str) -> None:
    script = f"""
{first}
app = celery.Celery(broker={broker.url.replace("postgresql:", "durable:")!r})
celery.group(app.signature("work", (n,)) for n in range(3)).apply_async()
"""
    subprocess.run([sys.executable, "-c", script], check=True)
    assert broker.query(STORED) == [(3, 1)]


def test_a_handler_of_a_signal_sends_with_its_own_producer(broker: Broker, work: Any) -> None:
    """Whether its task has the same app or another one, and whatever the chain was given."""
    other = Celery(broker="memory://", set_as_current=False)
    sent: list[str] = []

    def send(sender: str, **_: Any) -> None:
        if sender == f"{PREFIX}.work":
            sent.append(other.send_task("elsewhere").id)
            broker.app.send_task(f"{PREFIX}.noted", ignore_result=True)

    before_task_publish.connect(send)
    connection = broker.connect()
    try:
        chain(work(1), work(2)).apply_async(producer=producer_in(connection))
        group(chain(work(1), work(2)), work(3)).apply_async(producer=producer_in(connection))
    finally:
        before_task_publish.disconnect(send)
        connection.rollback()
        connection.close()
    assert len(sent) == 3
    assert broker.query("SELECT payload::json #>> '{headers,task}' FROM durable_message") == [(f"{PREFIX}.noted",)] * 3
    with other.connection_for_read() as memory:
        assert memory.default_channel._size("celery") == 3


def test_a_thread_that_sends_one_task_while_another_builds_a_group_sends_it(
    broker: Broker, work: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    with broker.app.connection_for_write() as connection:
        producer = broker.app.amqp.Producer(connection, auto_declare=False)
        lookup = producer.channel._lookup

        def meets_another_thread(*given: Any) -> Any:
            monkeypatch.setattr(producer.channel, "_lookup", lookup)
            other = threading.Thread(target=lambda: sent.append(work(0).apply_async(producer=producer).id))
            other.start()
            other.join()
            return lookup(*given)

        monkeypatch.setattr(producer.channel, "_lookup", meets_another_thread)
        with pytest.raises(Exception, match="object"):
            group(work(1), work(object())).apply_async(producer=producer)
    assert broker.query("SELECT task_id FROM durable_message") == [(sent[0],)]


def test_a_group_is_two_statements_around_one(broker: Broker, work: Any, monkeypatch: Any) -> None:
    group(work(0), work(1)).apply_async()
    run, seen = Database.run, []
    monkeypatch.setattr(Database, "run", lambda self, *given: [seen.append(given[0].split()[0]), run(self, *given)][1])
    group(work(2), work(3)).apply_async()
    assert seen == ["BEGIN", "SELECT", "COMMIT"]
