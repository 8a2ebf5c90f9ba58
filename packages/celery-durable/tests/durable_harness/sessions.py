"""Sessions that a test steps: one holds what another one waits for."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

from durable_harness.broker import Broker
from durable_harness.waiting import PATIENCE_SECONDS, wait_for

WAITS = "SELECT cardinality(pg_blocking_pids(%s)) > 0"
PUBLISH = "SELECT durable_publish('main', '{}', %s, %s, NULL, %s, 100, 'main')"
CLAIM = "SELECT message_id, token FROM durable_claim('main', 10, NULL, 900, 0, 0) WHERE message_id IS NOT NULL"
GIVE_BACK = "SELECT durable_give_back(ARRAY[%s::bigint], ARRAY[%s::uuid], 'died')"


class Session:
    """A transaction of somebody, which begins with the first statement."""

    def __init__(self, connection: Any, pool: ThreadPoolExecutor) -> None:
        self.connection, self._pool = connection, pool
        self.pid = connection.info.backend_pid

    def run(self, statement: str, *given: Any) -> Any:
        """-> the rows of a query, or how many rows were written."""
        with self.connection.cursor() as cursor:
            cursor.execute(statement, given or None)
            return cursor.fetchall() if statement.lstrip().startswith(("SELECT", "WITH")) else cursor.rowcount

    def begin(self, statement: str, *given: Any) -> Future[Any]:
        """Run it in a thread."""
        return self._pool.submit(self.run, statement, *given)

    def commit(self) -> None:
        self.connection.commit()


class Sessions:
    """Makes them, on a database with the queue `main`."""

    def __init__(self, broker: Broker, stack: ExitStack) -> None:
        self.broker, self._stack = broker, stack
        self._pool = stack.enter_context(ThreadPoolExecutor(4))

    def session(self, level: str | None = None) -> Session:
        connection = self._stack.enter_context(closing(self.broker.connect()))
        self._stack.callback(connection.cancel)  # first of all, so that no thread of a failed test waits
        with connection, connection.cursor() as cursor:
            cursor.execute(f"SET statement_timeout = '{PATIENCE_SECONDS:g}s'")  # who should not wait, and does
        connection.set_session(isolation_level=level)
        return Session(connection, self._pool)

    def waits(self, session: Session, statement: str, *given: Any) -> Future[Any]:
        """Begin a statement that has to wait for a lock; -> as soon as it does."""
        begun = session.begin(statement, *given)
        wait_for(lambda: begun.done() or self.broker.value(WAITS, session.pid), f"a wait of {statement}")
        assert not begun.done(), begun.result()
        return begun

    def meanwhile(self, act: Callable[[Session], Any]) -> Any:
        """Act in a transaction of its own, which is committed."""
        session = self.session()
        acted = act(session)
        session.commit()
        return acted

    def publish(self, *tasks: str, tenant: str | None = None, delay: float | None = None) -> None:
        for task in tasks:
            assert self.broker.value(PUBLISH, task, tenant, delay)

    def claim(self, session: Session | None = None) -> tuple[int, str]:
        """Claim the only ready message; -> its id and its token."""
        [(found, token)] = session.run(CLAIM) if session else self.broker.query(CLAIM)
        return found, str(token)

    def stands(self) -> list[tuple[Any, ...]]:
        """Each message: its task, and where it stands."""
        return self.broker.query("""
            SELECT m.task_id, concat_ws(' ', (SELECT 'ready' FROM durable_ready r WHERE r.id = m.id),
                                        (SELECT 'leased' FROM durable_lease l WHERE l.id = m.id),
                                        (SELECT reason FROM durable_waiting w WHERE w.id = m.id))
              FROM durable_message m ORDER BY m.id""")
