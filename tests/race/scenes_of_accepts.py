"""Accepts that meet each other, or the clean-up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from app.errors import IdempotencyInFlight, IdempotencyMismatch, QuotaExceeded
from app.services.analyses.submission import Wanted
from app.services.analyses.submit_batch import BatchOutcomes, submit_batch
from app.services.jobs.answers import Answer, Key
from app.store.jobs.idempotency import Stored
from tests.conftest import World, id_of, keyed
from tests.race.scenes import (
    Action,
    Make,
    Scene,
    accepting,
    cleaning_up,
)


def two_accepts_of_the_last_unit(world: World) -> Scene:
    user = world.user(analyses=2)
    world.submit(user)

    def check(*outcomes: Any) -> None:
        assert sorted(type(o).__name__ for o in outcomes) == ["Answer", "QuotaExceeded"]
        (refused,) = [o for o in outcomes if isinstance(o, QuotaExceeded)]
        assert (refused.extensions["used"], refused.extensions["reserved"], refused.extensions["limit"]) == (0, 2, 2)

    return Scene((accepting(user, world.wanted()), accepting(user, world.wanted())), check)


def two_users_asking_for_one_commit(world: World) -> Scene:
    one, other, wanted = world.user(analyses=2), world.user(analyses=2), world.wanted()

    def check(first: Answer, second: Answer) -> None:
        assert (first.is_known, second.is_known, first.job.id) == (False, False, second.job.id)
        roles = "SELECT role FROM analysis_requests WHERE job_id = :id ORDER BY role"
        assert [row["role"] for row in world.rows(roles, id=first.job.id)] == ["joined", "payer"]

    return Scene((accepting(one, wanted), accepting(other, wanted)), check)


def two_users_asking_for_a_repository_nobody_has_seen(world: World) -> Scene:
    one, other, wanted = world.user(analyses=2), world.user(analyses=2), world.wanted(f"shop-{uuid4().hex}")

    def check(first: Answer, second: Answer) -> None:
        assert (first.is_known, second.is_known, first.job.id) == (False, False, second.job.id)
        found = "SELECT count(*) FROM codebases WHERE name = :name"
        assert world.value(found, name=wanted.repository.name) == 1

    return Scene((accepting(one, wanted), accepting(other, wanted)), check)


def two_accepts_under_one_key(world: World) -> Scene:
    user, wanted, key = world.user(analyses=2), world.wanted(), keyed("key", b"body")

    def check(*outcomes: Any) -> None:
        answers = [o for o in outcomes if isinstance(o, Answer | Stored)]
        assert len([a for a in answers if isinstance(a, Answer)]) == 1
        assert len({id_of(a) for a in answers}) == 1
        assert all(isinstance(o, Answer | Stored | IdempotencyInFlight) for o in outcomes)

    return Scene((accepting(user, wanted, key), accepting(user, wanted, key)), check)


def one_key_for_two_requests(world: World) -> Scene:
    user = world.user(analyses=2)
    actions = tuple(accepting(user, world.wanted(), keyed("key", body)) for body in (b"one", b"two"))

    def check(*outcomes: Any) -> None:
        (answer,) = [o for o in outcomes if isinstance(o, Answer)]
        assert not answer.is_known
        assert [o for o in outcomes if isinstance(o, IdempotencyMismatch | IdempotencyInFlight)]
        assert world.value("SELECT count(*) FROM quota_reservations WHERE user_id = :id", id=user) == 1

    return Scene(actions, check)


def _batching(user_id: UUID, items: list[Wanted], name: str | None = None) -> Action:
    key = Key(name, b"body", lambda outcomes: (202, {"ids": _ids(outcomes)})) if name else None
    return lambda w: submit_batch(w.uow, user_id, items, w.policy, atomic=True, key=key, now=w.now)


def _ids(found: BatchOutcomes | Stored) -> list[str]:
    """Of the jobs that a batch is told of, be it answered before or not."""
    if isinstance(found, Stored):
        return found.body["ids"]
    return [str(o.job.id) for o in found if isinstance(o, Answer) and not o.is_known]


def two_batches_of_the_same_commits_the_other_way_round(world: World) -> Scene:
    users, commits = [world.user(analyses=4) for _ in range(2)], [world.wanted() for _ in range(2)]

    def check(there: BatchOutcomes, back: BatchOutcomes) -> None:
        assert len(set(_ids(there))) == 2
        assert _ids(there) == _ids(back)[::-1]

    return Scene((_batching(users[0], commits), _batching(users[1], commits[::-1])), check)


def two_batches_under_one_key(world: World) -> Scene:
    user, commits, key = world.user(analyses=4), [world.wanted() for _ in range(2)], "key"

    def check(*outcomes: Any) -> None:
        answers = [o for o in outcomes if isinstance(o, list | Stored)]
        assert len([a for a in answers if isinstance(a, list)]) == 1
        assert len({tuple(_ids(a)) for a in answers}) == 1
        assert all(isinstance(o, list | Stored | IdempotencyInFlight) for o in outcomes)
        assert world.value("SELECT count(*) FROM quota_reservations WHERE user_id = :id", id=user) == 2

    return Scene((_batching(user, commits, key), _batching(user, commits, key)), check)


def an_accept_beside_the_clean_up(world: World) -> Scene:
    user = world.user(analyses=2)

    def check(answer: Answer, swept: Any) -> None:
        assert (answer.is_known, swept.orphans, swept.buried) == (False, 0, 0)

    return Scene((accepting(user, world.wanted()), cleaning_up), check)


SCENES: Sequence[Make] = (
    two_accepts_of_the_last_unit,
    two_users_asking_for_one_commit,
    two_users_asking_for_a_repository_nobody_has_seen,
    two_accepts_under_one_key,
    one_key_for_two_requests,
    two_batches_of_the_same_commits_the_other_way_round,
    two_batches_under_one_key,
    an_accept_beside_the_clean_up,
)
