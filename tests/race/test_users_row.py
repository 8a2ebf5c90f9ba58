"""The lock on a user's row: accepts let others refer to the user, a deletion does not (docs/adr/0042)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from app.services.analyses.submission import Wanted
from app.store.accounts import users
from app.store.analyses import accept_lookup
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.jobs import messages
from tests.conftest import World
from tests.databases import LOCK_WAITS
from tests.nodes import wait_for

REFER = text("""
    INSERT INTO sessions (id_hash, user_id, created_at, expires_at)
    SELECT :hash, :user_id, now(), now() + interval '1 h'""")
Lock = Callable[[World, Tx, UUID], object]


def accepts(world: World, tx: Tx, user: UUID) -> object:
    wanted: Wanted = world.wanted()
    return accept_lookup.look(tx, user, None, wanted.repository, wanted.commit, world.policy.parser_version)


def starts(world: World, tx: Tx, user: UUID) -> object:
    delivery = world.lease(world.submit(user))
    messages.lock_users(tx, delivery, user)
    return messages.fence(tx, delivery, user)


def begins_again(world: World, tx: Tx, user: UUID) -> object:
    with UnitOfWork(world.uow.engine, first=frozenset({user})).begin() as other:
        other.flush()
    users.lock_rows(tx, [user])
    return users.find(tx, user)


LOCKS: dict[str, Lock] = {
    "an accept": accepts,
    "a batch": lambda _, tx, user: users.lock(tx, user),
    "a start": starts,
    "a cancel": begins_again,
    "a join": lambda _, tx, user: users.try_lock_row(tx, user),
}


def refer(world: World, user: UUID, patience: str = "60s") -> None:
    """Insert a session of the user, as a sign-in does.  patience: how long it waits for a lock."""
    with UnitOfWork(world.uow.engine).begin() as tx:
        tx.run(text("SELECT set_config('lock_timeout', :patience, true)"), patience=patience)
        tx.run(REFER, hash=user.bytes, user_id=user)


@pytest.mark.parametrize("step", LOCKS)
def test_a_row_that_refers_to_a_user_waits_for_no_step_of_their_jobs(world: World, step: str) -> None:
    user = world.user()
    with world.uow.begin() as tx:
        assert LOCKS[step](world, tx, user)
        refer(world, user, patience="2s")
    assert world.value("SELECT count(*) FROM sessions") == 1


@pytest.mark.parametrize("step", LOCKS)
def test_each_step_still_excludes_an_accept_of_the_same_user(world: World, step: str) -> None:
    user = world.user()
    with world.uow.begin() as tx:
        assert LOCKS[step](world, tx, user)
        with UnitOfWork(world.uow.engine).begin() as other:
            assert not users.try_lock_row(other, user)


def test_a_deletion_waits_for_a_row_that_is_being_inserted_and_lets_no_further_one_in(world: World) -> None:
    user = world.user()
    with ThreadPoolExecutor(2) as threads:
        with world.uow.begin() as signing_in:
            signing_in.run(REFER, hash=b"first", user_id=user)
            deleting = threads.submit(delete, world, user)
            wait_for(lambda: world.value(LOCK_WAITS) == 1, "the deletion to wait for the insert")
        assert deleting.result() == 1
        with pytest.raises(IntegrityError):
            refer(world, user)
    assert world.value("SELECT count(*) FROM sessions") == 0


def test_a_row_that_refers_to_a_user_waits_for_their_deletion_and_is_refused(world: World) -> None:
    user = world.user()
    with ThreadPoolExecutor(1) as threads:
        with world.uow.begin() as tx:
            assert users.lock_to_delete(tx, user)
            inserted = threads.submit(refer, world, user)
            wait_for(lambda: world.value(LOCK_WAITS) == 1, "the insert to wait for the deletion")
            tx.run(text("DELETE FROM user_subscriptions WHERE user_id = :id"), id=user)
            tx.run(text("DELETE FROM users WHERE id = :id"), id=user)
        with pytest.raises(IntegrityError):
            inserted.result()


def delete(world: World, user: UUID) -> int:
    """How many rows referred to the user once the deletion had its lock."""
    with UnitOfWork(world.uow.engine).begin() as tx:
        users.lock_to_delete(tx, user)
        found: int = tx.run(text("SELECT count(*) FROM sessions WHERE user_id = :id"), id=user).scalar_one()
        for table, column in (("sessions", "user_id"), ("user_subscriptions", "user_id"), ("users", "id")):
            tx.run(text(f"DELETE FROM {table} WHERE {column} = :id"), id=user)
    return found
