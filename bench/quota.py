"""What bills cost an accept and a finish: in turns without and with running sums, on one database."""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib.resources import files
from pathlib import Path
from statistics import median
from uuid import UUID, uuid4

from sqlalchemy import Engine, text

from app import embedded
from app.migrate import migrate
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import Tx, UnitOfWork

_USER = text("INSERT INTO users (id, email, created_at) VALUES (:user, :user || '@example.org', now())")
_PLAN = text("""
    INSERT INTO user_subscriptions (user_id, tier, anchor_at)
    VALUES (:user, 'pro_plus', now() - interval '20 d 7 min')""")
_FILL = text("""
    INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
    SELECT :user, 'analysis', 1, gen_random_uuid(), gen_random_uuid(), now() - n * interval '20 d' / :rows, now()
      FROM generate_series(1, :rows) n""")
_LOOK = """
    SELECT * FROM {function}(:user, NULL, 'github.com', 'acme', 'shop', repeat('0', 40), 'analysis:x', '1', now())"""
_RESERVE = text("""
    INSERT INTO quota_reservations (user_id, event_type, reserved_amount, job_id, accepted_at, expires_at)
    VALUES (:user, 'analysis', 1, :job, now(), now())""")
_SETTLE = text("""
    WITH ended AS (DELETE FROM quota_reservations WHERE job_id = :job
                   RETURNING user_id, event_type, reserved_amount, accepted_at)
    INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
    SELECT user_id, event_type, reserved_amount, :job, :job, accepted_at, now() FROM ended""")

Way = Callable[[Tx], float]


class UndoneError(Exception):
    """So that a turn leaves nothing."""


def main() -> None:
    """Give users bills, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bills", type=int, nargs="+", default=[20, 1_000, 300_000])
    parser.add_argument("--turns", type=int, default=400)
    asked = parser.parse_args()
    with _database() as engine:
        uow = UnitOfWork(engine, lambda *_: None)
        print(f"{'bills':>9} | look: before, now | settle: before, now   (ms, median of {asked.turns} turns)")
        for number in asked.bills:
            user = _filled(uow, number)
            looks = [partial(_look, user, name) for name in ("accept_look_before", "accept_look")]
            settles = [partial(_settle, user, able) for able in ("DISABLE", "ENABLE")]
            found = _in_turns(uow, looks, asked.turns) + _in_turns(uow, settles, asked.turns)
            print(f"{number:>9,} | " + ", ".join(f"{1000 * one:.3f}" for one in found))


@contextmanager
def _database() -> Iterator[Engine]:
    """Connect as the owner, and add the previous function beside the present one."""
    with tempfile.TemporaryDirectory(prefix="fairlane-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with embedded.hold(Path(folder) / "home") as server:
            engine = make_engine(server.owner_url)
            migrate(engine)
            before = (files("migrations") / "versions" / "0045_functions_before.sql").read_text()
            function = re.search(r"(?ms)^CREATE OR REPLACE FUNCTION accept_look\(.*?^END \$\$;$", before)
            assert function is not None
            with engine.begin() as connection:
                connection.exec_driver_sql(function[0].replace("accept_look(", "accept_look_before(", 1))
            yield engine
            engine.dispose()


def _filled(uow: UnitOfWork, bills: int) -> UUID:
    user = uuid4()
    with uow.begin() as tx:
        tx.run(_USER, user=user)
        tx.run(_PLAN, user=user)
        tx.run(_FILL, user=user, rows=bills)
    with uow.begin() as tx:
        tx.run(text("ANALYZE users, usage_events, usage_sums"))
    return user


def _in_turns(uow: UnitOfWork, ways: list[Way], turns: int) -> list[float]:
    took: list[list[float]] = [[] for _ in ways]
    for _ in range(turns):
        for seconds, way in zip(took, ways, strict=True):
            with suppress(UndoneError), uow.begin() as tx:
                seconds.append(way(tx))
                raise UndoneError
    return [median(one) for one in took]


def _look(user: UUID, function: str, tx: Tx) -> float:
    tx.run(text("SELECT 1"))  # BEGIN travels with it
    statement = text(_LOOK.format(function=function))
    began = time.perf_counter()
    tx.run(statement, user=user).one()
    return time.perf_counter() - began


def _settle(user: UUID, able: str, tx: Tx) -> float:
    tx.run(text(f"ALTER TABLE usage_events {able} TRIGGER usage_events_sum_up"))
    for _ in range(2):  # the first one plans anew
        job = uuid4()
        tx.run(_RESERVE, user=user, job=job)
        began = time.perf_counter()
        tx.run(_SETTLE, job=job)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
