"""Pairs of use cases that touch the same user, commit or job at the same moment, and what may come of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import text

from app.domain.lifecycle import Delivery, Outcome
from app.domain.plans import Tier
from app.errors import Conflict, IdempotencyInFlight, IdempotencyMismatch, QuotaExceeded
from app.services.cancel import cancel
from app.services.heartbeat import Pulse, beat
from app.services.submit import Answer, Wanted, submit
from app.services.sweep import sweep
from app.store import users
from app.store.users import Account
from tests.conftest import World

#: Each gets the world over its strand's own connection.
Action = Callable[[World], Any]


@dataclass(frozen=True)
class Scene:
    """check: judges the outcomes, in the order of the actions.  A Problem is an outcome, any other error never is."""

    actions: tuple[Action, ...]
    check: Callable[..., None]


def account(world: World, user_id: UUID) -> Account:
    with world.uow.begin() as tx:
        found = users.find(tx, user_id)
    assert found is not None
    return found


def _accept(user_id: UUID, wanted: Wanted, key: tuple[str, bytes] | None = None) -> Action:
    return lambda world: submit(world.uow, user_id, wanted, world.policy, key=key, now=world.now)


def _finish(delivery: Delivery, user_id: UUID) -> Action:
    return lambda world: world.finish(delivery, user_id)


def _start(delivery: Delivery, user_id: UUID) -> Action:
    return lambda world: world.start(delivery, user_id)


def _cancel(job_id: UUID, who: Account) -> Action:
    return lambda world: cancel(world.uow, job_id, who, world.policy, now=world.now)


def _sweep(world: World) -> Any:
    """When every reservation that is there has expired."""
    return sweep(world.uow, world.policy, now=world.now + timedelta(hours=2))


def _status(world: World, job_id: object) -> str:
    return world.status(UUID(str(job_id)))


def two_accepts_of_the_last_unit(world: World) -> Scene:
    user = world.user(analyses=2)
    world.submit(user)

    def check(*outcomes: Any) -> None:
        assert sorted(type(o).__name__ for o in outcomes) == ["Answer", "QuotaExceeded"]
        (refused,) = [o for o in outcomes if isinstance(o, QuotaExceeded)]
        assert (refused.facts["used"], refused.facts["reserved"], refused.facts["limit"]) == (0, 2, 2)

    return Scene((_accept(user, world.wanted()), _accept(user, world.wanted())), check)


def two_users_asking_for_one_commit(world: World) -> Scene:
    one, other, wanted = world.user(analyses=2), world.user(analyses=2), world.wanted()

    def check(first: Answer, second: Answer) -> None:
        assert (first.status, second.status, first.job["id"]) == (202, 202, second.job["id"])
        roles = "SELECT role FROM analysis_requests WHERE job_id = :id ORDER BY role"
        assert [row["role"] for row in world.rows(roles, id=first.job["id"])] == ["joined", "payer"]

    return Scene((_accept(one, wanted), _accept(other, wanted)), check)


def two_users_asking_for_a_repository_nobody_has_seen(world: World) -> Scene:
    one, other, wanted = world.user(analyses=2), world.user(analyses=2), world.wanted(f"shop-{uuid4().hex}")

    def check(first: Answer, second: Answer) -> None:
        assert (first.status, second.status, first.job["id"]) == (202, 202, second.job["id"])
        found = "SELECT count(*) FROM codebases WHERE name = :name"
        assert world.value(found, name=wanted.repository.name) == 1

    return Scene((_accept(one, wanted), _accept(other, wanted)), check)


def two_accepts_under_one_key(world: World) -> Scene:
    user, wanted, key = world.user(analyses=2), world.wanted(), ("key", b"body")

    def check(*outcomes: Any) -> None:
        answers = [o for o in outcomes if isinstance(o, Answer)]
        assert len([a for a in answers if not a.replayed]) == 1
        assert len({a.job["id"] for a in answers}) == 1
        assert all(isinstance(o, Answer | IdempotencyInFlight) for o in outcomes)

    return Scene((_accept(user, wanted, key), _accept(user, wanted, key)), check)


def one_key_for_two_requests(world: World) -> Scene:
    user = world.user(analyses=2)
    actions = tuple(_accept(user, world.wanted(), ("key", body)) for body in (b"one", b"two"))

    def check(*outcomes: Any) -> None:
        (answer,) = [o for o in outcomes if isinstance(o, Answer)]
        assert answer.status == 202
        assert [o for o in outcomes if isinstance(o, IdempotencyMismatch | IdempotencyInFlight)]
        assert world.value("SELECT count(*) FROM quota_reservations WHERE user_id = :id", id=user) == 1

    return Scene(actions, check)


def an_accept_beside_a_finish_of_its_user_at_the_limit(world: World) -> Scene:
    user = world.user(analyses=2)
    world.submit(user)
    delivery = world.running(user)

    def check(refused: Any, ended: Outcome) -> None:
        assert (type(refused), ended) == (QuotaExceeded, Outcome.COMPLETED)
        assert refused.facts["used"] + refused.facts["reserved"] == refused.facts["limit"] == 2

    return Scene((_accept(user, world.wanted()), _finish(delivery, user)), check)


def an_accept_of_the_last_unit_beside_a_finish_of_its_user(world: World) -> Scene:
    user = world.user(analyses=2)
    delivery = world.running(user)

    def check(answer: Answer, ended: Outcome) -> None:
        assert (answer.status, ended) == (202, Outcome.COMPLETED)
        assert _status(world, answer.job["id"]) == "queued"

    return Scene((_accept(user, world.wanted()), _finish(delivery, user)), check)


def an_accept_beside_the_finish_of_its_commit(world: World) -> Scene:
    payer, other, wanted = world.user(analyses=2), world.user(analyses=2), world.wanted()
    delivery = world.running(payer, wanted)

    def check(answer: Answer, ended: Outcome) -> None:
        assert ended is Outcome.COMPLETED
        assert answer.job["id"] == str(delivery.job_id)
        assert (answer.status, answer.job["status"]) in {(202, "running"), (200, "completed")}

    return Scene((_accept(other, wanted), _finish(delivery, payer)), check)


def an_accept_beside_a_cancel_of_its_commit(world: World) -> Scene:
    payer, other, wanted = world.user(analyses=2), world.user(analyses=2), world.wanted()
    job_id, who = world.submit(payer, wanted), account(world, payer)

    def check(answer: Answer, left: Any) -> None:
        assert (answer.status, left) == (202, None)
        assert _status(world, answer.job["id"]) == "queued"
        payers = "SELECT cancelled_at FROM analysis_requests WHERE job_id = :id AND role = 'payer'"
        assert world.value(payers, id=job_id) is not None

    return Scene((_accept(other, wanted), _cancel(job_id, who)), check)


def an_accept_beside_the_clean_up(world: World) -> Scene:
    user = world.user(analyses=2)

    def check(answer: Answer, swept: Any) -> None:
        assert (answer.status, swept.orphans, swept.buried) == (202, 0, 0)

    return Scene((_accept(user, world.wanted()), _sweep), check)


def a_finish_beside_the_clean_up(world: World) -> Scene:
    user = world.user(analyses=2)
    delivery = world.running(user)

    def check(ended: Outcome, swept: Any) -> None:
        assert (ended, swept.orphans, swept.buried) == (Outcome.COMPLETED, 0, 0)

    return Scene((_finish(delivery, user), _sweep), check)


def a_finish_beside_the_rescue_of_its_lease(world: World) -> Scene:
    """The rescuer's node then runs the job a second time, while the first worker may still be finishing."""
    user = world.user(analyses=2)
    delivery = world.running(user)
    dead = delivery.job_id.int % 2**60
    world.rows(
        "UPDATE kombu_message SET lease_owner = :dead WHERE task_id = :id RETURNING id",
        dead=dead,
        id=str(delivery.job_id),
    )

    def rescue(world: World) -> Outcome | None:
        with world.uow.begin() as tx:
            taken = tx.run(text("SELECT kombu_message_rescue(:dead, clock_timestamp(), 100)"), dead=dead).scalar_one()
        if not taken:
            return None
        again = world.lease(delivery.job_id)
        assert (again.lost_count, again.attempt) == (1, 2)
        assert world.start(again, user) is Outcome.STARTED
        return world.finish(again, user)

    def check(first: Outcome, second: Outcome | None) -> None:
        assert (first, second) in {(Outcome.COMPLETED, None), (Outcome.STALE, Outcome.COMPLETED)}

    return Scene((_finish(delivery, user), rescue), check)


