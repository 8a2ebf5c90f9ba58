"""The metrics as text: of this instance's processes, and of the whole service."""

from __future__ import annotations

from enum import StrEnum
from threading import Lock
from time import monotonic
from weakref import WeakKeyDictionary

from prometheus_client import CollectorRegistry, generate_latest
from sqlalchemy import Engine

from app import process_metrics
from app.services.policy import Policy
from app.store.core.unit_of_work import UnitOfWork
from app.web.operations.service_metrics import ServiceMetrics

#: How long a text of the tables is reused, so that many scrapes cost the database one.
KEPT_SECONDS = 3.0
_texts: WeakKeyDictionary[Engine, tuple[float, bytes]] = WeakKeyDictionary()
_reading = Lock()


class Of(StrEnum):
    """What a scrape asks for.

    process: of the processes of the instance that answers, to be added up; service: of the tables, the same from each.
    """

    PROCESS = "process"
    SERVICE = "service"


def text_of(parts: frozenset[Of], uow: UnitOfWork, policy: Policy) -> bytes:
    """In Prometheus' text form."""
    process = process_metrics.text() if Of.PROCESS in parts else b""
    return process + (_of_service(uow, policy) if Of.SERVICE in parts else b"")


def _of_service(uow: UnitOfWork, policy: Policy) -> bytes:
    """At most 3 s old; requests that come meanwhile wait for the same text."""
    with _reading:
        until, text = _texts.get(uow.engine, (0.0, b""))
        if monotonic() >= until:
            registry = CollectorRegistry(auto_describe=False)
            registry.register(ServiceMetrics(uow, policy))
            text = generate_latest(registry)
            _texts[uow.engine] = (monotonic() + KEPT_SECONDS, text)
        return text
