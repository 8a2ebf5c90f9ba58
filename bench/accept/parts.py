"""What an accept costs beside the bare publish it ends in, and beside full tables: the service alone, no web."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from statistics import median
from uuid import UUID, uuid4

from sqlalchemy import text

from app.domain.plans import Tier
from app.domain.repositories import Repository
from app.domain.summaries import percentile
from app.services.analyses.submission import Wanted
from app.services.analyses.submit import submit
from app.services.jobs.answers import Key
from app.services.policy import Policy
from app.store.core.unit_of_work import JobMessage, UnitOfWork
from app.web.jobs.job_json import rendered
from bench.accept.database import database, user

#: The tables of messages.
BROKER = "durable_message, durable_ready, durable_lease, durable_waiting"
POLICY = Policy("1.0.0+bench")
SHOP = Repository("github.com", "bench", "shop")
TURN, WARM = 200, 100
#: Rows before the accept of the full tables.
RESERVATIONS, EVENTS, USERS = 1_000_000, 10_000_000, 5_000
#: Of the user who is measured: a period nearly used up, which is the longest sum.
USED, HELD = 4_000, 500


def cost(rounds: int) -> dict[str, float]:
    """Milliseconds of a bare publish in its own transaction, and of whole accepts, by turns."""
    with database() as (_, uow):
        own = user(uow, "parts", Tier.PRO_PLUS)
        turns: dict[str, Callable[[], object]] = {
            "bare publish": lambda: _publish(uow, own),
            "accept": lambda: _accept(uow, own, with_key=False),
            "accept with a key": lambda: _accept(uow, own, with_key=True),
        }
        times: dict[str, list[float]] = {name: [] for name in turns}
        for turn in turns.values():
            _times(turn, WARM)
        for _ in range(rounds):
            for name, turn in turns.items():
                times[name] += _times(turn, TURN)
                _clear(uow)
    bare = median(times["bare publish"])
    return {
        **{f"{name}, p50 ms": median(found) for name, found in times.items()},
        **{f"{name} / bare publish": median(times[name]) / bare for name in ("accept", "accept with a key")},
    }


def full(rounds: int) -> dict[str, float]:
    """p50 and p99 of an accept with empty tables, and with a million reservations and ten million usage events."""
    figures: dict[str, float] = {}
    with database() as (_, uow):
        own = user(uow, "full", Tier.PRO_PLUS)
        for state in ("empty", "full"):
            if state == "full":
                _fill(uow, own)
            _times(lambda: _accept(uow, own, with_key=True), WARM)
            times = []
            for _ in range(rounds):
                times += _times(lambda: _accept(uow, own, with_key=True), TURN)
                _clear(uow)
            figures |= {f"{state}, p50 ms": median(times), f"{state}, p99 ms": percentile(times, 0.99)}
            print(f"  {state}: {figures}", flush=True)
    return figures | {"full / empty, p99": figures["full, p99 ms"] / figures["empty, p99 ms"]}


def _times(call: Callable[[], object], count: int) -> list[float]:
    times = []
    for _ in range(count):
        began = time.perf_counter()
        call()
        times.append((time.perf_counter() - began) * 1000)
    return times


def _publish(uow: UnitOfWork, user_id: UUID) -> None:
    commit = uuid4().hex
    arguments = {"host": SHOP.host, "owner": SHOP.owner, "name": SHOP.name, "commit": commit, "user_id": str(user_id)}
    with uow.begin() as tx:
        tx.publish(
            JobMessage(
                job_id=uuid4(), task="tasks.analysis.analyse", queue="analysis_priority", kwargs=arguments,
                user_id=user_id, unique_key=SHOP.unique_key(commit),
            )
        )  # fmt: skip


def _accept(uow: UnitOfWork, user_id: UUID, *, with_key: bool) -> None:
    key = Key(uuid4().hex, b"fingerprint", rendered) if with_key else None
    submit(uow, user_id, Wanted(SHOP, uuid4().hex), POLICY, key=key, now=datetime.now(UTC))


def _clear(uow: UnitOfWork) -> None:
    """Take away what the turns left, so that each begins alike; what was filled in stays."""
    with uow.begin() as tx:
        tx.run(text("DELETE FROM quota_reservations WHERE job_id IN (SELECT task_id::uuid FROM broker_message)"))
        tx.run(text("SELECT broker_delete(task_id) FROM broker_message"))
    with uow.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"VACUUM ANALYZE {BROKER}, quota_reservations, analysis_requests, job_events"))


def _fill(uow: UnitOfWork, own: UUID) -> None:
    of = "CASE WHEN n <= :mine THEN :own ELSE lpad(to_hex(1 + n % :users), 32, '0')::uuid END"
    with uow.begin() as tx:
        tx.run(text(_OTHERS), users=USERS)
        for statement, rows, mine in ((_RESERVATIONS, RESERVATIONS, HELD), (_EVENTS, EVENTS, USED)):
            tx.run(text(statement.format(of=of)), mine=mine, own=own, users=USERS, rows=rows)
    with uow.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))


_OTHERS = """
    INSERT INTO users (id, email, created_at)
    SELECT lpad(to_hex(n), 32, '0')::uuid, n || '@example.org', now() FROM generate_series(1, :users) n"""
_RESERVATIONS = """
    INSERT INTO quota_reservations (user_id, event_type, reserved_amount, job_id, accepted_at, expires_at)
    SELECT {of}, 'analysis', 1, gen_random_uuid(), now(), now() + interval '1 h' FROM generate_series(1, :rows) n"""
_EVENTS = """
    INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
    SELECT {of}, 'analysis', 1, gen_random_uuid(), gen_random_uuid(),
           now() - CASE WHEN n <= :mine THEN interval '0' ELSE (n % 365) * interval '1 d' END, now()
      FROM generate_series(1, :rows) n"""
