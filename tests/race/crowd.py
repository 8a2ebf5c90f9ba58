"""Many clients at once: processes of threads, each thread with a connection of its own, all starting together."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Barrier
from typing import Any
from uuid import UUID

from celery import Celery
from sqlalchemy.exc import OperationalError

from app.adapters.publishing import publisher
from app.domain.repositories import Repository
from app.errors import Problem
from app.services.analyses.submission import Wanted
from app.services.analyses.submit import submit
from app.services.policy import Policy
from app.store.core import connections
from app.store.core.connections import make_engine
from app.store.core.database_errors import code_of
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import NOW
from tests.databases import PATIENT

PATIENCE_SECONDS = 120
#: Of the database, for who has waited for a row as long as the service lets it.
LOCK_NOT_AVAILABLE = "55P03"


@dataclass(frozen=True)
class Order:
    """What one client of one process does: submit a new commit of its own, so often, for these users in turn."""

    url: str
    users: tuple[UUID, ...]
    process: int
    threads: int
    each: int


#: Runs orders in a process each; how often what came of a submission, by user and the name of the outcome.
RunOrders = Callable[[list[Order]], Counter[str]]


@contextmanager
def crowd(processes: int) -> Iterator[RunOrders]:
    """Start so many processes; each call takes as many orders."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(processes)
    with context.Pool(processes, initializer=_arm, initargs=(barrier,)) as pool:
        yield lambda orders: sum(pool.map(_serve, orders, chunksize=1), Counter())


_gate: Any = None


def _arm(barrier: Any) -> None:
    global _gate  # noqa: PLW0603 - how a pool hands a barrier to its processes
    connections.LIMITS.update(PATIENT)  # as `patience` in the tests' own process
    _gate = barrier


def _serve(order: Order) -> Counter[str]:
    engine = make_engine(order.url, pool_size=order.threads)
    uow = UnitOfWork(engine, publisher(Celery("crowd", set_as_current=False, broker="memory://")))
    barrier = Barrier(order.threads, action=lambda: _gate.wait(PATIENCE_SECONDS))

    def client(number: int) -> Counter[str]:
        with engine.connect():
            pass  # opened before the start
        barrier.wait(PATIENCE_SECONDS)
        return Counter(_one(uow, order, number, turn) for turn in range(order.each))

    with ThreadPoolExecutor(order.threads) as threads:
        seen = sum(threads.map(client, range(order.threads)), Counter())
    engine.dispose()
    return seen


def _one(uow: UnitOfWork, order: Order, client: int, turn: int) -> str:
    number = (order.process * order.threads + client) * order.each + turn
    user_id = order.users[number % len(order.users)]
    wanted = Wanted(Repository("github.com", "acme", "shop"), f"{number:040x}")
    while True:
        try:
            answer = submit(uow, user_id, wanted, Policy("1.0.0+test"), now=NOW)
        except Problem as problem:
            return f"{user_id} {type(problem).__name__}"
        except OperationalError as error:
            if code_of(error) != LOCK_NOT_AVAILABLE:
                raise
            continue  # too many wait for one user on a slow machine: the web answers 503, and its client comes again
        return f"{user_id} {'known' if answer.is_known else 'accepted'}"
