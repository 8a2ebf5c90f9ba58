"""The objects that tasks need, created once per process: settings, transactions that can publish, the policy."""

import gc
import os
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any
from uuid import UUID

from celery.signals import worker_before_create_process, worker_process_init
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from testlist.version import PARSER_VERSION

from app.adapters.cell_databases import cells_of
from app.adapters.generators import generator_of, languages_of, name_of
from app.adapters.object_store import objects_of
from app.adapters.publishing import publisher
from app.adapters.sandbox import settle
from app.database import database_url, session_url
from app.domain.objects import Objects
from app.equal_settings import digests
from app.services.cells.cells import Cells
from app.services.fairness import change_limits
from app.services.policy import Policy
from app.settings import Settings, load
from app.specview.generator import Generator
from app.store.core import host_settings
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from tasks.celery import app


@dataclass(frozen=True, slots=True)
class WorkerWiring:
    """The process's own engine, never shared with a child.

    direct: it reaches PostgreSQL itself, for session locks; cells: all of them, for a process that is told of them;
    objects: None if everything is in the database.
    """

    settings: Settings
    uow: UnitOfWork
    direct: Engine
    policy: Policy
    cells: Cells | None = None
    objects: Objects | None = None

    def generator(self, user_id: UUID) -> Generator:
        """The generator that writes the specification of one job of this user."""
        return generator_of(self.settings, self.uow, user_id)


def wired() -> WorkerWiring:
    """The wiring of this process; a forked process creates its own at first use."""
    return _wired(os.getpid())


@worker_before_create_process.connect
def _share(**_: Any) -> None:
    """Leave what is imported out of all collections of a node's garbage.

    One writes to every object that it looks at, so that a node and its children, which share them, need a copy each:
    12 MiB of each node and again of its children, in the soak after 15 and 37 minutes.
    """
    if not gc.get_freeze_count():  # what a later child finds may become garbage
        gc.collect()
        gc.freeze()


@worker_process_init.connect
def _begin(**_: Any) -> None:
    # a socket that two processes share carries two conversations at once (docs/broker-hazards.md H13)
    _wired.cache_clear()
    # so that the first job need not wait for the settings and a connection; if the database is unavailable, the job
    # handles it
    with suppress(SQLAlchemyError):
        wired().uow.now()
        change_limits.release_held(wired().uow, wired().policy)


@lru_cache(maxsize=1)
def _wired(pid: int) -> WorkerWiring:  # noqa: ARG001 - the key: what a parent made is not ours
    settings = load()
    settle(settings)
    # a child runs one task, its heartbeat thread, and the gate of a model
    engine = make_engine(database_url(settings), pool_size=3, application_name="fairlane worker")
    host_settings.note(engine, partial(digests, settings))
    # beat needs the user and password; without them the direct address never worked
    direct = make_engine(session_url(settings), pool_size=1) if settings.database_direct_url else engine
    policy = Policy.of(settings, PARSER_VERSION, name_of(settings), languages_of(settings))
    uow = UnitOfWork(engine, publisher(app))
    cells = cells_of(settings, uow, "fairlane worker") if settings.cell else None
    return WorkerWiring(settings, uow, direct, policy, cells, objects_of(settings))
