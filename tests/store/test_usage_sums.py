"""Running sums of bills: always exactly the sum of the events, whoever writes these (docs/adr/0062)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from app.domain.periods import Period, period_at
from app.domain.plans import EventType, Tier
from app.store.core.unit_of_work import Tx
from app.store.jobs import quota
from tests.conftest import World

HOUR, TICK = timedelta(hours=1), timedelta(microseconds=1)
BEGAN = datetime(2026, 3, 14, 22, tzinfo=UTC)
INSERT = text("""
    INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
    VALUES (:user, CAST(:kind AS usage_event_type), :amount, :job, :job, :at, :at)""")
#: What a writer may do to one event.
CHANGES = {
    "amount": text("UPDATE usage_events SET quota_amount = :amount WHERE job_id = :job"),
    "moved": text("UPDATE usage_events SET accepted_at = :at WHERE job_id = :job"),
    "another user": text("UPDATE usage_events SET user_id = :user WHERE job_id = :job"),
    "nobody": text("UPDATE usage_events SET user_id = NULL, accepted_at = :at WHERE job_id = :job"),
    "kind": text("UPDATE usage_events SET event_type = CAST(:kind AS usage_event_type) WHERE job_id = :job"),
    "forgotten": text("UPDATE usage_events SET forgotten_at = :at WHERE job_id = :job"),
    "deleted": text("DELETE FROM usage_events WHERE job_id = :job"),
}
PLAIN = text("""
    SELECT coalesce(sum(quota_amount), 0) AS plain,
           usage_used(:user, CAST(:kind AS usage_event_type), :start, :end) AS used
      FROM usage_events
     WHERE user_id = :user AND event_type = CAST(:kind AS usage_event_type)
       AND accepted_at >= :start AND accepted_at < :end""")

instants = st.builds(
    lambda hours, off: BEGAN + hours * HOUR + off,
    st.integers(0, 5),
    st.sampled_from([-TICK, timedelta(0), TICK]) | st.timedeltas(timedelta(0), HOUR),
)
kinds = st.sampled_from([kind.value for kind in EventType])
steps = st.lists(
    st.fixed_dictionaries({
        "change": st.sampled_from(["insert", "insert", *CHANGES]),
        "user": st.integers(0, 1),
        "kind": kinds,
        "amount": st.integers(1, 9),
        "which": st.integers(0, 9),
        "at": instants,
    }),
    max_size=25,
)  # fmt: skip


class UndoneError(Exception):
    """So that an example leaves nothing."""


def act(tx: Tx, step: dict[str, Any], users: list[UUID], jobs: list[UUID]) -> None:
    given = {"user": users[step["user"]], "kind": step["kind"], "amount": step["amount"], "at": step["at"]}
    if step["change"] == "insert" or not jobs:
        jobs.append(uuid4())
        tx.run(INSERT, **given, job=jobs[-1])
        return
    statement = CHANGES[step["change"]]
    used = {name: value for name, value in given.items() if f":{name}" in statement.text}
    tx.run(statement, **used, job=jobs[step["which"] % len(jobs)])


def compared(tx: Tx, user: UUID, kind: str, period: Period) -> tuple[int, int]:
    row = tx.run(PLAIN, user=user, kind=kind, start=period.start, end=period.end).one()
    return int(row.used), int(row.plain)


@pytest.mark.proof
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps, st.lists(st.tuples(instants, instants), min_size=1, max_size=4))
def test_a_period_from_sums_is_the_sum_of_its_events_whatever_was_done_to_these(
    world: World, done: list[dict[str, Any]], bounds: list[tuple[datetime, datetime]]
) -> None:
    with suppress(UndoneError), world.uow.begin() as tx:
        users, jobs = [uuid4(), uuid4()], list[UUID]()
        for user in users:
            tx.run(text("INSERT INTO users (id, kind, created_at) VALUES (:id, 'anonymous', now())"), id=user)
        for step in done:
            act(tx, step, users, jobs)
        for start, end in bounds:
            for user in users:
                for kind in EventType:
                    used, plain = compared(tx, user, kind.value, Period(min(start, end), max(start, end)))
                    assert used == plain
        raise UndoneError


def bill(world: World, user: UUID, at: datetime, amount: int = 1) -> UUID:
    job = uuid4()
    with world.uow.begin() as tx:
        tx.run(INSERT, user=user, kind="analysis", amount=amount, job=job, at=at)
    return job


def test_a_period_of_another_anchor_is_exact_as_well(world: World) -> None:
    user = world.user()
    for minutes in range(0, 48 * 60, 35):
        bill(world, user, BEGAN + timedelta(minutes=minutes))
    anchors = [BEGAN - timedelta(days=40, minutes=part) for part in (0, 1, 59, 61)]
    with world.uow.begin() as tx:
        for anchor in anchors:
            for now in (BEGAN, BEGAN + 7 * HOUR, BEGAN + 47 * HOUR):
                used, plain = compared(tx, user, "analysis", period_at(anchor, now))
                assert used == plain > 0


def test_the_sums_of_a_deleted_user_go_with_it(world: World) -> None:
    user = world.user()
    bill(world, user, BEGAN)
    world.rows("DELETE FROM users WHERE id = :id RETURNING id", id=user)
    assert world.rows("SELECT * FROM usage_sums") == []
    assert world.value("SELECT count(*) FROM usage_events") == 1


def write(world: World, user: UUID, number: int) -> None:
    """Fifteen bills of one hour, of which three are rolled back."""
    for turn in range(15):
        with suppress(UndoneError), world.uow.begin() as tx:
            tx.run(INSERT, user=user, kind="analysis", amount=number + 1, job=uuid4(), at=BEGAN)
            if turn % 5 == number % 5:
                raise UndoneError


def test_writers_that_know_nothing_of_the_sums_and_lock_no_user_keep_them_exact_for_every_reader(world: World) -> None:
    """As workers of the previous release, but all in one hour."""
    user, writers, over = world.user(Tier.ENTERPRISE), 6, Event()
    period = Period(BEGAN - HOUR, BEGAN + HOUR)

    def read() -> int:
        reads = 0
        while not over.is_set() or not reads:
            with world.uow.begin() as tx:
                used, plain = compared(tx, user, "analysis", period)
                assert used == plain
            reads += 1
        return reads

    with ThreadPoolExecutor(writers + 1) as threads:
        reader = threads.submit(read)
        for written in [threads.submit(write, world, user, number) for number in range(writers)]:
            written.result()
        over.set()
        assert reader.result() > 0
    expected = sum((number + 1) * 12 for number in range(writers))
    assert world.value("SELECT sum(amount) FROM usage_sums") == expected
    with world.uow.begin() as tx:
        assert quota.usage(tx, user, EventType.ANALYSIS, period, None).used == expected
