"""Parallel posts under one Idempotency-Key, spread over processes with an application of their own each."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from celery import Celery
from flask.testing import FlaskClient
from service_harness.application import POLICY, SETTINGS, resolve

from app.adapters.publishing import publisher
from app.store.core import connections
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from app.web import create_app
from app.web.core.wiring import WebWiring
from tests.databases import PATIENT

PATIENCE_SECONDS = 120


@dataclass(frozen=True)
class Share:
    """A process's part of the work: of every key of each user, so many twins."""

    url: str
    headers: Sequence[dict[str, str]]
    keys: int
    twins: int
    process: int


#: key, status, id of the job, whether it was replayed, slug of the problem
Seen = tuple[str, int, str | None, bool, str | None]


def post_all(shares: Sequence[Share]) -> list[Seen]:
    """Every twin of a key is posted at the same moment, by all processes."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(len(shares))
    with context.Pool(len(shares), initializer=_arm, initargs=(barrier,)) as pool:
        return [seen for part in pool.map(_serve, shares, chunksize=1) for seen in part]


_together: Any = None


def _arm(barrier: Any) -> None:
    global _together  # noqa: PLW0603 - how a pool hands a barrier to its processes
    connections.LIMITS.update(PATIENT)  # as `patience` in the tests' own process
    _together = barrier


def _serve(share: Share) -> list[Seen]:
    settings = SETTINGS.model_copy(update={"rate_limit_per_minute": 1_000_000_000})
    engine = make_engine(share.url, pool_size=share.twins)
    uow = UnitOfWork(engine, publisher(Celery("posts", set_as_current=False, broker="memory://")))
    app = create_app(WebWiring(settings, uow, POLICY, resolve, "a secret of this test"))
    clients = [app.test_client() for _ in range(share.twins)]
    seen: list[Seen] = []
    with ThreadPoolExecutor(share.twins) as threads:
        for number in range(share.keys):
            _together.wait(PATIENCE_SECONDS)
            asked = [threads.submit(post, client, share, number, n) for n, client in enumerate(clients)]
            seen += [one.result() for one in asked]
    engine.dispose()
    return seen


def post(client: FlaskClient, share: Share, number: int, twin: int) -> Seen:
    """One twin.  The last one of the last process says something else under the same key."""
    headers = share.headers[number % len(share.headers)] | {"Idempotency-Key": f"key{number}"}
    stranger = share.process == 0 and twin == share.twins - 1
    body = {"repository": f"acme/{'other' if stranger else 'shop'}{number}"}
    answer = client.post("/api/v1/analyses", json=body, headers=headers)
    replayed = answer.headers.get("Idempotency-Replayed") == "true"
    kind = f"key{number}{' other' if stranger else ''}"
    if answer.status_code == 202:
        return kind, 202, answer.json["id"], replayed, None
    return kind, answer.status_code, None, replayed, answer.json["type"]
