"""kombu's transport: one connection for publishing, and a node for each channel that consumes."""

# ruff: noqa: D102, ARG002, FBT002  the methods and their parameters are kombu's

import logging
import select
from time import monotonic, sleep
from typing import Any

import psycopg2
from kombu.transport import base, virtual

from . import addresses
from .announcements import announcements_of
from .broadcast import BroadcastSender
from .celery_worker import end_starting, end_stopping
from .channel import Channel
from .database import CONNECTION_ERRORS, UNDEFINED, Database, Row
from .errors import BadOption, MissingTables
from .fanout import Fanout
from .node import Node
from .options import read_options
from .shared_session import SharedSession
from .statements import statements

logger = logging.getLogger(__name__)

#: A blocking consumer whose window is full looks this often whether another thread acknowledged something.
FULL_WINDOW_SECONDS = 0.05
#: Of a broker URL; libpq itself goes from one server to the next.
FORMS = (
    "celery-durable needs one URL, such as durable://me@host/shop.  With several servers it is"
    " durable://me@/shop?host=a&host=b&target_session_attrs=read-write, or"
    " durable://me@a:5432,b:5432/shop?target_session_attrs=read-write"
)


class Transport(virtual.Transport):
    """The transport of `durable://…` and `durable+postgresql://…`."""

    Channel = Channel
    can_parse_url = True
    #: Not "sql": Celery would never send an event.
    driver_type = "postgresql"
    driver_name = "psycopg2"
    #: See one_commit.py.
    publishes_groups = True
    connection_errors: Any = CONNECTION_ERRORS
    #: Without these kombu gives up at the second error in a row whatever the policy says, and Celery rejects a retry.
    recoverable_connection_errors: Any = CONNECTION_ERRORS
    recoverable_channel_errors: Any = ()
    implements = base.Transport.implements.extend(
        asynchronous=True,
        batch_publish=True,
        exchange_type=frozenset(["direct", "topic", "fanout"]),
        heartbeats=False,
    )

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        self.client: Any
        self._complete(client)
        self._refuse_several(client)
        self.options = read_options(client.transport_options)
        #: Without its password, as everything that is kept here: see addresses.py.
        self.url: str = client.hostname
        #: For publishing and declaring; opened on first use, since Celery makes transports only to look at them.
        self.database = Database(self.url, connect_timeout=client.connect_timeout)
        announcements = announcements_of(self.url, self.options.schema)
        self._shared = SharedSession(self.url, self.options, self.database)
        self.sender = BroadcastSender(self.run, self.options, announcements, self._shared.defer)
        self.fanout = Fanout(self.options, announcements)
        self._loop: Any = None

    @staticmethod
    def _complete(client: Any) -> None:
        """From here on its URLs say what `broker_use_ssl` does, and have no secrets; so have its copies and `info()`.

        Every session begins with one of these URLs, and so none begins without TLS.  Raises BadOption.
        """
        prefix = f"{client.uri_prefix}+" if client.uri_prefix else ""
        # not its errors either
        client.alt[:] = [_hidden(alternate, prefix) for alternate in client.alt]
        if "://" not in client.hostname:
            raise BadOption(f"{FORMS}; not the host {client.hostname!r}")
        for name in ("userid", "password", "port", "credential_provider"):  # Celery has settings for some of them
            if getattr(client, name, None):
                raise BadOption(f"{FORMS}.  {name!r} is given beside it, and would have no effect")
        client.hostname = addresses.with_ssl(addresses.hide(client.hostname), client.ssl)
        if direct := client.transport_options.get("direct_url"):
            whole = addresses.with_ssl(addresses.hide(direct), client.ssl)
            client.transport_options = client.transport_options | {"direct_url": whole}

    @staticmethod
    def _refuse_several(client: Any) -> None:
        """A list of URLs kombu takes apart one by one, and finds no transport of the name before the `://`.

        Raises BadOption.
        """
        prefix = f"{client.uri_prefix}+" if client.uri_prefix else ""
        own = {addresses.with_ssl(alternate.removeprefix(prefix), client.ssl) for alternate in client.alt[:1]}
        if any(alternate != client.alt[0] for alternate in client.alt) or own - {client.hostname}:
            raise BadOption(f"the broker is one URL, not {len(client.alt)} with ';' between them or in a list: {FORMS}")
        client.alt.clear()
        client.cycle = None

    def as_uri(self, uri: str, include_password: bool = False, mask: str = "**") -> str:
        """For people, and so never with the password, whoever asks: Flower would show it."""
        shown = addresses.as_uri(uri, mask)
        return f"{self.client.uri_prefix}+{shown}" if self.client.uri_prefix else shown

    def run(self, statement: str, parameters: Any) -> list[Row]:
        """For what a worker sends beside its tasks: through its node's session when this is the node's thread."""
        try:
            return self._shared.run(statement, parameters)
        except UNDEFINED as error:
            raise self.missing(error) from None

    def missing(self, error: Exception) -> MissingTables:
        """What to raise for one of UNDEFINED.  Raises SystemExit in a worker that begins."""
        found = MissingTables(self.url, self.options.schema, error)
        end_starting(found)
        return found

    def revoke(self, task_ids: list[str]) -> None:
        """Delete what waits of these tasks; what runs is for Celery to end.  Raises one of SERVER_ERRORS."""
        gone = self.run(statements(self.options).revoke, {"task_ids": task_ids})
        if gone:
            logger.info("event=revoked tasks=%s", ",".join(task_id for (task_id,) in gone))

    def begin(self, task_id: str, token: str) -> None:
        """Its code begins now, under this lease.  Raises one of SERVER_ERRORS."""
        try:
            self.run(statements(self.options).begin, {"task_id": task_id, "token": token})
        finally:
            self.database.close()

    def driver_version(self) -> str:
        return str(vars(psycopg2)["__version__"])

    def establish_connection(self) -> Any:
        """Raises one of CONNECTION_ERRORS, for kombu to try again; SystemExit in a worker that shall stop."""
        try:
            self._shared.check()
        except CONNECTION_ERRORS:
            end_stopping()
            raise
        return super().establish_connection()

    def close_connection(self, connection: Any) -> None:
        super().close_connection(connection)
        self.database.close()

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        self._loop = loop
        for channel in self.channels:
            channel.node.join(loop)

    def prepare(self, node: Node) -> None:
        """Before a node's first use.  Raises one of CONNECTION_ERRORS."""
        node.timer.loop = self._loop
        try:
            node.open()
        except UNDEFINED as error:
            raise self.missing(error) from None
        # A consumer declares its queues and publishes no more: one session less per node.
        self.database.close()

    def host(self) -> Node:
        """The node that looks after the subscriptions: an open one, else that of the first channel.

        A worker consumes its tasks there, and has one session for both.  Raises one of CONNECTION_ERRORS.
        """
        nodes: list[Node] = [channel.node for channel in self.channels]
        for node in nodes:
            if node.is_open:
                return node
        self.prepare(nodes[0])
        return nodes[0]

    def leave_host(self) -> None:
        """The last subscription has gone: a node that nothing is left for must not hold a session nobody reads."""
        for channel in self.channels:
            node = channel.node
            if not self.fanout.consumed and node.is_open and not node.queues and not node.held:
                node.close()

    def drain_events(self, connection: Any, timeout: float | None = None, **_: Any) -> None:
        """Block until something was delivered.  Raises TimeoutError after `timeout` seconds."""
        deadline = None if timeout is None else monotonic() + timeout
        while True:
            if self.fanout.consumed:
                self.host()
            nodes = [channel.node for channel in self.channels if channel.node.queues or self._may_host(channel.node)]
            if sum(node.step() for node in nodes):
                return
            patience = [node.patience() if node.free() else min(node.patience(), FULL_WINDOW_SECONDS) for node in nodes]
            if deadline is not None:
                patience.append(deadline - monotonic())
                if patience[-1] <= 0:
                    raise TimeoutError("nothing to deliver")
            self._wait(nodes, max(0.0, min(patience, default=1.0)))

    def _may_host(self, node: Node) -> bool:
        return bool(self.fanout.consumed) and node.is_open

    @staticmethod
    def _wait(nodes: list[Node], seconds: float) -> None:
        listening = {descriptor: node for node in nodes if (descriptor := node.session.fileno()) is not None}
        if not listening:
            sleep(seconds)
            return
        readable, _, _ = select.select(list(listening), [], [], seconds)
        for descriptor in readable:
            listening[descriptor].read()


def _hidden(alternate: Any, prefix: str) -> str:
    """One of several broker URLs, with the name of its transport before it."""
    return f"{prefix}{addresses.hide(str(alternate).removeprefix(prefix))}"