def a_cancel_beside_a_finish(world: World) -> Scene:
    user = world.user(analyses=2)
    delivery, who = world.running(user), account(world, user)

    def check(left: Any, ended: Outcome) -> None:
        assert (type(left), ended) in {(type(None), Outcome.CANCELLED), (Conflict, Outcome.COMPLETED)}
        assert _status(world, delivery.job_id) == ended.value

    return Scene((_cancel(delivery.job_id, who), _finish(delivery, user)), check)


def a_cancel_beside_a_start(world: World) -> Scene:
    user = world.user(analyses=2)
    delivery, who = world.lease(world.submit(user)), account(world, user)

    def check(left: Any, begun: Outcome) -> None:
        assert left is None
        status = _status(world, delivery.job_id)
        assert (begun, status) in {(Outcome.STALE, "cancelled"), (Outcome.STARTED, "running")}
        if begun is Outcome.STARTED:
            assert beat(world.uow, delivery, world.policy, None) is Pulse.STOP
            assert world.finish(delivery, user) is Outcome.CANCELLED

    return Scene((_cancel(delivery.job_id, who), _start(delivery, user)), check)


def two_starts_for_one_slot(world: World) -> Scene:
    user = world.user(analyses=2)
    deliveries = [world.lease(world.submit(user)) for _ in range(2)]

    def check(*outcomes: Outcome) -> None:
        assert sorted(outcomes) == [Outcome.SNOOZED, Outcome.STARTED]

    return Scene(tuple(_start(delivery, user) for delivery in deliveries), check)


