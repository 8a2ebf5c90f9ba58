"""In the caller's own transaction an error is the driver's, as it would be of any other statement there."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

import psycopg2
import pytest
from celery_durable.publish import producer_in
from durable_harness.broker import Broker
from kombu.exceptions import OperationalError
from psycopg2.errors import DeadlockDetected, LockNotAvailable, SerializationFailure


def test_a_conflict_of_snapshots_reaches_the_caller(broker: Broker) -> None:
    with closing(broker.connect()) as caller:
        caller.set_session(isolation_level="REPEATABLE READ")
        with caller.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM kombu_message")  # its snapshot
        broker.send("nothing", task_id="one")
        with pytest.raises(SerializationFailure):
            broker.send("nothing", task_id="one", producer=producer_in(caller))


def test_a_lock_that_is_not_free_in_time_reaches_the_caller(broker: Broker) -> None:
    with closing(broker.connect()) as first, closing(broker.connect()) as caller:
        broker.send("nothing", headers={"unique_key": "k"}, producer=producer_in(first))
        with caller.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '10ms'")
        with pytest.raises(LockNotAvailable):
            broker.send("nothing", headers={"unique_key": "k"}, producer=producer_in(caller))


@pytest.mark.proof
def test_a_deadlock_reaches_the_caller_that_it_is_resolved_at(broker: Broker) -> None:
    def hold_both(caller: Any, second: str) -> type[BaseException] | None:
        try:
            broker.send("nothing", task_id=second, producer=producer_in(caller))
        except psycopg2.Error as error:
            return type(error)
        finally:
            caller.rollback()
        return None

    broker.send("nothing")  # the queue is there: making it would be a third lock
    with ExitStack() as stack, ThreadPoolExecutor(2) as pool:
        callers = [stack.enter_context(closing(broker.connect())) for _ in range(2)]
        for caller, first in zip(callers, ("a", "b"), strict=True):
            broker.send("nothing", task_id=first, producer=producer_in(caller))
        outcomes = [pool.submit(hold_both, *one) for one in zip(callers, ("b", "a"), strict=True)]
        assert {one.result() for one in outcomes} == {None, DeadlockDetected}


def test_an_error_that_the_transport_meets_in_its_own_session_is_still_kombus(broker: Broker) -> None:
    broker.query("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
                 " $$ BEGIN RAISE EXCEPTION 'full' USING errcode = '53100'; END $$")  # fmt: skip
    broker.query("CREATE TRIGGER refuse BEFORE INSERT ON durable_queue FOR EACH STATEMENT EXECUTE FUNCTION refuse()")
    with pytest.raises(OperationalError, match="full"):
        broker.send("nothing")
