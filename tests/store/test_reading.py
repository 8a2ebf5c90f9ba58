"""Reads with a server that is no replica, which every server of these tests is; tests/e2e has real ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from uuid import uuid4

import pytest
from sqlalchemy import text

from app.errors import NotFound
from app.store.core import deadlines, reading
from app.store.core.connections import make_engine
from app.store.core.needs import UNTOLD, Completed, ReplicaFault, UnusableError, position
from app.store.core.replica import AWAY_SECONDS, BEHIND_SECONDS, Replica
from app.store.core.session import Session, session
from app.store.core.unit_of_work import Tx, UnitOfWork

ONE = text("SELECT 1")
JOB = uuid4()


class Stub:
    """A need that fails as it is told, or succeeds."""

    def __init__(self, reason: ReplicaFault = ReplicaFault.NONE) -> None:
        self.reason = reason

    def check(self, _replica: Session, _needed: str) -> None:
        if self.reason is not ReplicaFault.NONE:
            raise UnusableError(self.reason, f"as told: {self.reason}")


class Elapsed:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def elapsed() -> Elapsed:
    return Elapsed()


@pytest.fixture
def replica(database_url: str, elapsed: Elapsed, monkeypatch: pytest.MonkeyPatch) -> Iterator[Replica]:
    """The primary in the place of a replica, which may be as slow as it likes."""
    monkeypatch.setattr(deadlines, "ANSWER_SECONDS", 60)
    engine = make_engine(database_url, pool_size=1, overflow=0, statement_seconds=10, is_replica=True)
    yield Replica(engine, "0000", elapsed=elapsed)
    engine.dispose()


def test_without_a_replica_check_and_read_are_one_transaction(uow: UnitOfWork) -> None:
    found = reading.read_completed(uow, lambda tx: tx, lambda _: [JOB], lambda tx, checked: tx is checked)
    assert found
    assert reading.read_current(uow, lambda tx: int(tx.run(ONE).scalar_one()), once=True) == 1


def test_of_a_server_that_is_no_standby_nothing_is_read(uow: UnitOfWork, replica: Replica) -> None:
    checked, read = list[Tx](), list[Tx]()
    reading.read_completed(
        replace(uow, replica=replica), checked.append, lambda _: [JOB], lambda tx, _: read.append(tx)
    )
    assert len(checked) == 2
    assert read == checked[1:]
    assert replica.fault == "it is not a standby"


def test_a_read_without_completed_jobs_asks_no_replica(uow: UnitOfWork, replica: Replica) -> None:
    assert reading.read_completed(replace(uow, replica=replica), lambda _: None, lambda _: [], lambda *_: True)
    assert replica.fault is None


def test_a_refusal_of_the_primary_asks_no_replica(uow: UnitOfWork, replica: Replica) -> None:
    def refuse(_: Tx) -> None:
        raise NotFound("No such job")

    with pytest.raises(NotFound):
        reading.read_completed(replace(uow, replica=replica), refuse, lambda _: [JOB], lambda *_: None)
    assert replica.fault is None


def test_what_a_read_raises_is_no_fault_of_the_replica(replica: Replica) -> None:
    def refuse(_: Session) -> None:
        raise NotFound("No such test")

    with pytest.raises(NotFound):
        replica.read(Stub(), refuse)
    assert replica.fault is None
    assert replica.is_tried(with_position=True)


@pytest.mark.parametrize("reason", [ReplicaFault.AWAY, ReplicaFault.UNFIT])
def test_after_a_fault_one_read_tries_it_again(replica: Replica, elapsed: Elapsed, reason: ReplicaFault) -> None:
    with pytest.raises(UnusableError):
        replica.read(Stub(reason), lambda _: None)
    assert not replica.is_tried(with_position=False)
    elapsed.seconds += AWAY_SECONDS
    assert [replica.is_tried(with_position=False) for _ in range(3)] == [True, False, False]
    replica.read(Stub(), lambda _: None)
    assert [replica.is_tried(with_position=True) for _ in range(3)] == [True, True, True]
    assert replica.fault is None


def test_a_replica_that_is_behind_is_asked_for_what_has_completed(replica: Replica, elapsed: Elapsed) -> None:
    with pytest.raises(UnusableError):
        replica.read(Stub(ReplicaFault.BEHIND), lambda _: None)
    assert replica.is_tried(with_position=False)
    assert not replica.is_tried(with_position=True)
    replica.read(Stub(), lambda _: None)  # needs no position
    assert replica.fault == "as told: behind"
    elapsed.seconds += BEHIND_SECONDS
    assert replica.is_tried(with_position=True)


@pytest.mark.parametrize("reason", [ReplicaFault.LACKING, ReplicaFault.CONFLICT])
def test_some_faults_are_of_one_read(replica: Replica, reason: ReplicaFault) -> None:
    with pytest.raises(UnusableError):
        replica.read(Stub(reason), lambda _: None)
    assert replica.is_tried(with_position=True)
    assert replica.fault is None


def test_a_replica_without_a_free_connection_is_not_waited_for(replica: Replica) -> None:
    def again(_: Session) -> None:
        with pytest.raises(UnusableError, match="in use"):
            replica.read(Stub(), lambda _: None)

    replica.read(Stub(), again)


def test_no_position_is_read_before_anything_has_happened_to_a_job(uow: UnitOfWork, replica: Replica) -> None:
    wired = replace(uow, replica=replica)
    assert reading.read_current(wired, lambda tx: int(tx.run(ONE).scalar_one())) == 1
    assert replica.fault is None
    assert reading.fault_of(wired, replica) == "it is not a standby"


def test_a_server_without_positions_gives_none(database_url: str) -> None:
    """As Aurora, which has no such functions, or a role that may not call them."""
    missing = "CREATE FUNCTION pg_temp.refuse() RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION USING errcode = '{}'; END$$"
    engine = make_engine(database_url, pool_size=1)
    for code in UNTOLD:
        with session(engine) as connection:
            connection.begin()
            connection.execute(text(missing.format(code)))

            class Refusing:
                def execute(self, _: object) -> object:
                    return connection.execute(text("SELECT pg_temp.refuse()"))

            with pytest.raises(UnusableError, match=code):
                position(Refusing())  # type: ignore[arg-type]
    engine.dispose()


def test_completed_asks_for_all_jobs(uow: UnitOfWork) -> None:
    with uow.begin() as tx, pytest.raises(UnusableError, match="not a standby"):
        Completed([JOB]).check(tx.connection, "0000")
