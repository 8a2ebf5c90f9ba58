"""kombu's transport: one connection for publishing, and a node for each channel that consumes."""

# ruff: noqa: D102, ARG002  the methods and their parameters are kombu's

import select
from time import monotonic, sleep
from typing import Any

import psycopg2
from kombu.transport import base, virtual

from .channel import Channel
from .database import CONNECTION_ERRORS, Database
from .node import Node
from .options import read_options

#: A blocking consumer whose window is full looks this often whether another thread acknowledged something.
FULL_WINDOW_SECONDS = 0.05


class Transport(virtual.Transport):
    """The transport of `durable+postgresql+psycopg2://…`."""

    Channel = Channel
    can_parse_url = True
    driver_type = "sql"
    driver_name = "psycopg2"
    connection_errors: Any = CONNECTION_ERRORS
    implements = base.Transport.implements.extend(
        asynchronous=True, batch_publish=True, exchange_type=frozenset(["direct", "topic"]), heartbeats=False
    )

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        self.client: Any
        self.options = read_options(client.transport_options)
        self.url: str = client.hostname
        self._database: Database | None = None
        self._loop: Any = None

    @property
    def database(self) -> Database:
        """For publishing and declaring; made on first use, since Celery makes transports only to look at them."""
        if self._database is None:
            self._database = Database(self.url, connect_timeout=self.client.connect_timeout)
        return self._database

    def driver_version(self) -> str:
        return str(vars(psycopg2)["__version__"])

    def establish_connection(self) -> Any:
        """Raises one of CONNECTION_ERRORS, for kombu to try again."""
        self.database.connection  # noqa: B018
        return super().establish_connection()

    def close_connection(self, connection: Any) -> None:
        super().close_connection(connection)
        if self._database is not None:
            self._database.close()

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        self._loop = loop

    def prepare(self, node: Node) -> None:
        """Before a node's first use.  Raises one of CONNECTION_ERRORS."""
        node.alarm.loop = self._loop
        node.open()
        # A consumer declares its queues and publishes no more: one session less per node.
        self.database.close()

    def drain_events(self, connection: Any, timeout: float | None = None, **_: Any) -> None:
        """Block until something was delivered.  Raises TimeoutError after `timeout` seconds."""
        deadline = None if timeout is None else monotonic() + timeout
        while True:
            nodes = [channel.node for channel in self.channels if channel.node.queues]
            if sum(node.step() for node in nodes):
                return
            patience = [node.patience() if node.free() else FULL_WINDOW_SECONDS for node in nodes]
            if deadline is not None:
                patience.append(deadline - monotonic())
                if patience[-1] <= 0:
                    raise TimeoutError("nothing to deliver")
            self._wait(nodes, max(0.0, min(patience, default=1.0)))

    @staticmethod
    def _wait(nodes: list[Node], seconds: float) -> None:
        listening = {descriptor: node for node in nodes if (descriptor := node.session.fileno()) is not None}
        if not listening:
            sleep(seconds)
            return
        readable, _, _ = select.select(list(listening), [], [], seconds)
        for descriptor in readable:
            listening[descriptor].read()
