"""The sweep: what it drops, what it leaves alone, and whom it never waits for (docs/adr/0005, docs/adr/0008)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import text

from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.services.analyses.submit import submit
from app.services.jobs import read_jobs
from app.services.jobs.answers import Answer
from app.services.operations.dead_letters import Chosen, redrive
from app.services.operations.sweep import Swept, sweep
from app.store.jobs.idempotency import Stored
from app.store.operations import dead_letters
from tests.conftest import NOW, World, keyed
from tests.services.busy import bury, leave

HOUR = timedelta(hours=1)
TABLES = ("kombu_message", "quota_reservations", "execution_slots", "idempotency_keys", "job_events", "analyses")


def swept(world: World, *, late: timedelta = timedelta(0), dry_run: bool = False) -> Swept:
    return sweep(world.uow, world.policy, now=NOW + late, dry_run=dry_run)


def everything(world: World) -> dict[str, list[dict[str, object]]]:
    return {table: world.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in TABLES}


def shared(world: World) -> tuple[UUID, UUID, UUID]:
    """A job whose payer left it to somebody who joined: job, payer, joiner."""
    payer, joiner, wanted = world.user(Tier.PRO), world.user(Tier.PRO), world.wanted()
    job_id = world.submit(payer, wanted)
    assert world.submit(joiner, wanted) == job_id
    leave(world, job_id, payer)
    return job_id, payer, joiner


def untidy(world: World) -> dict[str, UUID]:
    """One of everything that the sweep is there for."""
    user = world.user(Tier.ENTERPRISE)
    orphan, letter, living = world.submit(user), world.submit(user), world.submit(user)
    world.rows("DELETE FROM kombu_message WHERE task_id = :id RETURNING id", id=str(orphan))
    bury(world, letter)
    dead = world.running(user)
    world.lose(dead.job_id)
    world.rows("UPDATE execution_slots SET lease_expires_at = now() - interval '1 min' RETURNING job_id")
    submit(world.uow, user, world.wanted(), world.policy, key=keyed("old", b"f" * 32), now=NOW)
    return {"orphan": orphan, "letter": letter, "living": living, "dead": dead.job_id}


def test_a_dry_run_tells_what_a_round_does_and_changes_nothing(world: World) -> None:
    jobs = untidy(world)
    before = everything(world)
    told = swept(world, late=25 * HOUR, dry_run=True)
    assert everything(world) == before
    assert told.counts == {"extended": 3, "buried": 1, "orphans": 1, "slots": 1, "pruned": 1}
    assert {kind: [row["job_id"] for row in rows] for kind, rows in told.rows.items()} == {
        "buried": [jobs["letter"]], "orphans": [jobs["orphan"]], "slots": [jobs["dead"]],
    }  # fmt: skip
    assert asdict(swept(world, late=25 * HOUR)) == asdict(told)
    assert swept(world, late=25 * HOUR).counts == dict.fromkeys(told.counts, 0)


@pytest.mark.proof
def test_a_reservation_is_kept_as_long_as_its_job_waits(world: World) -> None:
    user = world.user()
    world.submit(user)
    for hours in range(1, 60):
        assert swept(world, late=hours * HOUR / 2).orphans == 0
    assert world.value("SELECT count(*) FROM quota_reservations") == 1


def test_a_dead_letter_that_an_operator_redrives_just_now_keeps_its_units(world: World) -> None:
    user = world.user()
    job_id = world.submit(user)
    letter = bury(world, job_id)
    with world.uow.begin() as tx:
        dead_letters.lock(tx, ids=[letter], queue=None, reason=None, after=0, most=1)
        assert swept(world, late=5 * HOUR).counts == {"extended": 0, "buried": 0, "orphans": 0, "slots": 0, "pruned": 0}
    redrive(world.uow, Chosen((letter,)), actor="test")
    delivery = world.lease(job_id)
    world.start(delivery, user)
    assert world.finish(delivery, user) is Outcome.COMPLETED
    assert world.value("SELECT quota_amount FROM usage_events WHERE job_id = :id", id=job_id) == 1


def test_a_reservation_that_a_job_left_is_an_orphan_though_its_letter_is_kept(world: World) -> None:
    user = world.user()
    job_id = world.submit(user)
    bury(world, job_id)
    assert swept(world).buried == 1
    world.rows(
        """INSERT INTO quota_reservations (user_id, event_type, reserved_amount, job_id, accepted_at, expires_at)
           VALUES (:user, 'analysis', 1, :job, :now, :now) RETURNING id""", user=user, job=job_id, now=NOW,
    )  # fmt: skip
    assert swept(world, late=HOUR).orphans == 1


def test_a_dead_job_whose_payer_left_ends_as_failed_for_those_who_joined(world: World) -> None:
    job_id, _, joiner = shared(world)
    bury(world, job_id)
    assert swept(world).rows["buried"] == [{"job_id": job_id, "ended": "failed"}]
    [job] = read_jobs.history(world.uow, joiner, world.policy, now=NOW)[0]
    assert (job.status, job.error.code, job.billed) == ("failed", "undeliverable", False)
    assert swept(world).buried == 0


def test_a_dead_job_that_everybody_left_while_it_ran_ends_as_cancelled(world: World) -> None:
    job_id, payer, joiner = shared(world)
    world.start(world.lease(job_id), payer)
    leave(world, job_id, joiner)  # asks the worker to stop, which dies
    bury(world, job_id)
    assert swept(world).rows["buried"] == [{"job_id": job_id, "ended": "cancelled"}]
    assert world.status(job_id) == "cancelled"
    assert swept(world).buried == 0


def test_two_sweeps_at_once_end_a_job_with_two_letters_once(world: World) -> None:
    job_id = world.submit(world.user())
    bury(world, job_id)
    world.rows("INSERT INTO kombu_dead_letter (task_id, reason) VALUES (:id, 'lost') RETURNING id", id=str(job_id))
    with ThreadPoolExecutor(8) as threads:
        rounds = list(threads.map(lambda _: swept(world), range(8)))
    assert sum(one.buried for one in rounds) == 1
    assert world.value("SELECT count(*) FROM job_events WHERE event = 'failed'") == 1


def test_an_answer_is_kept_for_a_day_and_no_longer(world: World) -> None:
    user, wanted = world.user(), world.wanted()
    submit(world.uow, user, wanted, world.policy, key=keyed("k", b"f" * 32), now=NOW)
    assert swept(world, late=24 * HOUR).pruned == 0
    again = submit(world.uow, user, wanted, world.policy, key=keyed("k", b"f" * 32), now=NOW)
    assert isinstance(again, Stored)
    assert swept(world, late=24 * HOUR + timedelta(microseconds=1)).pruned == 1
    assert isinstance(submit(world.uow, user, wanted, world.policy, key=keyed("k", b"f" * 32), now=NOW), Answer)


def test_the_sweep_waits_for_no_step_that_holds_a_user_and_their_rows(world: World) -> None:
    jobs = untidy(world)
    with world.uow.begin() as tx:
        tx.run(
            text("SET LOCAL idle_in_transaction_session_timeout = 0")
        )  # its rows are held, however long a sweep takes
        # no step holds what belongs to a dead letter's job: it has no message to fence
        for table in ("users", "quota_reservations WHERE job_id <> :letter", "execution_slots", "kombu_message"):
            tx.run(text(f"SELECT FROM {table} FOR UPDATE"), **{"letter": jobs["letter"]} if ":" in table else {})
        done = swept(world, late=HOUR, dry_run=True)  # a wait would be an error after the sweep's lock_timeout
    assert (done.extended, done.orphans, done.slots) == (0, 0, 0)
    assert swept(world, late=25 * HOUR).orphans == 1
