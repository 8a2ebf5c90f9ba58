"""gunicorn's settings, the same however the web is started: `gunicorn -c python:app.server.config`.

The command line only says where to listen.
"""

import gc
from math import ceil as _ceil
from typing import Any

from app import json_lines as _json_lines
from app import shared_table
from app.errors import BadSetting as _BadSetting
from app.processes import keep_private
from app.server import metrics_folder
from app.settings import load as _load

try:
    _settings = _load()
except _BadSetting as _bad:  # one line, where gunicorn would print its own stack
    raise _json_lines.refusal(_bad.detail) from None
_drain = _settings.web_drain.total_seconds()

wsgi_app = "app.server.application:create()"
worker_class = "app.server.worker.Worker"
logger_class = "app.server.logger.Logger"
#: Per process.  A further connection closes the one that has waited longest for its client's request.
worker_connections = 4000
backlog = 2048
#: Seconds for the head of a request, and for a connection without one.
keepalive = 10
#: Seconds from SIGTERM until a process that still answers is killed.
graceful_timeout = 5 + _ceil(_drain)
#: Seconds without a sign of life of the event loop; threads may take longer.
timeout = 30
#: If the client has gone, the rest of its answer is not produced.
asgi_disconnect_grace_period = 0
asgi_lifespan = "off"
asgi_loop = "asyncio"
control_socket_disable = True
#: New objects before a collection of the youngest, and how many of those before one of each older generation.
COLLECTIONS = (50_000, 20, 100)

# No header sets the path, the host or the scheme here: a proxy's headers are read in one place, and only with
# TRUST_PROXY (app/web/__init__.py).  By default gunicorn trusts every client that connects from 127.0.0.1.
forwarded_allow_ips = ""
forwarder_headers = ""
secure_scheme_headers: dict[str, str] = {}
header_map = "drop"
proxy_protocol = "off"


def on_starting(server: Any) -> None:
    """The main process has the environment, and with it the secrets; and it has what all its processes share."""
    keep_private()
    shared_table.share()
    metrics_folder.share(_settings.home, server.cfg.workers)


def pre_fork(server: Any, worker: Any) -> None:
    """A process will start: the main process knows which places are taken."""
    worker.place = metrics_folder.free_place({other.place for other in server.WORKERS.values()})


def child_exit(server: object, worker: Any) -> None:  # noqa: ARG001 - gunicorn's signature
    """A process has ended: what it used last is no longer in use."""
    metrics_folder.forget(worker.place)


def on_exit(server: object) -> None:  # noqa: ARG001 - gunicorn's signature
    """The main process ends, after all others."""
    metrics_folder.remove()


def post_worker_init(worker: object) -> None:  # noqa: ARG001 - gunicorn's signature
    """Collect garbage rarely, and never look at what the application consists of.

    Nearly all objects of a request go without the collector.  Looking for the others 70 times a second stopped all
    threads: with 16 clients the p99 of a listing was 215 ms instead of 127 to 150 (docs/measurements.md).
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTIONS)
