"""The totals of what happened to jobs: each event counts once, whenever its transaction ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event
from typing import Any
from uuid import UUID, uuid4

import pytest
from durable_harness.waiting import wait_for
from sqlalchemy import Connection, text
from sqlalchemy.event import listen, remove

from app.domain.lifecycle import Failure, Outcome
from app.domain.plans import Tier
from app.services.operations.count_events import BOUNDS, count_new, totals
from app.store.operations import event_totals
from app.store.operations.event_totals import TotalRow
from tests.conftest import World, raw_connection
from tests.services.fairness.courses import at

ADD = "INSERT INTO job_events (job_id, event) VALUES (:job_id, 'told')"
TELL = """
    INSERT INTO job_events (job_id, at, event, facts)
    VALUES (:job_id, :at, :event, CAST(:facts AS jsonb)) RETURNING id"""
POSITION = "SELECT counted_to, settled_to, mark_to FROM event_totals_position"
BROKEN = Failure("repository_not_found", "gone")
TIMED_OUT = Failure("time_limit", "too long", retryable=True)


def counted(world: World, name: str) -> dict[tuple[str, str, str], int]:
    """Events of a name by service, tier and code."""
    found: Counter[tuple[str, str, str]] = Counter()
    for row in totals(world.uow):
        if row.name == name:
            found[row.service, row.tier, row.code] += row.events
    return dict(found)


def took(world: World, name: str) -> list[TotalRow]:
    return [row for row in totals(world.uow) if row.name == name]


def is_settled(world: World) -> bool:
    """Count, and say if nothing is looked at again: a transaction of another test's database puts that off, too."""
    count_new(world.uow, batches=1)
    [position] = world.rows(POSITION)
    return bool(position["settled_to"] == position["counted_to"] == world.value("SELECT max(id) FROM job_events"))


def lived(world: World, *events: tuple[float, str, str]) -> UUID:
    """A job of a pro user whose events had these times; the first is its accept."""
    job_id = uuid4()
    for seconds, event, facts in events:
        world.rows(TELL, job_id=job_id, at=at(world, seconds), event=event, facts=facts)
    return job_id


ACCEPTED = '{"queue": "analysis_priority", "tier": "pro"}'


@pytest.fixture
def opened(database_url: str) -> Iterator[list[Connection]]:
    """Two sessions whose transactions the test ends."""
    with ExitStack() as stack:
        yield [stack.enter_context(raw_connection(database_url)) for _ in range(2)]


def test_what_the_services_did_is_counted_by_service_tier_and_code(world: World) -> None:
    free, pro = world.user(), world.user(Tier.PRO)
    world.finish(world.running(free), free)
    delivery = world.running(pro)
    assert world.fail(delivery, pro, BROKEN) is Outcome.FAILED
    retried = world.running(pro, world.wanted(commit="b" * 40))
    assert world.fail(retried, pro, TIMED_OUT) is Outcome.RETRY
    assert counted(world, "accepted") == {("analysis", "free", ""): 1, ("analysis", "pro", ""): 2}
    assert counted(world, "completed") == {("analysis", "free", ""): 1}
    assert counted(world, "failed") == {("analysis", "pro", "repository_not_found"): 1}
    assert counted(world, "retrying") == {("analysis", "pro", "time_limit"): 1}
    assert counted(world, "run") == {("analysis", "free", "completed"): 1, ("analysis", "pro", "failed"): 1}
    assert sum(counted(world, "wait").values()) == 3
    assert counted(world, "lost") == {}


def test_times_are_counted_by_bucket_and_added_up(world: World) -> None:
    lived(world, (0, "accepted", ACCEPTED), (4, "started", '{"attempt": 1}'), (34, "completed", '{"attempt": 1}'))
    lived(
        world,
        (0, "accepted", ACCEPTED),
        (1, "snoozed", "{}"),
        (8, "woken", "{}"),
        (8.015, "started", '{"attempt": 1}'),
        (8.5, "cancelled", '{"attempt": 1}'),
    )
    waits = took(world, "wait")
    assert [(BOUNDS[row.bucket], row.events) for row in waits] == [(5, 1), (10, 1)]
    assert sum(row.seconds for row in waits) == pytest.approx(12.015)
    [wake] = took(world, "wake")
    assert (BOUNDS[wake.bucket], wake.events, wake.service) == (0.02, 1, "analysis")
    assert {row.code: round(row.seconds, 3) for row in took(world, "run")} == {"completed": 30, "cancelled": 0.485}


def test_an_attempt_of_which_nothing_more_was_told_was_lost(world: World) -> None:
    lived(world, (0, "accepted", ACCEPTED), (1, "started", '{"attempt": 1}'), (9, "started", '{"attempt": 2}'))
    lived(
        world,
        (0, "accepted", ACCEPTED),
        (1, "started", '{"attempt": 1}'),
        (2, "retrying", '{"attempt": 1, "code": "time_limit"}'),
        (9, "started", '{"attempt": 2}'),
    )
    lived(world, (0, "accepted", ACCEPTED), (9, "failed", '{"code": "worker_lost"}'))
    assert counted(world, "lost") == {("analysis", "pro", ""): 2}
    assert sum(counted(world, "wait").values()) == 2  # the first starts


def test_an_estimate_is_kept_or_missed(world: World) -> None:
    for wait in (1, 3, 5):
        lived(world, (0, "accepted", ACCEPTED[:-1] + ', "eta": [2, 4]}'), (wait, "started", '{"attempt": 1}'))
    assert counted(world, "estimate_kept") == {("analysis", "pro", ""): 1}
    assert counted(world, "estimate_missed") == {("analysis", "pro", ""): 2}


