"""What specifications cost: each what its dry run said, whatever others do meanwhile (docs/adr/0047)."""

from __future__ import annotations

import os
import random
from uuid import UUID

import pytest
from service_harness.scribe import Scribe, Struck

from app.domain.lifecycle import JobFailedError, Outcome
from app.domain.plans import Tier
from app.domain.specification import Mode
from app.services.jobs import cancel, read_jobs
from tests.conftest import NOW
from tests.services.specifications.writing import SHOP, Writing, file_of, holds, left


def test_new_words_take_nobodys_paid_ones_and_are_nobody_elses_before_they_are_paid(writing: Writing) -> None:
    """Somebody cancels at the end: others pay nothing twice, and nothing is had for nothing."""
    world, ann, bob = writing.world, writing.world.user(), writing.world.user(Tier.PRO)
    analysis = writing.analysed(ann, SHOP)
    writing.written(ann, analysis)
    fresh = writing.submit(bob, analysis, Mode.REGENERATE_FRESH)
    delivery = writing.started(bob, fresh)
    with pytest.raises(Struck):
        writing.write(delivery, bob, Scribe(strikes_at=1))
    assert writing.cost(ann, analysis, Mode.REGENERATE_CACHED) == 0
    cancel.cancel(world.uow, fresh, writing.account(bob), world.policy, now=NOW)
    assert writing.write(delivery, bob) is Outcome.CANCELLED  # with all of it written
    assert writing.cost(bob, analysis, Mode.REGENERATE_CACHED) == 0
    assert writing.ask(ann, analysis, Mode.REGENERATE_CACHED).is_known  # nothing has changed
    assert (writing.billed(ann), writing.billed(bob)) == (2, 0)
    again = Scribe()
    writing.written(bob, analysis, Mode.REGENERATE_FRESH, again)
    assert (again.phrased, writing.billed(bob)) == ([], 2)  # what was found is kept, and paid now
    holds(world)


def test_two_who_want_new_words_at_once_pay_for_their_own(writing: Writing) -> None:
    world, ann, bob = writing.world, writing.world.user(), writing.world.user()
    analysis = writing.analysed(ann, SHOP)
    writing.written(ann, analysis)
    jobs = {user: writing.submit(user, analysis, Mode.REGENERATE_FRESH) for user in (ann, bob)}
    deliveries = {user: writing.started(user, job_id) for user, job_id in jobs.items()}
    scribes = {user: Scribe() for user in jobs}
    for user in jobs:
        assert writing.write(deliveries[user], user, scribes[user]) is Outcome.COMPLETED
    assert [len(scribe.phrased) for scribe in scribes.values()] == [2, 2]
    assert (writing.billed(ann), writing.billed(bob)) == (4, 2)
    assert world.value("SELECT count(*) FROM spec_words") == 5  # two places, two sentences, a summary
    holds(world)


def test_a_job_that_would_cost_more_than_it_holds_ends_before_it_writes(writing: Writing) -> None:
    """The generator changed while it waited, or the repository turned private."""
    world, user, scribe = writing.world, writing.world.user(), Scribe()
    analysis = writing.analysed(user, SHOP)
    writing.written(user, analysis)
    job_id = writing.submit(user, writing.analysed(user, SHOP), Mode.REGENERATE_CACHED)  # of another commit
    world.rows("UPDATE codebases SET is_private = true RETURNING id")
    with pytest.raises(JobFailedError) as failed:
        writing.write(writing.started(user, job_id), user, scribe)
    assert (failed.value.failure.code, scribe.phrased) == ("changed_meanwhile", [])


def test_equal_tests_are_one_unit_and_all_of_them_are_shown(writing: Writing) -> None:
    user = writing.world.user()
    analysis = writing.analysed(user, file_of("tests/test_shop.py", "test_buys", "test_buys", "test_sells"))
    assert writing.cost(user, analysis) == 2
    job_id = writing.written(user, analysis)
    job = read_jobs.job(writing.world.uow, job_id, writing.account(user), writing.world.policy, service=None, now=NOW)
    assert (job.summary["behaviours"], writing.billed(user)) == (3, 2)
    holds(writing.world)


