"""Messages: the place in line, whom a wake wakes, and who hears of it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any
from uuid import UUID, uuid4

import psycopg2
import pytest
from durable_harness.waiting import wait_for
from sqlalchemy import text
from sqlalchemy.engine import make_url

from app.domain.plans import Tier
from app.domain.queues import Service
from app.domain.waiting import Line
from app.store.core.unit_of_work import JobMessage
from app.store.fairness.queue_position import line as line_of
from app.store.jobs import heartbeats, messages
from app.store.jobs.messages import MessageRow
from app.store.operations import queues
from tests.conftest import World
from tests.databases import LOCK_WAITS


def publish(world: World, user: UUID | None, queue: str = "analysis_default") -> UUID:
    job_id = uuid4()
    with world.uow.begin() as tx:
        tx.publish(JobMessage(job_id, "tasks.analysis.analyse", queue, user_id=user))
    return job_id


def snoozed(world: World, user: UUID, queue: str = "analysis_default") -> UUID:
    job_id = publish(world, user, queue)
    sleep = """
        UPDATE kombu_message SET visible = false, delay_reason = 'snooze',
               visible_at = clock_timestamp() + interval '30 s' WHERE task_id = :id RETURNING id"""
    assert world.rows(sleep, id=str(job_id))
    return job_id


def line(world: World, job_id: UUID) -> Line:
    with world.uow.begin() as tx:
        now = tx.run(text("SELECT clock_timestamp()")).scalar_one()
        found = line_of(tx, job_id, now=now)
        assert found is not None
        return found


def wake(world: World, user: UUID, service: Service = Service.ANALYSIS, *, most: int = 1) -> list[UUID]:
    """The jobs that were woken, as their timelines tell."""
    before = world.value("SELECT coalesce(max(id), 0) FROM job_events")
    with world.uow.begin() as tx:
        messages.wake(tx, user, service, most=most)
    told = world.rows("SELECT job_id FROM job_events WHERE event = 'woken' AND id > :before ORDER BY id", before=before)
    return [row["job_id"] for row in told]


@contextmanager
def listener(url: str) -> Iterator[Any]:
    """A connection that hears what the nodes hear; call it for the names of queues told so far."""
    connection = psycopg2.connect(make_url(url).set(drivername="postgresql").render_as_string(hide_password=False))
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute('LISTEN "kombu_message"')

        def told() -> list[str]:
            cursor.execute("SELECT 1")  # the server sends what is due with the answer
            heard = [note.payload for note in connection.notifies]
            connection.notifies.clear()
            return heard

        yield told
    connection.close()


def test_the_place_in_line_counts_ready_messages_of_the_same_queue_only(world: World) -> None:
    one, other = world.user(), world.user()
    publish(world, other)
    publish(world, one)
    publish(world, one, "analysis_priority")
    snoozed(world, other)
    publish(world, other)
    job_id = publish(world, one)
    publish(world, other)
    found = line(world, job_id)
    assert (found.position, found.own, found.workers, found.paused) == (4, 1, 0, False)


def test_the_first_in_line_has_nobody_before_it(world: World) -> None:
    job_id = publish(world, world.user())
    assert line(world, job_id).position == 1
    assert 0 <= line(world, job_id).head_age_seconds < 60


def test_the_line_knows_how_old_its_head_is_how_many_work_on_it_and_whether_it_is_paused(world: World) -> None:
    user = world.user(Tier.PRO)
    for _ in range(2):
        world.running(user)
    world.lease(world.submit(user))  # prefetched, not started
    head = world.submit(user)
    world.rows(
        "UPDATE kombu_message SET enqueued_at = enqueued_at - interval '1 h', visible_at = visible_at - interval '1 h'"
        " WHERE task_id = :id RETURNING id",
        id=str(head),
    )
    job_id = world.submit(user)
    world.rows("UPDATE kombu_queue SET paused_at = now() WHERE name = 'analysis_priority' RETURNING id")
    found = line(world, job_id)
    assert (found.position, found.own, found.workers, found.paused) == (2, 1, 2, True)
    assert 3600 <= found.head_age_seconds < 3660


def test_an_anonymous_message_is_nobodys_own(world: World) -> None:
    publish(world, None)
    job_id = publish(world, None)
    assert (line(world, job_id).position, line(world, job_id).own) == (2, 0)


def test_a_wake_takes_the_users_oldest_first_one_by_one(world: World) -> None:
    user = world.user()
    jobs = [snoozed(world, user) for _ in range(3)]
    assert [wake(world, user) for _ in range(4)] == [[jobs[0]], [jobs[1]], [jobs[2]], []]


def test_a_wake_leaves_other_users_other_services_and_other_reasons_alone(world: World) -> None:
    user, other = world.user(), world.user()
    snoozed(world, other)
    spec = snoozed(world, user, "specview_default")
    publish(world, user)
    retried = snoozed(world, user)
    world.rows("UPDATE kombu_message SET delay_reason = 'retry' WHERE task_id = :id RETURNING id", id=str(retried))
    assert wake(world, user) == []
    assert wake(world, user, Service.SPECVIEW) == [spec]


def test_a_service_is_all_its_queues(world: World) -> None:
    user = world.user()
    jobs = [snoozed(world, user, queue) for queue in ("analysis_default", "analysis_priority", "analysis_scheduled")]
    assert sorted(wake(world, user, most=9)) == sorted(jobs)


def test_after_a_change_of_tier_each_service_wakes_as_many_as_may_run(world: World) -> None:
    user = world.user()
    analysis = [snoozed(world, user) for _ in range(4)]
    spec = [snoozed(world, user, "specview_default") for _ in range(4)]
    woken = [job_id for service in Service for job_id in wake(world, user, service, most=3)]
    assert sorted(woken) == sorted(analysis[:3] + spec[:3])


def test_a_wake_passes_over_a_message_that_somebody_else_holds(world: World) -> None:
    user = world.user()
    jobs = [snoozed(world, user) for _ in range(2)]
    with world.uow.begin() as holder:
        assert messages.lock(holder, jobs[0]) is not None
        assert wake(world, user) == [jobs[1]]


def test_who_waits_for_a_message_and_has_it_sees_where_it_was_moved_meanwhile(world: World) -> None:
    def lock() -> MessageRow | None:
        with world.uow.begin() as tx:
            return messages.lock(tx, job_id)

    user = world.user()
    job_id = snoozed(world, user)
    with ThreadPoolExecutor(1) as thread:
        with world.uow.begin() as tx:
            messages.wake(tx, user, Service.ANALYSIS)
            tx.run(text("SELECT 1")).scalar_one()  # now the wake is sent
            later = thread.submit(lock)
            wait_for(lambda: world.value(LOCK_WAITS), "the other one to wait")
        found = later.result(timeout=60)
    assert found is not None
    assert (found.delay_reason, found.rank is None) == (None, False)


def test_nodes_hear_of_a_wake_a_cancel_and_a_resumed_queue_when_it_commits(world: World, database_url: str) -> None:
    user = world.user()
    job_id = snoozed(world, user)
    with listener(database_url) as told:
        with world.uow.begin() as tx:
            messages.wake(tx, user, Service.ANALYSIS)
            assert told() == []
        assert told() == ["analysis_default"]
        with world.uow.begin() as tx:
            messages.request_cancel(tx, job_id)
        assert told() == ["analysis_default"]
        for paused, expected in ((True, []), (False, ["specview_scheduled"])):
            with world.uow.begin() as tx:
                queues.set_paused(tx, "specview_scheduled", paused=paused)
            assert told() == expected
        wake(world, user)  # nobody sleeps
        assert told() == []


def test_a_queue_paused_twice_stays_paused_since_the_first_time(world: World) -> None:
    since = []
    for _ in range(2):
        with world.uow.begin() as tx:
            queues.set_paused(tx, "analysis_default", paused=True)
        since.append(world.value("SELECT paused_at FROM kombu_queue WHERE name = 'analysis_default'"))
    assert since[0] == since[1] is not None
    assert world.value("SELECT count(*) FROM kombu_queue WHERE paused_at IS NOT NULL") == 1


def test_the_queues_tell_what_is_ready_leased_and_delayed(world: World) -> None:
    user = world.user()
    for _ in range(3):
        publish(world, user)
    world.lease(publish(world, user))
    snoozed(world, user)
    with world.uow.begin() as tx:
        facts = {row.queue: row for row in queues.states(tx)}
    found = facts["analysis_default"]
    assert (found.ready, found.leased, found.delayed, found.paused) == (3, 1, 1, False)
    assert asdict(facts["specview_default"]) == {
        "queue": "specview_default", "ready": 0, "leased": 0, "delayed": 0, "snoozed": 0, "parked": 0, "dead": 0,
        "paused": False, "oldest_seconds": 0, "oldest_parked_seconds": 0, "estimated": [],
    }  # fmt: skip


@pytest.mark.parametrize("leased", [True, False])
def test_a_fence_holds_for_this_very_lease_only(world: World, leased: bool) -> None:
    delivery = world.lease(publish(world, world.user()))
    if not leased:
        world.lose(delivery.job_id)
        world.lease(delivery.job_id)
    with world.uow.begin() as tx:
        assert (messages.fence(tx, delivery, None) is not None) is leased
        assert (heartbeats.beat(tx, Service.ANALYSIS, delivery, None, lease_seconds=15) is not None) is leased
