"""`kill -9` of anything at any moment, and restarts of PostgreSQL, under load: nothing is lost, nothing is done twice.

BROKER_KILLS kills (30 in the suite) and BROKER_RESTARTS restarts (2); `make prove-broker` does 1000 and 50.  BROKER_SEED
repeats a run's choices.
"""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from statistics import quantiles
from typing import Any, NamedTuple

import pytest
from durable_harness.load import GONE, TABLES, Nodes, Publisher, children
from durable_harness.postgres import PostgresServer
from durable_harness.standing import Standing, standing
from durable_harness.waiting import wait_for

pytestmark = pytest.mark.proof

KILLS, RESTARTS = int(os.environ.get("BROKER_KILLS", "30")), int(os.environ.get("BROKER_RESTARTS", "2"))
SEED = int(os.environ.get("BROKER_SEED", random.randrange(2**32)))
KINDS = ("child", "node", "session")
PAUSES = (0.1, 0.7)  # seconds between two kills
#: Of the kills of a session, with `kill -9`: the server ends all others then, and reads its log again.
HARD_SHARE = 0.2
MANY = 2_000  # messages, of which every node has taken one
GROWTH = 25  # megabytes a node may grow in a run

#: What must never be found, whatever was killed when.
BROKEN = {
    "lost": "SELECT task_id FROM unnest(%(published)s) AS task_id WHERE task_id NOT IN (SELECT task_id FROM effects)",
    "from nowhere": """
        SELECT task_id FROM effects WHERE task_id <> ALL (%(published)s) AND task_id <> ALL (%(unknown)s)""",
    "done twice": "SELECT task_id, what FROM faults",
    "one effect, two ends": "SELECT task_id FROM passes WHERE what = 'end' GROUP BY 1 HAVING count(*) > 1",
    "still a message": "SELECT task_id FROM kombu_message",
    "a dead letter": "SELECT task_id, reason FROM kombu_dead_letter",
    "a token in two processes": "SELECT token FROM passes GROUP BY 1 HAVING count(DISTINCT pid) > 1",
    "a token after the next one": """
        SELECT task_id FROM (SELECT task_id, token, lag(token) OVER (PARTITION BY task_id ORDER BY id) AS before
                               FROM passes) AS p
         WHERE token IS DISTINCT FROM before GROUP BY task_id HAVING count(*) > count(DISTINCT token)""",
    "a node that is not": "SELECT name FROM kombu_node",
}
AGAIN = """
    SELECT extract(epoch FROM next.at)
      FROM (SELECT DISTINCT ON (task_id) * FROM passes
             WHERE pid = ANY (%s) AND at < to_timestamp(%s) AND at > to_timestamp(%s) - interval '60 s'
             ORDER BY task_id, id DESC) AS last,
           LATERAL (SELECT * FROM passes WHERE task_id = last.task_id AND id > last.id AND token <> last.token
                     ORDER BY id LIMIT 1) AS next
     WHERE last.what = 'start'"""


class Kill(NamedTuple):
    """What was killed, when, and the children that went with it."""

    kind: str
    at: float
    pids: list[int]


@pytest.fixture
def broker(tmp_path: Any) -> Iterator[Standing]:
    """On a server that keeps PostgreSQL's defaults of what is on disk when."""
    server = PostgresServer(fsync="on", synchronous_commit="on")
    try:
        server.start()
        with standing(server, tmp_path) as broker:
            broker.query(TABLES)
            yield broker
    finally:
        server.remove()