def test_what_somebody_paid_is_free_for_all_of_a_public_repository_and_for_nobody_else_of_a_private_one(
    writing: Writing,
) -> None:
    world, ann, bob = writing.world, writing.world.user(), writing.world.user()
    public = writing.analysed(ann, SHOP)
    writing.written(ann, public)
    writing.written(bob, public)
    assert (writing.billed(ann), writing.billed(bob)) == (2, 0)
    private = writing.analysed(ann, SHOP, wanted=world.wanted("secret", "b" * 40))
    world.submit(bob, world.wanted("secret", "b" * 40))  # has access too
    world.rows("UPDATE codebases SET is_private = true WHERE name = 'secret' RETURNING id")
    writing.written(ann, private)
    assert writing.cost(bob, private) == 2
    writing.written(bob, private)
    assert writing.billed(bob) == 2
    holds(world)


def test_words_of_a_job_that_was_cancelled_are_paid_by_the_next_one_that_uses_them(writing: Writing) -> None:
    world, user = writing.world, writing.world.user()
    analysis = writing.analysed(user, SHOP)
    job_id = writing.submit(user, analysis)
    delivery = writing.started(user, job_id)
    with pytest.raises(Struck):
        writing.write(delivery, user, Scribe(strikes_at=1))
    cancel.cancel(world.uow, job_id, writing.account(user), world.policy, now=NOW)
    assert writing.write(delivery, user) is Outcome.CANCELLED
    assert (writing.billed(user), left(world)) == (0, [])
    assert world.value("SELECT count(*) FROM spec_features") == 0
    assert writing.cost(user, analysis) == 2
    scribe = Scribe()
    writing.written(user, analysis, scribe=scribe)
    assert (scribe.phrased, writing.billed(user)) == ([], 2)
    holds(world)


#: More of them: `make prove-bills`.
LIVES = int(os.environ.get("BILL_LIVES", "100"))


@pytest.mark.proof
def test_a_dry_run_is_the_bill_to_the_unit_in_random_lives(writing: Writing) -> None:
    """Of files that come and go, modes, users, parts that are cut off and jobs that are cancelled."""
    world, dice, lives = writing.world, random.Random(15), 0
    world.rows("UPDATE subscription_plans SET analyses_per_period = NULL, spec_units_per_period = NULL RETURNING tier")
    people = [world.user(Tier.ENTERPRISE) for _ in range(3)]
    names = [f"test_{number}" for number in range(12)]
    analyses = [
        writing.analysed(
            people[0],
            *(file_of(f"tests/test_{file}.py", *dice.sample(names, dice.randrange(4))) for file in range(3)),
            wanted=world.wanted(dice.choice(["one", "two"])),
        )
        for _ in range(12)
    ]
    while lives < LIVES:
        user, analysis = dice.choice(people), dice.choice(analyses)
        mode = dice.choice([Mode.REGENERATE_CACHED, Mode.REGENERATE_CACHED, Mode.REGENERATE_FRESH])
        promised, before = writing.cost(user, analysis, mode), writing.billed(user)
        answer = writing.ask(user, analysis, mode)
        if answer.is_known:  # the newest document says the same
            assert (promised, mode, writing.billed(user)) == (0, Mode.REGENERATE_CACHED, before)
            assert world.rows("SELECT 1 FROM kombu_message") == []
            continue
        lives, job_id = lives + 1, answer.job.id
        held = world.rows("SELECT reserved_amount FROM quota_reservations WHERE job_id = :id", id=job_id)
        assert [row["reserved_amount"] for row in held] == ([promised] if promised else [])
        ended = live(writing, user, job_id, dice)
        assert writing.billed(user) - before == (promised if ended is Outcome.COMPLETED else 0)
    assert left(world) == []
    holds(world)


def live(writing: Writing, user: UUID, job_id: UUID, dice: random.Random) -> Outcome:
    """One job: whole, or cut off and gone on with, or cut off and cancelled."""
    world, delivery = writing.world, writing.started(user, job_id)
    if dice.random() < 0.7:
        return writing.write(delivery, user, Scribe(take=dice.randrange(3)))
    try:
        return writing.write(delivery, user, Scribe(strikes_at=dice.randrange(3), take=dice.randrange(3)))
    except Struck:
        if dice.random() < 0.5:
            cancel.cancel(world.uow, job_id, writing.account(user), world.policy, now=NOW)
        world.lose(job_id)
        delivery = world.lease(job_id)
        started = writing.start(delivery, user)
        return writing.write(delivery, user) if started is Outcome.STARTED else started
