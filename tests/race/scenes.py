"""Use cases that touch the same user, commit or job at the same moment, and what may come of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from app.domain.lifecycle import Delivery
from app.services.analyses.submission import Wanted
from app.services.analyses.submit import submit
from app.services.jobs.answers import Answer, Key
from app.services.jobs.cancel import cancel
from app.services.operations.sweep import sweep
from app.store.accounts.users import Account
from tests.conftest import World

#: Each gets the world over its strand's own connection.
Action = Callable[[World], Any]


@dataclass(frozen=True)
class Scene:
    """check: judges the outcomes, in the order of the actions.  A Problem is an outcome, any other error never is."""

    actions: tuple[Action, ...]
    check: Callable[..., None]


#: Sets a scene, from a fresh beginning each time.
Make = Callable[[World], Scene]


def accepting(user_id: UUID, wanted: Wanted, key: Key[Answer] | None = None) -> Action:
    return lambda world: submit(world.uow, user_id, wanted, world.policy, key=key, now=world.now)


def finishing(world: World, delivery: Delivery, user_id: UUID) -> Action:
    """The finish alone: what it attaches is saved before the scene, so that every order meets the same statements."""
    listing = world.saved()
    return lambda world: world.finish(delivery, user_id, listing=listing)


def starting(delivery: Delivery, user_id: UUID) -> Action:
    return lambda world: world.start(delivery, user_id)


def cancelling(job_id: UUID, who: Account) -> Action:
    return lambda world: cancel(world.uow, job_id, who, world.policy, now=world.now)


def cleaning_up(world: World) -> Any:
    """When every reservation that is there has expired."""
    return sweep(world.uow, world.policy, now=world.now + timedelta(hours=2))


def status_of(world: World, job_id: object) -> str:
    return world.status(UUID(str(job_id)))