def patiently(broker: Standing, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """Ask, however often the server goes away meanwhile."""
    while True:
        try:
            return broker.query(statement, *parameters)
        except GONE:
            time.sleep(0.05)


def kill(broker: Standing, nodes: Nodes, dice: random.Random) -> Kill | None:
    """Something, without a word."""
    kind = dice.choice(KINDS)
    if kind == "node":
        worker, at = dice.choice(nodes.workers[1:]), time.time()
        return Kill(kind, at, nodes.kill(worker))
    if kind == "child":
        living = children(dice.choice(nodes.workers))
        if not living:
            return None
        doomed, at = dice.choice(living), time.time()
        with suppress(ProcessLookupError):
            os.kill(doomed, signal.SIGKILL)
        return Kill(kind, at, [doomed])
    sessions = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    found = sorted(patiently(broker, sessions))
    if not found:  # the server has just come back
        return None
    (doomed,), hard = dice.choice(found), dice.random() < HARD_SHARE
    if hard:
        with suppress(ProcessLookupError):
            os.kill(doomed, signal.SIGKILL)
    else:
        patiently(broker, "SELECT pg_terminate_backend(%s)", doomed)
    return Kill("session -9" if hard else "session", time.time(), [])


def drain(broker: Standing, nodes: Nodes, publisher: Publisher) -> float:
    """Until nothing is left.  -> seconds"""
    publisher.stop()
    began = time.monotonic()
    wait_for(lambda: not patiently(broker, "SELECT 1 FROM kombu_message LIMIT 1"), "an empty queue", seconds=90)
    seconds = time.monotonic() - began
    wait_for(lambda: not nodes.mend() and nodes.ready())
    return seconds


def check(broker: Standing, nodes: Nodes, publisher: Publisher) -> None:
    """Every node still works and stops; then look for what must never be."""
    assert nodes.dead() == []
    working = {worker.process.pid for worker in nodes.workers}
    since = patiently(broker, "SELECT coalesce(max(id), 0) FROM passes")[0][0]
    extra = Publisher(broker, random.Random(SEED), rate=100)
    extra.start()
    at_work = "SELECT DISTINCT node FROM passes WHERE id > %s"
    # Counted in messages: a machine that stands still for a minute publishes nothing.
    while idle := working - {node for (node,) in broker.query(at_work, since)}:
        assert extra.is_alive(), repr(extra.error)
        if len(extra.published) > MANY:
            pytest.fail("\n".join(worker.text for worker in nodes.workers if worker.process.pid in idle))
        time.sleep(0.05)  # between two looks
    drain(broker, nodes, extra)
    assert nodes.stop() == [0] * len(nodes.workers)
    assert nodes.left_over() == []
    published = sorted(publisher.published | extra.published)
    given = {"published": published, "unknown": sorted(publisher.unknown | extra.unknown)}
    found = {name: rows for name, query in BROKEN.items() if (rows := named(broker, query, given))}
    if found:
        print(*(worker.text for worker in nodes.used), sep="\n")
    assert found == {}


def named(broker: Standing, query: str, given: dict[str, Any]) -> list[Any]:
    connection = broker.connect()
    with connection, connection.cursor() as cursor:
        cursor.execute(query, given)
        return list(cursor.fetchall())


def tell_pauses(broker: Standing, kills: list[Kill]) -> None:
    """How long what ran in a killed process waited for its next start."""
    for kind in ("child", "node"):
        waited = [
            float(again) - one.at
            for one in kills
            if one.kind == kind
            for (again,) in broker.query(AGAIN, one.pids, one.at, one.at)
        ]
        if len(waited) > 1:
            percent = quantiles(waited, n=100, method="inclusive")
            figures = f"p50 {percent[49]:.2f} s, p99 {percent[98]:.2f} s, max {max(waited):.2f} s"
            print(f"killed {kind}: {len(waited)} running tasks started again after {figures}")


@pytest.mark.timeout(60 + 3 * KILLS)
def test_kills_of_nodes_children_and_sessions_lose_nothing_and_do_nothing_twice(broker: Standing) -> None:
    print(f"\nseed {SEED}, {KILLS} kills")
    dice = random.Random(SEED)
    nodes, publisher = Nodes(broker, 3), Publisher(broker, random.Random(SEED + 1), rate=15)
    publisher.start()
    wait_for(nodes.ready)
    wait_for(lambda: len(publisher.published) > 60)
    kills: list[Kill] = []
    before, mended = nodes.megabytes(), 0
    while len(kills) < KILLS:
        time.sleep(dice.uniform(*PAUSES))
        if one := kill(broker, nodes, dice):
            kills.append(one)
            if len(kills) % 100 == 0:
                print(f"{len(kills)} kills, {len(publisher.published)} published")
        mended += nodes.mend()
        assert nodes.dead() == []
    seconds = drain(broker, nodes, publisher)
    after = nodes.megabytes()
    print(
        f"{dict(Counter(one.kind for one in kills))}, {mended} nodes ended by it; drained {seconds:.1f} s after the last one"
    )
    print(f"published {len(publisher.published)}, again {publisher.repeated}, unknown {len(publisher.unknown)}")
    print(f"a node's memory: {before:.0f} MB before, {after:.0f} MB after")
    tell_pauses(broker, kills)
    check(broker, nodes, publisher)
    assert after - before < GROWTH


@pytest.mark.timeout(60 + 20 * RESTARTS)
def test_restarts_of_postgresql_lose_no_publish_and_need_no_hand(broker: Standing) -> None:
    print(f"\nseed {SEED}, {RESTARTS} restarts")
    dice = random.Random(SEED)
    nodes, publisher = Nodes(broker, 2), Publisher(broker, random.Random(SEED + 1), rate=15)
    publisher.start()
    wait_for(nodes.ready)
    for restart in range(RESTARTS):
        time.sleep(dice.uniform(0.5, 1.5))  # of load between two restarts
        broker.server.stop("immediate" if restart % 2 else "fast")
        promised = sorted(publisher.published)
        broker.server.start()
        kept = "SELECT task_id FROM kombu_message UNION ALL SELECT task_id FROM effects"
        assert set(promised) - {task_id for (task_id,) in patiently(broker, kept)} == set()
        assert nodes.dead() == []
    seconds = drain(broker, nodes, publisher)
    print(f"drained {seconds:.1f} s after the last restart")
    print(f"published {len(publisher.published)}, again {publisher.repeated}, unknown {len(publisher.unknown)}")
    check(broker, nodes, publisher)
    assert [worker.text.count("ready.") for worker in nodes.used] == [1, 1]
