"""Slots of schedules are sent once, by whomever leads; what was missed runs once, late."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from durable_harness.waiting import wait_for

from app.services.operations.send_schedule import ScheduledEntry, seconds_to_next, send_newest_slot
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import schedule
from tests.conftest import NOW, World, raw_connection

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
HOURLY = ScheduledEntry("reschedule", "tasks.maintenance.reschedule", HOUR, "analysis_scheduled")


def done(world: World) -> bool:
    """A worker has run the one message there is, which names nobody."""
    rows = world.rows(
        """WITH done AS (DELETE FROM kombu_message RETURNING queue_id, user_id)
           SELECT q.name, d.user_id FROM done d JOIN kombu_queue q ON q.id = d.queue_id LIMIT 1"""
    )
    return rows == [{"name": "analysis_scheduled", "user_id": None}]


def test_a_slot_is_taken_once_by_threads_that_want_it_at_once(uow: UnitOfWork) -> None:
    barrier = Barrier(8)

    def take(_: int) -> bool:
        barrier.wait()
        with uow.begin() as tx:
            return schedule.take(tx, "sweep", NOW)

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(take, range(8))) == [False] * 7 + [True]


def test_names_and_instants_are_slots_of_their_own(uow: UnitOfWork) -> None:
    with uow.begin() as tx:
        assert schedule.take(tx, "sweep", NOW)
        assert schedule.take(tx, "sweep", NOW + HOUR)
        assert schedule.take(tx, "reschedule", NOW)
        assert not schedule.take(tx, "sweep", NOW)


def test_old_slots_are_forgotten(uow: UnitOfWork) -> None:
    with uow.begin() as tx:
        for days in (0, 30, 31):
            schedule.take(tx, "sweep", NOW - days * DAY)
        assert schedule.prune(tx, before=NOW - 30 * DAY) == 1


def test_one_leads_until_its_connection_is_gone(database_url: str) -> None:
    with raw_connection(database_url) as one, raw_connection(database_url) as other:
        assert schedule.lead(one)
        assert not schedule.lead(other)
        schedule.alive(one)
        one.invalidate()
        wait_for(lambda: schedule.lead(other), "the other one to lead")


def test_a_tick_sends_the_entry_once_per_slot(world: World) -> None:
    sent = [send_newest_slot(world.uow, HOURLY, now=NOW + timedelta(minutes=m)) for m in (0, 1, 59)]
    sent += [done(world) and send_newest_slot(world.uow, HOURLY, now=NOW + timedelta(minutes=m)) for m in (60, 61)]
    assert sent == [True, False, False, True, False]


def test_missed_slots_collapse_into_the_newest_one(world: World) -> None:
    assert send_newest_slot(world.uow, HOURLY, now=NOW)
    assert done(world)
    late = NOW + 10 * HOUR + timedelta(minutes=30)
    assert send_newest_slot(world.uow, HOURLY, now=late)
    assert not send_newest_slot(world.uow, HOURLY, now=late + timedelta(minutes=29))
    slots = world.rows("SELECT slot_at FROM schedule_runs ORDER BY slot_at")
    assert [row["slot_at"] for row in slots] == [NOW, NOW + 10 * HOUR]
    assert done(world)


def test_a_day_without_a_worker_leaves_one_message_of_an_entry(world: World) -> None:
    every_five = ScheduledEntry("sweep", "tasks.maintenance.sweep", timedelta(minutes=5), "analysis_scheduled")
    sent = [send_newest_slot(world.uow, every_five, now=NOW + number * every_five.every) for number in range(288)]
    assert sent == [True] + [False] * 287
    assert send_newest_slot(world.uow, HOURLY, now=NOW)
    assert world.value("SELECT count(*) FROM kombu_message") == 2
    assert world.value("SELECT count(*) FROM schedule_runs") == 289
    assert done(world)
    assert send_newest_slot(world.uow, every_five, now=NOW + DAY)


def test_a_daily_entry_runs_at_its_time_of_day(world: World) -> None:
    daily = ScheduledEntry("retention", "tasks.maintenance.sweep", DAY, "analysis_scheduled", offset=3 * HOUR)
    midnight = NOW.replace(hour=0)
    assert send_newest_slot(world.uow, daily, now=midnight)  # yesterday's, late
    assert done(world)
    assert not send_newest_slot(world.uow, daily, now=midnight + 2 * HOUR)
    assert send_newest_slot(world.uow, daily, now=midnight + 3 * HOUR)
    assert seconds_to_next(daily, now=midnight + 2 * HOUR) == 3600
    assert seconds_to_next(daily, now=midnight + 3 * HOUR) == 86_400


def test_ticks_of_many_beats_at_once_send_one_message(world: World) -> None:
    barrier = Barrier(8)

    def beat(_: int) -> bool:
        barrier.wait()
        return send_newest_slot(world.uow, HOURLY, now=NOW)

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(beat, range(8))) == 1
    assert world.value("SELECT count(*) FROM kombu_message") == 1


def test_a_slot_whose_message_could_not_be_published_is_still_to_be_sent(world: World) -> None:
    def broken(connection: object, message: object) -> None:
        raise ConnectionError("the queue is away")

    with pytest.raises(ConnectionError):
        send_newest_slot(UnitOfWork(world.uow.engine, broken), HOURLY, now=NOW)
    assert send_newest_slot(world.uow, HOURLY, now=NOW)
