"""The daily proof that what completed is what was billed (docs/adr/0024)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from app.domain.periods import period_at
from app.domain.plans import Tier
from app.services.jobs.cancel import cancel
from app.services.operations.audit import audit
from app.services.operations.reconcile import LastReconciled, Reconciled, last_reconciled, reconcile
from app.store.operations.reconciliations import _PERIOD
from tests.conftest import NOW, World
from tests.services.busy import account, fill
from tests.tiers import few

DAY = timedelta(days=1)


def run(world: World, *, since: datetime | None = None) -> Reconciled:
    return reconcile(world.uow, now=NOW + DAY, since=since)


def complete(world: World, user: object, *, at: datetime = NOW) -> str:
    then = replace(world, now=at)
    delivery = then.running(user)
    then.finish(delivery, user)
    return str(delivery.job_id)


@pytest.mark.proof
def test_of_a_busy_database_both_sides_are_equal_and_not_empty(world: World) -> None:
    fill(world)
    done = run(world)
    assert (done.jobs, done.events, done.differences) == (6, 6, [])
    assert world.rows("SELECT jobs, events, differences FROM reconciliations") == [
        {"jobs": 6, "events": 6, "differences": []}
    ]


@pytest.mark.parametrize(
    ("breaking", "sides"),
    few(
        1,
        [
            ("DELETE FROM usage_events WHERE job_id = :job RETURNING id", (2, 2, 1, 1)),
            ("UPDATE usage_events SET quota_amount = 2 WHERE job_id = :job RETURNING id", (2, 2, 2, 3)),
            ("UPDATE analyses SET status = 'cancelled' WHERE id = :job RETURNING id", (1, 1, 2, 2)),
            ("UPDATE analysis_requests SET cancelled_at = now() WHERE job_id = :job RETURNING id", (1, 1, 2, 2)),
        ],
    ),
)
def test_a_difference_is_told_with_its_user_and_period_and_kept(
    world: World, breaking: str, sides: tuple[int, int, int, int]
) -> None:
    user, other = world.user(Tier.PRO), world.user(Tier.PRO)
    job, _, _ = complete(world, user), complete(world, user), complete(world, other)
    world.rows(breaking, job=job)
    [difference] = run(world).differences
    assert difference["user_id"] == str(user)
    assert datetime.fromisoformat(difference["period"]) == NOW
    assert tuple(difference[side] for side in ("jobs", "units", "events", "amount")) == sides
    assert last_reconciled(world.uow).differences == 1
    [broken] = [finding for finding in audit(world.uow) if finding.number == "R"]
    assert str(broken.rows[0]["user_id"]) == str(user)


def test_each_side_is_put_into_its_own_period(world: World) -> None:
    user = world.user(Tier.PRO)
    complete(world, user)
    job = complete(world, user, at=NOW + 40 * DAY)
    assert run(world).differences == []
    world.rows("UPDATE usage_events SET accepted_at = :now WHERE job_id = :job RETURNING id", now=NOW, job=job)
    told = [(row["jobs"], row["events"]) for row in run(world).differences]
    assert told == [(1, 2), (1, 0)]


def test_what_is_older_than_asked_for_is_left_out_on_both_sides(world: World) -> None:
    user = world.user(Tier.PRO)
    complete(world, user, at=NOW - 70 * DAY)
    complete(world, user)
    assert (run(world).jobs, run(world).events) == (1, 1)
    assert run(world, since=NOW - 80 * DAY).jobs == 2


def test_a_later_run_without_differences_ends_the_alarm(world: World) -> None:
    user = world.user(Tier.PRO)
    assert last_reconciled(world.uow) is None
    job = complete(world, user)
    world.rows("UPDATE usage_events SET quota_amount = 2 WHERE job_id = :job RETURNING id", job=job)
    assert len(run(world).differences) == 1
    world.rows("UPDATE usage_events SET quota_amount = 1 WHERE job_id = :job RETURNING id", job=job)
    assert run(world).differences == []
    assert last_reconciled(world.uow) == LastReconciled(NOW + DAY, 0)
    assert world.value("SELECT count(*) FROM reconciliations WHERE differences <> '[]'") == 1


def closed(world: World) -> list[str]:
    return [str(row["day"]) for row in world.rows("SELECT day FROM reconciled_days WHERE jobs > 0 ORDER BY day")]


def read(world: World, *, after: timedelta, most_jobs: int = 20_000) -> Reconciled:
    return reconcile(world.uow, now=NOW + after, most_jobs=most_jobs)


def test_a_day_is_closed_when_it_is_over_and_counts_the_same_in_later_runs(world: World) -> None:
    user = world.user(Tier.PRO)
    for hours in (0, 1, 30):
        complete(world, user, at=NOW + timedelta(hours=hours))
    assert read(world, after=timedelta(hours=2)).jobs == 3  # what is newer than the run is read, too
    assert closed(world) == []
    assert read(world, after=timedelta(hours=12, minutes=30)).jobs == 3  # too soon after midnight
    assert closed(world) == []
    for days in (1, 2, 3):
        done = read(world, after=days * DAY)
        assert (done.jobs, done.events, done.differences) == (3, 3, [])
    assert closed(world) == ["2026-11-21", "2026-11-22"]


@pytest.mark.proof
def test_a_closed_day_is_only_read_again_if_its_bills_have_changed(world: World) -> None:
    user = world.user(Tier.PRO)
    job = complete(world, user)
    read(world, after=2 * DAY)
    assert closed(world) == ["2026-11-21"]
    world.rows("UPDATE analyses SET status = 'cancelled' WHERE id = :job RETURNING id", job=job)
    assert read(world, after=3 * DAY).differences == []
    world.rows("UPDATE usage_events SET quota_amount = 2 WHERE job_id = :job RETURNING id", job=job)
    [difference] = read(world, after=4 * DAY).differences
    assert (difference["jobs"], difference["events"], difference["amount"]) == (0, 1, 2)


def test_a_day_stays_open_while_one_of_its_jobs_is_unfinished(world: World) -> None:
    user = world.user(Tier.PRO)
    complete(world, user)
    delivery = world.running(user)
    assert read(world, after=3 * DAY).jobs == 1
    assert closed(world) == []
    replace(world, now=NOW + 3 * DAY).finish(delivery, user)
    assert read(world, after=4 * DAY).jobs == 2
    assert closed(world) == ["2026-11-21"]


def test_a_payer_who_comes_back_later_is_counted_on_the_day_of_the_new_accept(world: World) -> None:
    payer, other, later = world.user(Tier.PRO), world.user(Tier.PRO), replace(world, now=NOW + 2 * DAY)
    wanted = world.wanted("shop", "a" * 40)
    job_id = world.submit(payer, wanted)
    world.submit(other, wanted)
    cancel(world.uow, job_id, account(world, payer), world.policy, now=NOW)
    assert read(world, after=1.5 * DAY).jobs == 0
    assert later.submit(payer, wanted) == job_id
    delivery = world.lease(job_id)
    later.start(delivery, payer)
    later.finish(delivery, payer)
    done = read(later, after=4 * DAY)
    assert (done.jobs, done.events, done.differences) == (1, 1, [])
    assert closed(world) == ["2026-11-23"]


def test_the_answer_does_not_depend_on_how_many_jobs_a_statement_reads(world: World) -> None:
    users = [world.user(Tier.PRO) for _ in range(2)]
    jobs = [complete(world, user, at=NOW + number * timedelta(hours=5)) for number in range(6) for user in users]
    for job, breaking in zip(
        jobs, ("quota_amount = 2", "accepted_at = accepted_at + interval '5 hours'"), strict=False
    ):
        world.rows(f"UPDATE usage_events SET {breaking} WHERE job_id = :job RETURNING id", job=job)
    found = [read(world, after=3 * DAY, most_jobs=most) for most in (20_000, 1)]
    assert (found[0].jobs, found[0].events) == (found[1].jobs, found[1].events) == (12, 12)
    # the second job's bill is in the same period an hour later, so nothing is missing for its user
    assert [[row["user_id"] for row in one.differences] for one in found] == [[str(users[0])]] * 2


INSTANTS = st.datetimes(datetime(2020, 1, 1), datetime(2032, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001


def test_periods_are_the_same_in_the_database_and_in_the_rules(world: World) -> None:
    user = world.user()
    query = text(f"""
        SELECT period.start FROM (SELECT CAST(:user AS uuid) AS user_id, CAST(:at AS timestamptz) AS at) x
          JOIN (SELECT CAST(:user AS uuid) AS id, CAST(:anchor AS timestamptz) AS created_at) u ON true {_PERIOD}""")
    world.rows("DELETE FROM user_subscriptions RETURNING id")

    @given(anchor=INSTANTS, at=INSTANTS)
    def agree(anchor: datetime, at: datetime) -> None:
        with world.uow.begin() as tx:
            start = tx.run(query, user=user, anchor=anchor, at=at).scalar_one()
        assert start == period_at(anchor, at).start

    agree()
