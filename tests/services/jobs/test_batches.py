"""A batch decides each item as if it were submitted by itself, in a number of messages that does not depend on it."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from app.domain.plans import Tier
from app.errors import Problem, QuotaExceeded
from app.services.analyses.submission import Wanted
from app.services.analyses.submit import submit
from app.services.analyses.submit_batch import submit_batch
from app.services.jobs.answers import Answer
from app.services.jobs.cancel import cancel
from tests.conftest import World
from tests.services.busy import account
from tests.services.jobs.conftest import Count

LEFT = """
    SELECT r.role, r.queue, r.trigger, r.retention_days, m.visible, m.delay_reason, m.rank_step, m.unique_key,
           q.reserved_amount, e.event, (e.facts - ARRAY['eta', 'held', 'guess']) #- '{quota,reserved}' AS facts, c.last_viewed_at IS NOT NULL AS viewed, c.default_branch
      FROM analysis_requests r JOIN codebases c ON c.id = r.codebase_id
      LEFT JOIN kombu_message m ON m.task_id = r.job_id::text
      LEFT JOIN quota_reservations q ON q.job_id = r.job_id
      LEFT JOIN job_events e ON e.job_id = r.job_id
     WHERE r.user_id = :user_id ORDER BY r.id, e.id"""


def batch(world: World, user: UUID, items: list[Wanted | Problem]) -> list[Answer | Problem]:
    found = submit_batch(world.uow, user, items, world.policy, atomic=False, now=world.now)
    assert isinstance(found, list)
    return found


def each(world: World, user: UUID, items: list[Wanted]) -> list[Answer | Problem]:
    """One after the other in the order in which a batch locks them."""
    found: dict[int, Answer | Problem] = {}
    for number, item in sorted(enumerate(items), key=lambda one: (one[1].repository.unique_key(one[1].commit), one[0])):
        try:
            found[number] = submit(world.uow, user, item, world.policy, now=world.now)
        except Problem as problem:
            found[number] = problem
    return [found[number] for number in range(len(items))]


def described(outcomes: list[Answer | Problem]) -> list[Any]:
    return [
        (o.is_known, o.job.status, o.job.queue, o.job.wait) if isinstance(o, Answer) else (type(o), o.extensions)
        for o in outcomes
    ]


def mixture(world: World, mark: str, user: UUID) -> list[Wanted]:
    """New commits of new and known repositories, a result, a job of the user's, one of another's, one that was left."""
    stranger, commit = world.user(Tier.PRO), mark * 40
    done, own, other, left = (world.wanted(f"{name}-{mark}", commit) for name in ("done", "own", "other", "left"))
    with_result = world.running(stranger, done)
    world.finish(with_result, stranger)
    for who, item in ((user, own), (stranger, other), (user, left), (stranger, left)):
        world.submit(who, item)
    job_id = world.value(
        "SELECT task_id FROM kombu_message WHERE unique_key = :key", key=left.repository.unique_key(commit)
    )
    cancel(world.uow, UUID(job_id), account(world, user), world.policy, now=world.now)
    new = [world.wanted(f"{name}-{mark}", commit) for name in ("zoo", "own2", "SHOP", "shop", "m")]
    return [new[0], done, own, new[1], other, new[2], left, new[3], new[4], own]


@pytest.mark.parametrize("analyses", [None, 6, 5, 3, 1])
def test_a_batch_does_to_each_item_what_a_submission_does(world: World, analyses: int | None) -> None:
    seen = []
    for mark, how in (("a", each), ("b", batch)):
        user = world.user(analyses=1000)
        items = mixture(world, mark, user)
        with world.uow.begin() as tx:
            tx.run(text("UPDATE subscription_plans SET analyses_per_period = :n WHERE tier = 'free'"), n=analyses)
        outcomes = described(how(world, user, items))
        rows = [
            {**row, "unique_key": str(row["unique_key"]).replace(f"-{mark}", "").replace(mark * 40, "")}
            for row in world.rows(LEFT, user_id=user)
        ]
        rows.sort(key=lambda row: (row["unique_key"], str(row["event"])))
        seen.append((outcomes, rows))
        with world.uow.begin() as tx:
            tx.run(text("DELETE FROM kombu_message"))
            tx.run(text("DELETE FROM kombu_group"))
    assert seen[0][0] == seen[1][0]
    for single, batched in zip(seen[0][1], seen[1][1], strict=True):
        assert single == batched
    assert any(isinstance(o[0], type) for o in seen[1][0]) == (analyses is not None and analyses < 6)


def test_a_batch_of_new_commits_takes_as_many_round_trips_as_one_of_two(piped: World, trips: Count) -> None:
    def sent(size: int) -> int:
        user = piped.user(Tier.PRO_PLUS)
        items = [piped.wanted(f"shop{uuid4().hex[:6]}" if n % 2 else "shop") for n in range(size)]
        return trips(lambda: batch(piped, user, items))

    sent(2)
    assert sent(2) == sent(100) <= 7  # one of them for repositories that are new


def test_a_refused_item_leaves_nothing_and_the_first_of_the_order_get_the_units(world: World) -> None:
    user = world.user(analyses=2)
    items = [world.wanted(name) for name in ("d", "b", "c", "a")]
    outcomes = batch(world, user, items)
    assert [type(o) for o in outcomes] == [QuotaExceeded, Answer, QuotaExceeded, Answer]
    assert [row["name"] for row in world.rows("SELECT name FROM codebases ORDER BY name")] == ["a", "b"]
    facts = (
        "SELECT (facts -> 'quota' ->> 'reserved')::int AS before FROM job_events WHERE event = 'accepted' ORDER BY id"
    )
    assert [row["before"] for row in world.rows(facts)] == [0, 1]


def test_items_with_percent_signs_and_quotes_are_stored_as_they_are(world: World) -> None:
    items = [Wanted(world.wanted().repository, f"{n:040x}", ref=ref) for n, ref in enumerate(("a%sb%%", "it's", '"\\'))]
    batch(world, world.user(Tier.PRO_PLUS), items)
    assert [row["ref"] for row in world.rows("SELECT ref FROM analysis_requests ORDER BY commit_sha")] == [
        "a%sb%%", "it's", '"\\',
    ]  # fmt: skip
