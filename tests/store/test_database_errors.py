"""Whose fault an error is: decided by what PostgreSQL says, not by the class that a driver makes of it."""

import psycopg2
import pytest
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.store.core.connections import make_engine
from app.store.core.database_errors import code_of, is_databases
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import World

RAISE = "DO $$ BEGIN RAISE 'x' USING ERRCODE = '{}'; END $$"


@pytest.mark.parametrize(
    "code", ["53100", "53200", "53300", "25006", "55P03", "57014", "57P01", "58030", "XX001", "40001", "42P01", "0A000"]
)
def test_what_passes_when_the_database_is_well_again_is_its_own(world: World, code: str) -> None:
    error = raised(world.uow, RAISE.format(code))
    assert (code_of(error), is_databases(error)) == (code, True)


@pytest.mark.parametrize("code", ["22P05", "23505", "54000", "21000", "P0001"])
def test_what_comes_again_with_the_same_values_is_the_callers(world: World, code: str) -> None:
    error = raised(world.uow, RAISE.format(code))
    assert (code_of(error), is_databases(error)) == (code, False)


def test_a_server_that_is_away_a_session_that_ends_and_a_pool_without_rest_are_the_databases(world: World) -> None:
    nowhere = UnitOfWork(make_engine("postgresql+psycopg2://nobody@127.0.0.1:1/none", pool_size=1))
    assert is_databases(raised(nowhere, "SELECT 1"))
    assert is_databases(raised(world.uow, "SELECT pg_terminate_backend(pg_backend_pid())"))
    assert is_databases(PoolTimeoutError("no connection"))


def test_errors_of_others_are_not_the_databases() -> None:
    assert not is_databases(ValueError("x"))
    assert not is_databases(psycopg2.OperationalError("not by way of a session"))


def raised(uow: UnitOfWork, statement: str) -> SQLAlchemyError:
    with pytest.raises(SQLAlchemyError) as caught, uow.begin() as tx:
        tx.run(text(statement))
    return caught.value