def test_a_scheduled_job_has_no_tier_and_an_unknown_job_no_service(world: World) -> None:
    lived(world, (0, "accepted", '{"queue": "analysis_scheduled"}'))
    lived(world, (0, "started", '{"attempt": 1}'))
    assert counted(world, "accepted") == {("analysis", "none", ""): 1}
    assert counted(world, "started") == {("", "none", ""): 1}


@pytest.mark.parametrize("saved", [False, True], ids=["plain", "below a savepoint"])
def test_an_event_whose_transaction_ends_after_later_ones_counts_once(
    world: World, opened: Sequence[Connection], saved: bool
) -> None:
    late, soon = opened
    if saved:
        late.execute(text("SAVEPOINT s"))
    late.execute(text(ADD), {"job_id": uuid4()})
    if saved:
        late.execute(text("RELEASE s"))
    soon.execute(text(ADD), {"job_id": uuid4()})
    soon.commit()
    assert counted(world, "told") == {("", "none", ""): 1}
    late.commit()
    assert counted(world, "told") == {("", "none", ""): 2}
    assert counted(world, "told") == {("", "none", ""): 2}


def test_what_is_undone_does_not_count(world: World, opened: Sequence[Connection]) -> None:
    undone, _ = opened
    undone.execute(text(ADD), {"job_id": uuid4()})
    assert counted(world, "told") == {}
    undone.rollback()
    assert counted(world, "told") == {}


def test_nothing_is_looked_at_again_once_all_transactions_of_its_time_have_ended(
    world: World, opened: Sequence[Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_totals, "MARK_SECONDS", 0)
    late, soon = opened
    late.execute(text(ADD), {"job_id": uuid4()})
    soon.execute(text(ADD), {"job_id": uuid4()})
    soon.commit()
    for _ in range(3):
        count_new(world.uow, batches=1)
        assert world.value("SELECT settled_to FROM event_totals_position") == 0  # the late one may come before
    late.commit()
    wait_for(lambda: is_settled(world), "all transactions of before to have ended")
    assert counted(world, "told") == {("", "none", ""): 2}


def test_more_events_than_one_transaction_counts_are_counted_by_the_next(world: World) -> None:
    for _ in range(7):
        lived(world, (0, "told", "{}"))
    assert count_new(world.uow, batches=2, most=3) == 1
    assert count_new(world.uow, batches=2, most=3) == 0
    assert counted(world, "told") == {("", "none", ""): 7}


def test_who_finds_somebody_counting_counts_nothing_and_does_not_wait(
    world: World, opened: Sequence[Connection]
) -> None:
    counting, _ = opened
    lived(world, (0, "told", "{}"))
    counting.execute(text("SELECT FROM event_totals_position FOR UPDATE"))
    assert count_new(world.uow, batches=1) == 0
    assert counted(world, "told") == {}
    counting.rollback()
    assert counted(world, "told") == {("", "none", ""): 1}


def test_four_that_count_beside_eight_that_write_count_each_event_once(
    world: World, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_totals, "MARK_SECONDS", 0)
    is_over = Event()

    def write(number: int) -> int:
        with raw_connection(database_url) as connection:
            for turn in range(60):
                # an id is given before the transaction has a number; here nothing waits MARK_SECONDS for that
                connection.execute(text("SELECT pg_current_xact_id()"))
                for _ in range(1 + (number + turn) % 3):
                    connection.execute(text(ADD), {"job_id": uuid4()})
                (connection.rollback if (number + turn) % 5 == 0 else connection.commit)()
        return sum(1 + (number + turn) % 3 for turn in range(60) if (number + turn) % 5)

    def count(_: int) -> None:
        while not is_over.is_set():
            count_new(world.uow, batches=1, most=50)

    with ThreadPoolExecutor(12) as threads:
        counting = [threads.submit(count, number) for number in range(4)]
        try:
            written = sum(threads.map(write, range(8)))
        finally:
            is_over.set()
        for one in counting:
            one.result()
    while count_new(world.uow, batches=1):
        pass
    assert counted(world, "told") == {("", "none", ""): written}


def test_after_a_dump_was_restored_on_another_server_counting_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_totals, "MARK_SECONDS", 0)
    lived(world, (0, "told", "{}"))
    assert counted(world, "told") == {("", "none", ""): 1}
    # where that server's transactions had higher numbers
    world.rows("""
        UPDATE event_totals_position
           SET seen = '9000000:9000000:', marked_before = '9000000' RETURNING 1""")
    lived(world, (0, "told", "{}"))
    assert counted(world, "told") == {("", "none", ""): 2}
    lived(world, (0, "told", "{}"))
    wait_for(lambda: is_settled(world), "all transactions of before to have ended")
    assert counted(world, "told") == {("", "none", ""): 3}


def test_events_from_before_the_totals_are_not_counted(world: World) -> None:
    lived(world, (0, "told", "{}"))
    world.rows("UPDATE job_events SET written_by = NULL RETURNING 1")
    assert counted(world, "told") == {}


def test_a_database_that_takes_no_writes_shows_the_totals_of_before(world: World) -> None:
    lived(world, (0, "told", "{}"))
    assert counted(world, "told") == {("", "none", ""): 1}
    lived(world, (0, "told", "{}"))

    def only_read(connection: Any, *_: object) -> None:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = on")

    listen(world.uow.engine, "checkout", only_read)
    assert counted(world, "told") == {("", "none", ""): 1}
    remove(world.uow.engine, "checkout", only_read)
