"""The application that gunicorn loads: Flask behind the bridge."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from apiflask import APIFlask
from flask import Flask

from app import log_writer, process_metrics, telemetry
from app.exchanges import Observe
from app.server.access_log import access_line
from app.server.bridge import Bridge
from app.settings import Settings
from app.web.cells.applications import applications
from app.web.cells.router import CellRouter
from app.web.core.client_addresses import NETWORK_BITS, client_of
from app.web.core.context import EXTENSION
from app.web.jobs.api import LIVE
from app.web.limits import read_buckets
from app.web.limits.read_costs import READS

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication


def create() -> Bridge:
    """Build it in the worker, after the fork."""
    app, answering = applications()
    log_writer.start()
    telemetry.begin("web")
    return bridged(app, answering)


def bridged(app: APIFlask, answering: WSGIApplication | None = None) -> Bridge:
    """Serve an existing application.  answering: what gets the requests, if it is another one."""
    settings = app.extensions[EXTENSION].settings
    return Bridge(
        answering or app,
        longest_body=int(app.config["MAX_CONTENT_LENGTH"]),
        client=partial(client_of, trusts_proxy=settings.trust_proxy),
        network=partial(client_of, trusts_proxy=settings.trust_proxy, prefix=NETWORK_BITS),
        is_known=partial(read_buckets.carries_known, app.extensions[READS].buckets),
        drain_seconds=settings.web_drain.total_seconds(),
        end_streams=partial(_end_streams, answering.apps.values() if isinstance(answering, CellRouter) else [app]),
        observers=_observers(settings),
    )


def _end_streams(apps: Iterable[Flask]) -> None:
    for app in apps:
        app.extensions[LIVE].end()


def _observers(settings: Settings) -> list[Observe]:
    """What is told of each request when it is over."""
    found: list[Observe] = [process_metrics.observe]
    if settings.has_access_log:
        found.append(access_line)
    if telemetry.spans:
        found.append(telemetry.spans.request_ended)
    return found
