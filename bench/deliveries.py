"""Deliveries to webhooks in months: `PYTHONPATH=tests/harness python -m bench.deliveries HOME [--rows N]`.

HOME keeps a database with N deliveries of the last 30 days, as of before migration 0065.  Printed are the longest waits
of accepts and finishes while a copy of it is migrated, and what it takes to delete N expired deliveries row by row, and
to drop their months, beside accepts and finishes.  What each way costs: bench/delivery_ways.py.
"""

from __future__ import annotations

import argparse
import logging
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from threading import Event
from uuid import uuid4

import structlog
from alembic import command
from alembic.config import Config
from service_harness.application import POLICY, SETTINGS, Web, resolve
from sqlalchemy import Engine, create_engine, pool, text
from sqlalchemy.engine import make_url

from app import embedded
from app import migrate as migrating
from app.domain.plans import Tier
from app.services.operations.keep_months import keep_months
from app.services.operations.run_in_batches import in_batches
from app.store.core.unit_of_work import UnitOfWork
from app.store.webhooks import webhook_deliveries
from app.web import create_app
from app.web.core.wiring import WebWiring
from bench.accept.rate import SECRET
from bench.maintenance.filled import run, used

BEFORE, THREADS = "0064", 2
CALLED = Path(migrating.__file__).parent / "store/sql/webhooks.sql"
FILL = """
    INSERT INTO users (id, email, created_at)
    SELECT md5('user ' || n)::uuid, n || '@example.org', now() FROM generate_series(1, 1000) n;
    INSERT INTO webhooks (id, user_id, url, description, events, secret, created_at)
    SELECT md5('hook ' || n)::uuid, md5('user ' || n)::uuid, 'https://example.org/', '', '{{analysis.completed}}', 'x',
           now() FROM generate_series(1, 1000) n;
    INSERT INTO webhook_deliveries (webhook_id, event_id, job_id, type, happened_at, body, status, attempts,
                                    attempted_at, status_code, latency_ms, answer)
    SELECT md5('hook ' || 1 + (n::bigint * 7919) % 1000)::uuid, -n, gen_random_uuid(), 'analysis.completed',
           now() - ({rows} - n) * interval '30 days' / {rows}, repeat(md5(n::text), 20), 'delivered', 1, now(),
           200, 50, 'ok'
      FROM generate_series(1, {rows}) n ORDER BY n"""
HOOK = text("""
    INSERT INTO webhooks (id, user_id, url, description, events, secret, created_at)
    VALUES (:id, :user_id, 'https://example.org/', '', '{analysis.completed}', 'x', now())""")


class Client:
    """A user with a webhook, who submits jobs, and the worker that finishes them."""

    def __init__(self, uow: UnitOfWork) -> None:
        """Make the user."""
        self.uow, self.hook = uow, uuid4()
        settings = SETTINGS.model_copy(update={"rate_limit_per_minute": 1_000_000})
        self.web = Web(create_app(WebWiring(settings, uow, POLICY, resolve, SECRET)), uow)
        user = self.web.user(Tier.ENTERPRISE)
        self.headers = self.web.token(user.user_id)
        with uow.begin() as tx:
            tx.run(HOOK, id=self.hook, user_id=user.user_id)

    def accept(self) -> str:
        """Submit a commit that nobody has; -> the job."""
        answer = self.web.submit(uuid4().hex, self.headers)
        if answer.status_code != 202:
            raise RuntimeError(f"{answer.status_code} {answer.get_data(as_text=True)[:300]}")
        return str(answer.json["id"])

    def deliver(self) -> None:
        """Deliver what is due for the webhook, as a worker does."""
        while (row := self._next()) is not None:
            with self.uow.begin() as tx:
                webhook_deliveries.record(
                    tx, row, due_at=None, status="delivered", status_code=200, latency_ms=1, answer=None, fault=None,
                    now=self.uow.now(),
                )  # fmt: skip

    def _next(self) -> webhook_deliveries.DueRow | None:
        with self.uow.begin() as tx:
            row = webhook_deliveries.next_of(tx, self.hook)
            if row:
                webhook_deliveries.keep_body(tx, row, "{}")
        return row


