"""An old transaction keeps every dead row and index entry; claims must not read them over and over."""

import pytest
from celery_durable.options import Options
from celery_durable.statements import statements
from celery_durable.template import send_many
from durable_harness.broker import PREFIX, Broker
from durable_harness.plans import pages
from durable_harness.taker import Taker

SQL = statements(Options(listen=False))
MESSAGES = 6000
#: What a claim or a publish reads in any case, in pages: there are some 20.
ELSEWHERE = 35


@pytest.mark.proof
def test_the_dead_entries_of_an_old_transaction_are_read_once_in_a_while_only(broker: Broker) -> None:
    old = broker.connect()
    with old.cursor() as cursor:
        cursor.execute("CREATE TABLE held (); SELECT pg_current_xact_id()")
    with broker.connect() as connection:
        send_many(connection, broker.app, f"{PREFIX}.nothing", [((), {})] * (MESSAGES + 200), queue="main")
    taker = Taker(broker.kombu(), ("main",), 100)
    for _ in range(MESSAGES // 100):
        for message in taker.take(100):
            message.ack()
    position = taker.channel.node.reader._positions["main"]
    claim = {"queue": "main", "count": 1, "owner": None, "lease": 15, "sleep": 0}
    connection = broker.connect()
    whole = pages(connection, SQL.claim, {**claim, "floor": 0})
    since = pages(connection, SQL.claim, {**claim, "floor": position.rank})
    publish = pages(connection, SQL.publish, ("main", "{}", None, None, None, None, 100, None, None, 0))
    connection.rollback()
    connection.close()
    old.rollback()
    old.close()
    assert whole > since + MESSAGES / 100  # the hazard is there: every page of what was claimed, which are narrow rows
    assert since < ELSEWHERE
    assert publish < ELSEWHERE  # as the floor that was written down says
    assert broker.value("SELECT rank_floor FROM kombu_queue WHERE name = 'main'") > 0