def a_start_beside_the_finish_that_frees_its_slot(world: World) -> Scene:
    user = world.user(analyses=2)
    running, waiting = world.running(user), world.lease(world.submit(user))

    def check(begun: Outcome, ended: Outcome) -> None:
        assert ended is Outcome.COMPLETED
        assert (begun, _status(world, waiting.job_id)) in {(Outcome.STARTED, "running"), (Outcome.SNOOZED, "queued")}

    return Scene((_start(waiting, user), _finish(running, user)), check)


def a_heartbeat_beside_a_finish(world: World) -> Scene:
    user = world.user(Tier.PRO)
    delivery = world.running(user)

    def check(pulse: Pulse, ended: Outcome) -> None:
        assert ended is Outcome.COMPLETED
        assert pulse in {Pulse.GO_ON, Pulse.LOST}

    return Scene((lambda w: beat(w.uow, delivery, w.policy, ("parsing", 1, 2)), _finish(delivery, user)), check)


SCENES: Sequence[Callable[[World], Scene]] = (
    two_accepts_of_the_last_unit,
    two_users_asking_for_one_commit,
    two_users_asking_for_a_repository_nobody_has_seen,
    two_accepts_under_one_key,
    one_key_for_two_requests,
    an_accept_beside_a_finish_of_its_user_at_the_limit,
    an_accept_of_the_last_unit_beside_a_finish_of_its_user,
    an_accept_beside_the_finish_of_its_commit,
    an_accept_beside_a_cancel_of_its_commit,
    an_accept_beside_the_clean_up,
    a_finish_beside_the_clean_up,
    a_finish_beside_the_rescue_of_its_lease,
    a_cancel_beside_a_finish,
    a_cancel_beside_a_start,
    two_starts_for_one_slot,
    a_start_beside_the_finish_that_frees_its_slot,
    a_heartbeat_beside_a_finish,
)
