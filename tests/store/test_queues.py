"""The ages of what a queue holds."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.domain.plans import Tier
from app.store.operations import queues
from tests.conftest import World

AGES = """
    UPDATE kombu_message SET enqueued_at = clock_timestamp() - make_interval(mins => :age), visible = false,
           delay_reason = :reason, visible_at = CASE WHEN :reason <> 'parked' THEN clock_timestamp() + interval '1 h' END
     WHERE task_id = :job RETURNING id"""


def test_the_oldest_message_that_waits_for_its_user_is_told_whoever_has_it(world: World) -> None:
    assert oldest(world) == (0, [])
    for age, reason in ((500, "parked"), (90, "parked"), (700, "retry")):
        waiting(world, age, reason)
    assert oldest(world) == (500, [])  # a retry waits for its time, and not for its user
    waiting(world, 1_000, "snooze")
    assert oldest(world) == (1_000, [])


def test_with_very_many_users_the_oldest_of_some_is_told_as_an_estimate(world: World) -> None:
    ages = {world.user(): age for age in (100, 200, 300)}
    for user, age in ages.items():
        waiting(world, age, "parked", user)
    assert oldest(world, most=3) == (300, [])
    assert oldest(world, most=2) == (max(ages[user] for user in sorted(ages, key=str)[:2]), ["oldest_parked_seconds"])


def waiting(world: World, age: int, reason: str, user: UUID | None = None) -> None:
    """age: in minutes."""
    job = world.submit(user or world.user(Tier.FREE))
    assert world.rows(AGES, job=str(job), age=age, reason=reason)


def oldest(world: World, **given: Any) -> tuple[float, list[str]]:
    """-> minutes, and what is estimated."""
    with world.uow.begin() as tx:
        [row] = [row for row in queues.states(tx, **given) if row.queue == "analysis_default"]
    return row.oldest_parked_seconds // 60, row.estimated
