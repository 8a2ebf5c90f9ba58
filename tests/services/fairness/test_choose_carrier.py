"""A job that several users asked for waits and runs where the best of their rights puts it (docs/adr/0046)."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from sqlalchemy import text

from app.domain.lifecycle import Failure, Outcome
from app.domain.plans import Tier
from app.services.accounts import tiers
from app.services.accounts.forget import forget
from app.services.analyses.reschedule import reschedule
from app.services.analyses.submission import Wanted
from app.services.analyses.submit import submit
from app.services.fairness import choose_carrier
from app.services.operations.audit import audit
from app.services.operations.queues import pause
from app.store.fairness import waits
from tests.conftest import A_FILE, World
from tests.services.busy import leave

WHERE = """
    SELECT q.name AS queue, m.user_id, m.visible, m.delay_reason FROM kombu_message m
      JOIN kombu_queue q ON q.id = m.queue_id WHERE m.task_id = :job_id"""
SLOTS = "SELECT user_id FROM execution_slots WHERE job_id = :job_id"
RESERVED = "SELECT user_id FROM quota_reservations WHERE job_id = :job_id"
EVENTS = "SELECT event FROM job_events WHERE job_id = :job_id ORDER BY id"
PASSES = Failure("internal_error", "Once.", retryable=True)


def where(world: World, job_id: UUID) -> tuple[object, object, str]:
    """Queue, carrier, and whether it is ready or what holds it."""
    [row] = world.rows(WHERE, job_id=str(job_id))
    return row["queue"], row["user_id"], str("ready" if row["visible"] else row["delay_reason"] or "leased")


def parked(world: World, user_id: UUID) -> tuple[UUID, Wanted]:
    """A job that waits behind three others of its payer, and what was asked for."""
    for _ in range(3):
        world.submit(user_id)
    wanted = world.wanted()
    job_id = world.submit(user_id, wanted)
    assert world.status(job_id) == "waiting"
    return job_id, wanted


def scheduled(world: World) -> tuple[UUID, Wanted]:
    """A job of the schedule, and what somebody would ask for to join it."""
    world.submit(world.user(), world.wanted("garden"))  # viewed, and never analysed
    commit = "c" * 40
    assert reschedule(world.uow, lambda _: (commit, "main"), world.policy, now=world.now).enqueued == 1
    [row] = world.rows("SELECT job_id FROM analysis_requests WHERE trigger = 'scheduled'")
    return UUID(str(row["job_id"])), world.wanted("garden", commit)


def test_a_paying_user_who_joins_a_free_users_parked_job_does_not_wait_behind_it(world: World) -> None:
    payer, joiner = world.user(), world.user(Tier.PRO)
    job_id, wanted = parked(world, payer)
    answer = submit(world.uow, joiner, wanted, world.policy, now=world.now)
    assert (answer.is_known, answer.job.id) == (False, job_id)
    assert (answer.job.status, answer.job.queue) == ("queued", "analysis_priority")
    assert where(world, job_id) == ("analysis_priority", str(joiner), "ready")


def test_a_user_who_joins_a_scheduled_job_has_it_in_their_own_queue(world: World) -> None:
    for tier, queue in ((Tier.FREE, "analysis_default"), (Tier.PRO, "analysis_priority")):
        job_id, wanted = scheduled(world)
        joiner = world.user(tier)
        world.submit(joiner, wanted)
        assert where(world, job_id) == (queue, str(joiner), "ready")
        world.rows("DELETE FROM kombu_message RETURNING id")
        world.rows("DELETE FROM analysis_requests RETURNING id")
        world.rows("DELETE FROM codebases RETURNING id")


def test_the_job_runs_in_the_carriers_slot_and_its_end_wakes_the_carriers_next(world: World) -> None:
    payer, joiner = world.user(), world.user()
    job_id, wanted = parked(world, payer)
    world.submit(joiner, wanted)
    later = [world.submit(joiner) for _ in range(3)]
    delivery = world.lease(job_id)
    assert world.start(delivery, payer) is Outcome.STARTED  # a worker says who pays
    assert world.value(SLOTS, job_id=job_id) == joiner
    assert world.start(world.lease(later[0]), joiner) is Outcome.SNOOZED
    assert world.finish(delivery, payer) is Outcome.COMPLETED
    assert where(world, later[0])[2] == "ready"


def test_the_payer_pays_and_nobody_else(world: World) -> None:
    payer, joiner = world.user(), world.user(Tier.PRO)
    job_id, wanted = parked(world, payer)
    world.submit(joiner, wanted)
    assert world.value(RESERVED, job_id=job_id) == payer
    delivery = world.lease(job_id)
    world.start(delivery, payer)
    world.finish(delivery, payer, [A_FILE])
    assert world.value("SELECT user_id FROM usage_events WHERE job_id = :job_id", job_id=job_id) == payer


def test_a_scheduled_job_that_a_user_joined_takes_a_slot_of_theirs(world: World) -> None:
    job_id, wanted = scheduled(world)
    joiner = world.user()
    world.submit(joiner, wanted)
    delivery = world.lease(job_id)
    assert world.start(delivery, None) is Outcome.STARTED
    assert world.value(SLOTS, job_id=job_id) == joiner
    assert world.start(world.lease(world.submit(joiner)), joiner) is Outcome.SNOOZED
    assert world.finish(delivery, None) is Outcome.COMPLETED
    assert world.value("SELECT count(*) FROM usage_events") == 0


def test_the_place_of_a_ready_job_that_is_carried_away_goes_to_the_payers_next(world: World) -> None:
    payer, joiner = world.user(), world.user(Tier.PRO)
    wanted = world.wanted()
    job_id = world.submit(payer, wanted)
    others = [world.submit(payer) for _ in range(2)]
    assert where(world, others[1])[2] == "parked"
    world.submit(joiner, wanted)
    assert where(world, job_id) == ("analysis_priority", str(joiner), "ready")
    assert [where(world, other)[2] for other in others] == ["ready", "ready"]
    assert world.value("SELECT count(*) FROM kombu_group") == 0


def test_a_joiner_with_a_longer_line_leaves_the_job_where_it_is(world: World) -> None:
    payer, joiner, wanted = world.user(), world.user(Tier.PRO), world.wanted()
    for _ in range(6):
        world.submit(joiner)
    job_id = world.submit(payer, wanted)
    for _ in range(3):
        world.running(joiner)
    world.submit(joiner, wanted)
    assert where(world, job_id) == ("analysis_default", str(payer), "ready")


def test_a_joiner_at_their_limit_takes_over_a_job_with_more_before_it_and_it_is_parked_there(world: World) -> None:
    payer, joiner, wanted = world.user(), world.user(), world.wanted()
    for _ in range(8):
        world.submit(payer)
    world.submit(joiner)
    job_id = world.submit(payer, wanted)
    for _ in range(2):
        world.submit(joiner)
    world.submit(joiner, wanted)
    assert where(world, job_id) == ("analysis_default", str(joiner), "parked")
    assert world.status(job_id) == "waiting"


def test_a_paused_queue_is_left_for_one_that_is_not(world: World) -> None:
    payer, joiner, wanted = world.user(Tier.PRO), world.user(), world.wanted()
    job_id = world.submit(payer, wanted)
    pause(world.uow, "analysis_priority", actor="test")
    world.submit(joiner, wanted)
    assert where(world, job_id) == ("analysis_default", str(joiner), "ready")


def test_when_the_carrier_leaves_the_place_is_worked_out_over_those_who_stay(world: World) -> None:
    payer, joiner, third = world.user(), world.user(Tier.PRO), world.user()
    job_id, wanted = parked(world, payer)
    world.submit(joiner, wanted)
    world.submit(third, wanted)
    leave(world, job_id, joiner)
    assert where(world, job_id) == ("analysis_default", str(third), "ready")
    leave(world, job_id, third)
    assert where(world, job_id) == ("analysis_default", str(payer), "parked")


def test_a_payer_who_leaves_takes_their_line_with_them(world: World) -> None:
    payer, joiner, wanted = world.user(Tier.PRO), world.user(), world.wanted()
    job_id = world.submit(payer, wanted)
    world.submit(joiner, wanted)
    assert where(world, job_id)[1] == str(payer)
    leave(world, job_id, payer)
    assert where(world, job_id) == ("analysis_default", str(joiner), "ready")
    assert world.submit(payer, wanted) == job_id  # and comes back
    assert where(world, job_id) == ("analysis_priority", str(payer), "ready")


def test_a_scheduled_job_whose_joiners_leave_is_the_schedules_again(world: World) -> None:
    job_id, wanted = scheduled(world)
    joiner = world.user(Tier.PRO)
    world.submit(joiner, wanted)
    leave(world, job_id, joiner)
    assert where(world, job_id) == ("analysis_scheduled", None, "ready")


def test_a_job_that_a_worker_holds_is_not_moved(world: World) -> None:
    payer, joiner, wanted = world.user(), world.user(Tier.PRO), world.wanted()
    job_id = world.submit(payer, wanted)
    delivery = world.lease(job_id)
    world.submit(joiner, wanted)
    assert where(world, job_id) == ("analysis_default", str(payer), "leased")
    assert world.start(delivery, payer) is Outcome.STARTED
    assert world.value(SLOTS, job_id=job_id) == payer


def test_a_job_between_two_attempts_goes_on_in_the_better_line_at_its_time(world: World) -> None:
    payer, joiner, wanted = world.user(), world.user(Tier.PRO), world.wanted()
    delivery = world.running(payer, wanted)
    world.running(joiner)
    assert world.fail(delivery, payer, PASSES) is Outcome.RETRY
    world.submit(payer)
    due = world.value("SELECT visible_at FROM kombu_message WHERE task_id = :id", id=str(delivery.job_id))
    world.submit(joiner, wanted)
    assert where(world, delivery.job_id) == ("analysis_priority", str(joiner), "retry")
    assert due == world.value("SELECT visible_at FROM kombu_message WHERE task_id = :id", id=str(delivery.job_id))


def test_the_slot_of_a_dead_worker_stays_with_nobody_when_the_job_is_carried_away(world: World) -> None:
    payer, joiner, wanted = world.user(), world.user(Tier.PRO), world.wanted()
    delivery = world.running(payer, wanted)
    world.lose(delivery.job_id)
    world.submit(joiner, wanted)
    again = world.lease(delivery.job_id)
    assert world.start(again, payer) is Outcome.STARTED
    assert world.rows("SELECT user_id FROM execution_slots") == [{"user_id": joiner}]
    assert world.start(delivery, payer) is Outcome.STALE


def test_the_timeline_tells_of_the_move_and_of_nobody(world: World) -> None:
    payer, joiner = world.user(), world.user(Tier.PRO)
    job_id, wanted = parked(world, payer)
    world.submit(joiner, wanted)
    told = [row["event"] for row in world.rows(EVENTS, job_id=job_id)]
    assert told == ["accepted", "joined", "carried"]
    facts = "SELECT facts FROM job_events WHERE event = 'carried'"
    assert world.value(facts) == {"queue": "analysis_priority"}


def test_a_joiner_who_is_upgraded_takes_the_job_along(world: World) -> None:
    payer, joiner, wanted = world.user(), world.user(), world.wanted()
    for _ in range(3):
        world.submit(joiner)
    for _ in range(2):
        world.submit(payer)
    job_id = world.submit(payer, wanted)
    world.submit(joiner, wanted)
    assert where(world, job_id)[1] == str(payer)
    tiers.change_tier(world.uow, joiner, Tier.ENTERPRISE, world.policy, actor="test", now=world.now)
    assert where(world, job_id)[:2] == ("analysis_priority", str(joiner))


def test_the_sweep_moves_a_job_whose_joiner_has_a_shorter_line_by_now(world: World) -> None:
    payer, joiner, wanted = world.user(), world.user(Tier.PRO), world.wanted()
    own = [world.submit(joiner) for _ in range(3)]
    for job in own:
        world.start(world.lease(job), joiner)
    for _ in range(3):
        world.submit(joiner)
    job_id = world.submit(payer, wanted)
    world.submit(joiner, wanted)
    assert where(world, job_id)[1] == str(payer)
    world.rows("DELETE FROM kombu_message WHERE user_id = :id RETURNING id", id=str(joiner))
    choose_carrier.settle_waiting(world.uow, world.policy)
    assert where(world, job_id) == ("analysis_priority", str(joiner), "ready")


def test_a_job_that_comes_back_after_its_carrier_left_waits_in_the_line_of_who_stayed(world: World) -> None:
    payer, joiner, wanted = world.user(), world.user(Tier.PRO), world.wanted()
    world.running(payer)
    job_id = world.submit(payer, wanted)
    delivery = world.lease(job_id)
    world.submit(joiner, wanted)
    leave(world, job_id, payer)
    assert where(world, job_id)[1:] == (str(payer), "leased")
    assert world.start(delivery, payer) is Outcome.SNOOZED
    assert where(world, job_id) == ("analysis_priority", str(joiner), "ready")


def test_a_deleted_carrier_ends_no_job_that_another_one_pays_for(world: World) -> None:
    payer, joiner = world.user(), world.user(Tier.PRO)
    job_id, wanted = parked(world, payer)
    world.submit(joiner, wanted)
    forget(world.uow, joiner, actor="test", now=world.now)
    assert where(world, job_id) == ("analysis_priority", None, "ready")
    choose_carrier.settle_waiting(world.uow, world.policy)
    assert where(world, job_id)[:2] == ("analysis_default", str(payer))
    assert world.value(RESERVED, job_id=job_id) == payer


def test_a_deleted_payer_ends_the_job_that_another_one_carries(world: World) -> None:
    payer, joiner = world.user(), world.user(Tier.PRO)
    job_id, wanted = parked(world, payer)
    world.submit(joiner, wanted)
    forget(world.uow, payer, actor="test", now=world.now)
    assert world.rows(WHERE, job_id=str(job_id)) == []


def test_the_audit_finds_a_slot_of_somebody_who_never_asked_for_the_job(world: World) -> None:
    payer, stranger = world.user(), world.user()
    delivery = world.running(payer)
    assert [finding.number for finding in audit(world.uow) if finding.status == "broken"] == []
    world.rows("UPDATE execution_slots SET user_id = :id RETURNING job_id", id=stranger)
    assert "I11" in [finding.number for finding in audit(world.uow) if finding.rows]
    assert delivery


def test_waits_are_put_down_to_the_limit_of_whoever_carried_the_job(world: World) -> None:
    payer, joiner = world.user(), world.user(Tier.PRO)
    job_id, wanted = parked(world, payer)
    world.submit(joiner, wanted)
    world.start(world.lease(job_id), payer)
    hour = timedelta(hours=1)
    with world.uow.begin() as tx:
        now = tx.run(text("SELECT clock_timestamp() AS now")).scalar_one()
        seen = waits.courses(tx, since=now - hour, until=now + hour)
    [course] = [course for course in seen.courses if course.runs]
    assert (course.user, course.tier, course.queue) == (str(joiner), Tier.PRO, "analysis_priority")
