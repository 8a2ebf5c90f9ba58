"""gunicorn's worker on an event loop, with our connections and a limit to their number."""

from __future__ import annotations

import asyncio
import resource
from typing import Any

from gunicorn.workers.gasgi import ASGIWorker

from app.server import metrics_folder
from app.server.connection import Connection

#: Descriptors for everything other than clients: the database, pipes of git, files.
SPARE_FILES = 512
#: How long a stopping process waits for a request that may be on its way.
IDLE_SECONDS = 1.0
#: How long before the main process would kill it, with its last log lines, it ends what has begun.
SPARE_SECONDS = 1.0


class _Loop(asyncio.SelectorEventLoop):
    """gunicorn's worker has no place to name the protocol and the backlog: the loop that makes its server does."""

    def __init__(self, worker: Worker) -> None:
        super().__init__()
        self._worker = worker

    async def create_server(self, _factory: Any, **options: Any) -> asyncio.Server:  # type: ignore[override]
        return await super().create_server(
            lambda: Connection(self._worker), backlog=self._worker.cfg.backlog, **options
        )


class Worker(ASGIWorker):  # type: ignore[misc]  # gunicorn has no types
    """The process that serves connections on an event loop.

    open: all connections; waiting: those that wait for their client's request, longest first; place: that of its
    counts, which app/server/config.py sets before the fork.
    """

    place: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.open = set[Connection]()
        self.waiting: dict[Connection, None] = {}

    def make_room(self) -> None:
        """Close the longest-waiting connection if there are too many, of those that have all of their last answer."""
        if self.nr_conns >= self.worker_connections and self.waiting:
            served = (one for one in self.waiting if not one.transport.get_write_buffer_size())
            oldest = next(served, None) or next(iter(self.waiting))
            del self.waiting[oldest]
            oldest.transport.abort()

    def handle_exit_signal(self) -> None:
        """Stop: at first only `/readyz` refuses, so that balancers send no more.

        A manager that signals all processes of a group, and then the main process, ask for it twice.
        """
        if not self.asgi.is_stopping:
            self.asgi.is_stopping = True
            self.loop.call_later(self.asgi.drain_seconds, self._stop_listening)

    def _stop_listening(self) -> None:
        """Finish what has begun; neither idle connections nor streams delay the end."""
        super().handle_exit_signal()
        for server in self.servers:
            self.loop.call_soon(server.close)  # after connections that this turn of the loop has accepted
        self.asgi.end_streams()
        self.loop.call_later(IDLE_SECONDS, self._close_idle)
        begun_seconds = self.cfg.graceful_timeout - self.asgi.drain_seconds - SPARE_SECONDS
        self.loop.call_later(begun_seconds, self._close_all)

    async def _shutdown(self) -> None:
        if self.alive:  # the main process has died, so nobody told this one
            self.asgi.is_stopping = True
            self._stop_listening()
        self.asgi.end_streams()  # of a process that was told to hurry, too: its threads would keep it
        await super()._shutdown()

    def _setup_event_loop(self) -> None:
        metrics_folder.allocate(self.place)
        # after the fork: the main process loads this module before it says where its processes count
        from app.process_metrics import connections  # noqa: PLC0415

        self.connections = connections
        self.worker_connections: int = min(self.worker_connections, _files() - SPARE_FILES)
        self.loop = _Loop(self)
        asyncio.set_event_loop(self.loop)

    def _close_idle(self) -> None:
        for connection in list(self.waiting):
            if not connection.has_begun:
                connection.give_up()

    def _close_all(self) -> None:
        for connection in list(self.open):
            connection.transport.abort()


def _files() -> int:
    """Allow as many open files as the system allows.  Returns: how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(wanted, 2 * SPARE_FILES)
