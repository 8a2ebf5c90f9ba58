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
#: How long a stopping process still answers requests that arrive on kept-alive connections.
LINGER_SECONDS = 1.0


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

    waiting: connections that wait for their client's request, longest first; place: that of its counts, which
    app/server/config.py sets before the fork.
    """

    place: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.waiting: dict[Connection, None] = {}

    def make_room(self) -> None:
        """Close the longest-waiting connection if there are too many."""
        if self.nr_conns >= self.worker_connections and self.waiting:
            oldest = next(iter(self.waiting))
            del self.waiting[oldest]
            oldest.transport.abort()

    def handle_exit_signal(self) -> None:
        """Stop: at first only `/readyz` refuses, so that balancers send no more; a second SIGTERM ends this at once."""
        drain = 0.0 if self.asgi.is_stopping else self.asgi.drain_seconds
        self.asgi.is_stopping = True
        self.loop.call_later(drain, self._stop_listening)

    def _stop_listening(self) -> None:
        """Finish what has begun; idle connections must not delay the end."""
        super().handle_exit_signal()
        self.loop.call_later(LINGER_SECONDS, self._close_waiting)

    def _setup_event_loop(self) -> None:
        metrics_folder.allocate(self.place)
        # after the fork: the main process loads this module before it says where its processes count
        from app.process_metrics import connections  # noqa: PLC0415

        self.connections = connections
        self.worker_connections: int = min(self.worker_connections, _files() - SPARE_FILES)
        self.loop = _Loop(self)
        asyncio.set_event_loop(self.loop)

    def _close_waiting(self) -> None:
        for connection in list(self.waiting):
            connection.transport.abort()


def _files() -> int:
    """Allow as many open files as the system allows.  Returns: how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(wanted, 2 * SPARE_FILES)