def main() -> None:
    """Make the database if it is not there, and take all measures."""
    parser = argparse.ArgumentParser(prog="python -m bench.deliveries", description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    os.environ["READ_LIMIT_PER_MINUTE"] = os.environ["RATE_LIMIT_PER_MINUTE"] = "1000000000"
    with embedded.hold(given.home, durable=False) as server:
        plain = f"delivered_{given.rows}"
        if not run(server.admin_url, f"SELECT 1 FROM pg_database WHERE datname = '{plain}'"):
            make(server, plain, given.rows)
            # what is called today; it does as well with one table
            run(server.owner_url, CALLED.read_text(encoding="utf-8"), database=plain)
        run(server.admin_url, "DROP DATABASE IF EXISTS months WITH (FORCE)")
        run(server.admin_url, f"CREATE DATABASE months OWNER {_owner(server)} TEMPLATE {plain} STRATEGY file_copy")
        with used(server, "months") as months, used(server, plain) as rows:
            with _engine(server, "months") as owner:
                _beside("no migration", months, lambda: time.sleep(5))
                name = f"migration of {given.rows:,} deliveries, {BEFORE} to {migrating.head_revision()}"
                _beside(name, months, lambda: migrating.migrate(owner, role=make_url(server.url).username))
            later = months.now() + timedelta(days=100)
            _beside("their months dropped", months, lambda: print(_dropped(months, later), "tries"))
            _beside("deleted row by row", rows, lambda: print(_by_row(rows, later), "rows"))
        run(server.admin_url, "DROP DATABASE months WITH (FORCE)", f"DROP DATABASE {plain} WITH (FORCE)")


def make(server: embedded.Server, name: str, rows: int) -> None:
    """A database of before the months, with deliveries of 30 days."""
    run(server.admin_url, f"CREATE DATABASE {name} OWNER {_owner(server)}")
    config = Config()
    config.set_main_option("script_location", str(Path(migrating.__file__).parents[1] / "migrations"))
    with _engine(server, name) as engine, engine.connect() as connection:
        config.attributes |= {"connection": connection, "role": make_url(server.url).username}
        command.upgrade(config, BEFORE)
    run(server.admin_url, *FILL.format(rows=rows).split(";\n"), "VACUUM ANALYZE", database=name)


def _owner(server: embedded.Server) -> str:
    return str(make_url(server.owner_url).username)


@contextmanager
def _engine(server: embedded.Server, name: str) -> Iterator[Engine]:
    url = make_url(server.owner_url).set(database=name)
    engine = create_engine(url, poolclass=pool.NullPool)
    yield engine
    engine.dispose()


def _dropped(uow: UnitOfWork, now: datetime) -> int:
    """How often it had to try: it gives up when the table is in use for half a second."""
    tries = 1
    while keep_months(uow, now=now) is None:
        tries += 1
        time.sleep(0.5)
    return tries


def _by_row(uow: UnitOfWork, now: datetime) -> int:
    """The way of before."""
    before = now - timedelta(days=30)
    return in_batches(uow, lambda *at: webhook_deliveries.expire(*at, part="webhook_deliveries", before=before))


def _beside(what: str, uow: UnitOfWork, work: Callable[[], object]) -> None:
    """Work beside accepts and finishes, and tell how long one of them waited at most."""
    over = Event()
    clients = [Client(uow) for _ in range(THREADS)]
    with ThreadPoolExecutor(THREADS) as threads:
        told = [threads.submit(_go_on, client, over) for client in clients]
        over.wait(2)
        began = time.perf_counter()
        try:
            work()
        finally:
            took = time.perf_counter() - began
            over.wait(1)
            over.set()
        accepts, finishes = ([one for each in told for one in each.result()[kind]] for kind in (0, 1))
    print(f"{what}: {took:.2f} s; accepts {_waits(accepts)}; finishes {_waits(finishes)}", flush=True)


def _waits(seconds: list[float]) -> str:
    return f"{len(seconds)}, median {1000 * median(seconds):.1f} ms, longest {max(seconds):.3f} s"


def _go_on(client: Client, over: Event) -> tuple[list[float], list[float]]:
    accepts, finishes = [], []
    while not over.is_set():
        began = time.perf_counter()
        job = client.accept()
        accepts.append(time.perf_counter() - began)
        began = time.perf_counter()
        client.web.completed(job)
        finishes.append(time.perf_counter() - began)
        client.deliver()
    return accepts, finishes


if __name__ == "__main__":
    main()
