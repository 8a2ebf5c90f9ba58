"""Deliveries are in a part for each month; old months are dropped whole (docs/adr/0094)."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from durable_harness.waiting import wait_for
from sqlalchemy import text
from structlog.testing import capture_logs

from app.domain.webhooks import LOG_LIVES
from app.services.operations.keep_months import keep_months
from app.services.operations.prune import prune
from tests.conftest import World, raw_connection
from tests.databases import LOCK_WAITS
from tests.services.operations.doctoring import Doctor

ADD = """
    INSERT INTO webhook_deliveries (webhook_id, event_id, job_id, type, happened_at, status)
    SELECT :hook, n, gen_random_uuid(), 'analysis.completed', :at, 'delivered' FROM generate_series(1, :rows) n
    RETURNING tableoid::regclass::text AS part"""
PARTS = "SELECT part::text, begins, ends FROM partition_bounds('webhook_deliveries') ORDER BY begins NULLS LAST"
BETWEEN = "SELECT count(*) FROM webhook_deliveries WHERE happened_at >= :begins AND happened_at < :ends"

HELD = """
    SELECT count(*) FROM pg_locks WHERE relation = 'webhook_deliveries_default'::regclass AND granted
       AND mode = 'AccessExclusiveLock'
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""


@pytest.fixture
def hook(world: World) -> UUID:
    made = uuid4()
    world.rows(
        """INSERT INTO webhooks (id, user_id, url, description, events, secret, created_at)
           VALUES (:id, :user, 'https://example.org/', '', '{analysis.completed}', 'x', now()) RETURNING id""",
        id=made,
        user=world.user(),
    )
    return made


def add(world: World, hook: UUID, at: datetime, rows: int = 1) -> set[str]:
    """Deliveries of events at a time.  -> the parts that they are in."""
    return {str(row["part"]) for row in world.rows(ADD, hook=hook, at=at, rows=rows)}


def parts(world: World) -> dict[str, tuple[datetime, datetime]]:
    return {str(row["part"]): (row["begins"], row["ends"]) for row in world.rows(PARTS) if row["begins"] is not None}


def first_of(at: datetime, months: int = 0) -> datetime:
    """The first instant of a month, in UTC."""
    number = at.year * 12 + at.month - 1 + months
    return datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)


def kept(world: World, now: datetime) -> tuple[Sequence[str], Sequence[str]]:
    done = keep_months(world.uow, now=now)
    assert done
    return done.made, done.dropped


def test_there_is_a_part_for_each_of_the_next_months_whenever_it_is_asked(world: World, hook: UUID) -> None:
    now = world.uow.now()
    for ahead in range(8):
        kept(world, first_of(now, ahead) + timedelta(days=3))
    bounds = sorted(parts(world).values())
    assert [ends for _, ends in bounds[:-1]] == [begins for begins, _ in bounds[1:]]
    assert bounds[-1][1] == first_of(now, 10)
    assert kept(world, first_of(now, 7) + timedelta(days=3)) == ([], [])
    begins = first_of(now, 8)
    name = f"webhook_deliveries_{begins:%Y_%m}"
    assert add(world, hook, begins) == {name}
    assert add(world, hook, first_of(now, 9) - timedelta(microseconds=1)) == {name}


def test_a_month_is_dropped_when_its_last_moment_is_as_old_as_the_log(world: World, hook: UUID) -> None:
    now = world.uow.now()
    month = first_of(now, 3)
    kept(world, month)
    name = f"webhook_deliveries_{month:%Y_%m}"
    add(world, hook, month, rows=30)
    over = first_of(now, 4) + LOG_LIVES
    _, dropped = kept(world, over - timedelta(microseconds=1))
    assert f"public.{name}" not in dropped
    assert world.value(BETWEEN, begins=month, ends=first_of(now, 4)) == 30
    assert kept(world, over)[1] == [f"public.{name}"]
    assert name not in parts(world)
    assert world.value(BETWEEN, begins=month, ends=first_of(now, 4)) == 0


def test_what_comes_while_its_month_has_no_part_is_kept_and_moved_when_it_has_one(world: World, hook: UUID) -> None:
    month = first_of(world.uow.now(), 7)
    assert add(world, hook, month + timedelta(days=4), rows=3) == {"webhook_deliveries_default"}
    assert add(world, hook, month + timedelta(days=40)) == {"webhook_deliveries_default"}
    before = world.rows("SELECT * FROM webhook_deliveries ORDER BY id")
    kept(world, first_of(month, -2))
    inside = "SELECT tableoid::regclass::text AS part, count(*) AS n FROM webhook_deliveries GROUP BY 1 ORDER BY 1"
    assert {row["part"]: row["n"] for row in world.rows(inside)} == {
        f"webhook_deliveries_{month:%Y_%m}": 3, "webhook_deliveries_default": 1,
    }  # fmt: skip
    assert world.rows("SELECT * FROM webhook_deliveries ORDER BY id") == before


