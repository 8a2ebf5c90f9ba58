"""A node that stops forgets the names of dead nodes, but of none that a lease still names."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from celery_durable.options import Options
from celery_durable.statements import statements
from durable_harness.broker import Broker
from durable_harness.waiting import wait_for

GATE = 4712
LEAVING, DYING, DEAD = 11, 12, 13
#: The one that leaves stops when it has forgotten itself, and has not come to the others yet.
STOP = f"""
    INSERT INTO kombu_node (lock, name) VALUES ({LEAVING}, 'leaving'), ({DYING}, 'dying'), ({DEAD}, 'dead');
    CREATE FUNCTION stop_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock({GATE});
        RETURN OLD;
    END $$;
    CREATE TRIGGER stop_at_gate BEFORE DELETE ON kombu_node FOR EACH ROW EXECUTE FUNCTION stop_at_gate()"""
WAITS = f"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = {GATE} AND NOT granted"
HELD = f"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = {DYING} AND mode = 'ShareLock'"
CLAIM = f"""
    UPDATE kombu_message SET visible = false, lease_token = gen_random_uuid(), lease_owner = {DYING},
           visible_at = clock_timestamp() + interval '15 s'"""


def test_a_lease_that_a_dying_node_took_last_keeps_its_name(broker: Broker) -> None:
    broker.send("nothing")
    broker.query(STOP)
    with closing(broker.connect()) as keeper, closing(broker.connect()) as dying, ThreadPoolExecutor(1) as pool:
        with keeper.cursor() as cursor:
            cursor.execute(f"SELECT pg_advisory_xact_lock({GATE})")
        with dying.cursor() as cursor:
            cursor.execute(f"SELECT pg_advisory_lock_shared({DYING})")
            dying.commit()
            cursor.execute(CLAIM)
        leaving = pool.submit(broker.query, statements(Options()).leave % {"owner": LEAVING})
        wait_for(lambda: leaving.done() or broker.value(WAITS))
        dying.commit()
        dying.close()
        wait_for(lambda: not broker.value(HELD))
        keeper.rollback()
        leaving.result()
    assert broker.query("SELECT name FROM kombu_node") == [("dying",)]