def test_what_is_in_no_months_part_is_deleted_row_by_row(world: World, hook: UUID) -> None:
    now = first_of(world.uow.now(), 9)
    assert add(world, hook, now - timedelta(days=31), rows=7) == {"webhook_deliveries_default"}
    add(world, hook, now, rows=2)
    assert prune(world.uow, now=now, dry_run=True).webhook_deliveries == 7
    assert prune(world.uow, now=now).webhook_deliveries == 7
    assert world.value("SELECT count(*) FROM webhook_deliveries") == 2


def test_parts_that_somebody_else_makes_are_left_alone(world: World, hook: UUID) -> None:
    """Make partitions as pg_partman does; here they are weeks, and one crosses the end of a month."""
    month = first_of(world.uow.now(), 5)
    week = (month - timedelta(days=3), month + timedelta(days=4))
    world.rows(
        f"""CREATE TABLE theirs PARTITION OF webhook_deliveries FOR VALUES FROM ('{week[0].isoformat()}')
            TO ('{week[1].isoformat()}'); SELECT 1"""
    )
    made, _ = kept(world, first_of(month, -2))
    assert made == [f"public.webhook_deliveries_{first_of(month, -2):%Y_%m}"]
    assert add(world, hook, month) == {"theirs"}
    assert add(world, hook, month + timedelta(days=5)) == {"webhook_deliveries_default"}


def test_only_this_table_is_kept_by_the_function(world: World) -> None:
    with pytest.raises(Exception, match="job_events is not kept by month"):
        world.rows("SELECT * FROM webhook_deliveries_months('job_events', now(), now())")


def test_who_uses_the_table_is_not_kept_waiting(world: World, hook: UUID) -> None:
    """It gives up, and does nothing by halves."""
    url = world.uow.engine.url.render_as_string(hide_password=False)
    later = first_of(world.uow.now(), 4)
    before = parts(world)
    with raw_connection(url) as reader:
        reader.execute(text("SELECT count(*) FROM webhook_deliveries"))
        with ThreadPoolExecutor(1) as thread:
            done = thread.submit(keep_months, world.uow, now=later)
            wait_for(lambda: done.done() or world.value(LOCK_WAITS), "the drop to wait for the reader")
            add(world, hook, later)  # waits until it has given up
            assert done.result() is None
        reader.rollback()
    assert parts(world) == before
    assert keep_months(world.uow, now=later)


def test_who_waits_to_drop_a_month_does_not_hold_the_part_that_others_may_need(world: World, hook: UUID) -> None:
    """The client has the table and would need the default part; both would wait until somebody gives up."""
    url = world.uow.engine.url.render_as_string(hide_password=False)
    later, held = first_of(world.uow.now(), 4), 0
    with raw_connection(url) as client:
        client.execute(text(ADD), {"hook": hook, "at": world.uow.now(), "rows": 1})
        with ThreadPoolExecutor(1) as thread:
            done = thread.submit(keep_months, world.uow, now=later)
            wait_for(lambda: done.done() or world.value(LOCK_WAITS), "the drop to wait for the client")
            held = world.value(HELD)
            client.commit()
            done.result()
    assert held == 0
    assert first_of(later) in [
        begins for begins, _ in parts(world).values()
    ]  # what was made stays, whatever is dropped


def test_the_log_says_what_was_made_although_nothing_could_be_dropped(world: World, hook: UUID) -> None:
    url = world.uow.engine.url.render_as_string(hide_password=False)
    later = first_of(world.uow.now(), 4)
    with raw_connection(url) as client, capture_logs() as said:
        client.execute(text(ADD), {"hook": hook, "at": world.uow.now(), "rows": 1})
        assert keep_months(world.uow, now=later) is None
        client.rollback()
    assert [line["event"] for line in said] == ["months_kept", "months_in_use"]
    assert f"public.webhook_deliveries_{later:%Y_%m}" in said[0]["made"]
    assert said[0]["dropped"] == []


def test_an_event_is_told_once_also_in_parts(world: World, hook: UUID) -> None:
    at = world.uow.now()
    add(world, hook, at)
    with pytest.raises(Exception, match="duplicate key value violates unique constraint"):
        add(world, hook, at)


def test_the_doctor_makes_missing_months_and_tells_of_rows_without_one(
    world: World, hook: UUID, tmp_path: Path
) -> None:
    doctor = Doctor(world, tmp_path)
    assert doctor.see("months").status == "ok"
    world.rows("DROP TABLE webhook_deliveries_before; SELECT 1")
    assert add(world, hook, world.uow.now()) == {"webhook_deliveries_default"}
    assert {row["fault"] for row in doctor.mend("months").rows} == {
        "has no part", "is in the part for what is in no other",
    }  # fmt: skip
    assert world.value("SELECT count(*) FROM webhook_deliveries_default") == 0
