"""`fairlane cell move` with several accounts: one process moves them one after the other."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO
from uuid import UUID

import psycopg2
import pytest
from click.testing import CliRunner, Result
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import Pool

from app.cli import main
from app.services.cells import change_cell
from app.store.cells import directory, movers
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import World, publishing
from tests.databases import Databases, run_sql


@dataclass
class Two:
    """The cells a, where the directory is, and b."""

    a: World
    b: World
    env: dict[str, str]

    def move(self, *arguments: str, said: str | bytes | IO[bytes] | None = None) -> Result:
        return CliRunner().invoke(main, ["cell", "move", *arguments, "--to", "b"], input=said, env=self.env)

    def people(self, count: int) -> list[str]:
        return [f"{self.a.user()}@example.org" for _ in range(count)]

    def moved(self, emails: list[str]) -> list[str]:
        """Who of them lives in b."""
        there = {row["email"] for row in self.b.rows("SELECT email FROM users WHERE kind = 'person'")}
        return [email for email in emails if email in there]


@pytest.fixture(scope="module")
def two(databases: Databases) -> Iterator[Two]:
    with ExitStack() as stack:
        urls = [stack.enter_context(databases.copy()) for _ in range(2)]
        a, b = (World(UnitOfWork(stack.enter_context(databases.engine(url)), publishing())) for url in urls)
        with a.uow.begin() as tx:
            directory.create(tx)
        cells = {"CELLS": f"a={urls[0]} b={urls[1]}", "DIRECTORY_URL": urls[0], "DATABASE_URL": urls[0]}
        yield Two(a, b, cells)


def test_one_account_is_told_of_as_always(two: Two) -> None:
    [ann, bob] = two.people(2)
    assert json.loads(two.move(ann, "--json").stdout).keys() == {"rows", "pause_seconds"}
    done = two.move(bob)
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["rows", "pause_seconds"], done.output
    refused = two.move(bob)
    assert (refused.exit_code, refused.stderr) == (1, f"fairlane: {bob} lives in b\n")


def test_several_accounts_move_and_what_cannot_is_told_of(two: Two) -> None:
    [ann, bob, carl] = two.people(3)
    with movers.only_one(two.a.uow.engine, UUID(bob.partition("@")[0])):
        done = two.move(ann, "nobody@example.org", bob, carl, "--json")
    assert done.exit_code == 1
    assert [json.loads(line)["email"] for line in done.stdout.splitlines()] == [ann, carl]
    assert json.loads(done.stdout.splitlines()[0])["rows"]["users"] == 1
    assert done.stderr.splitlines() == [
        "fairlane: nobody@example.org: There is no account for nobody@example.org",
        f"fairlane: {bob}: {bob} is moving",
    ]
    assert two.moved([ann, bob, carl]) == [ann, carl]
    assert two.move(bob, two.people(1)[0]).exit_code == 0


def test_addresses_are_read_from_standard_input(two: Two) -> None:
    [ann, bob] = two.people(2)
    done = two.move("-", said=f"\n  {ann}\r\n\n{bob}")
    assert done.exit_code == 0, done.output
    assert [line.partition(";")[0] for line in done.stdout.splitlines()] == [f"{ann} lives in b", f"{bob} lives in b"]
    assert two.moved([ann, bob]) == [ann, bob]
    assert two.move("-", said="").exit_code == 0


def test_a_further_account_opens_no_further_connection(two: Two) -> None:
    """A session that begins costs its server as much as the statements of a move."""
    emails, opened, seen = two.people(7), list[object](), list[int]()

    def note(*connected: object) -> None:
        opened.append(connected)

    event.listen(Pool, "connect", note)
    try:
        for some in (emails[:2], emails[2:]):
            assert two.move(*some).exit_code == 0
            seen.append(len(opened))
    finally:
        event.remove(Pool, "connect", note)
    assert seen == [seen[0], 2 * seen[0]]


def test_what_is_no_text_is_nobodys_address(two: Two) -> None:
    [ann] = two.people(1)
    done = two.move("-", said=f"{ann}\n".encode("utf-16") + b"\xff\x00\n\xef\xbb\xbf\n" + ann.encode())
    assert done.exit_code == 1
    assert done.stderr.count("There is no account for") == len(done.stderr.splitlines()) > 1
    assert two.moved([ann]) == [ann]
    assert two.move("-", said="\N{ZERO WIDTH NO-BREAK SPACE}" + two.people(1)[0]).exit_code == 0


class Typed(io.RawIOBase):
    """Standard input in which the next address is written once the account before it has moved."""

    def __init__(self, two: Two, emails: list[str]) -> None:
        self._two, self._emails, self._written = two, emails, 0

    def readable(self) -> bool:
        return True

    def readinto(self, into: memoryview) -> int:  # type: ignore[override]  # what a buffered reader hands in
        assert self._two.moved(self._emails) == self._emails[: self._written]
        line = "".join(f"{email}\n" for email in self._emails[self._written : self._written + 1]).encode()
        self._written += 1
        into[: len(line)] = line
        return len(line)


def test_an_account_moves_when_its_address_comes(two: Two) -> None:
    emails = two.people(3)
    done = two.move("-", said=io.BufferedReader(Typed(two, emails)))
    assert done.exit_code == 0, (done.output, done.exception)
    assert two.moved(emails) == emails


def test_what_cannot_be_meant_is_refused_before_anything_moves(two: Two) -> None:
    emails = two.people(2)
    for arguments, code, words in (
        ([*emails, "--to", "c"], 1, "'c' is no cell; expected one of a, b"),
        (["-", "--to", "c"], 1, "'c' is no cell; expected one of a, b"),
        (["-", *emails, "--to", "b"], 2, "stands alone"),
        (["--to", "b"], 2, "Missing argument"),
    ):
        done = CliRunner().invoke(main, ["cell", "move", *arguments], input="\n".join(emails), env=two.env)
        assert done.exit_code == code, done.output
        assert words in done.stderr
    assert two.moved(emails) == []


def test_a_list_without_an_address_moves_nobody_and_says_so(two: Two) -> None:
    done = two.move("-", said=" \n\n")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "fairlane: no address was given, so nobody moved\n"


def test_a_database_that_is_away_ends_the_command(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    emails, tried = two.people(3), list[str]()

    def lost(_: object, email: str, *__: object, **___: object) -> None:
        tried.append(email)
        raise OperationalError("a connection", {}, error_of("55P03" if len(tried) == 1 else None))

    monkeypatch.setattr(change_cell, "change_cell", lost)
    done = two.move(*emails)
    assert (done.exit_code, tried) == (4, emails[:2])
    assert done.stderr.splitlines() == [
        f"fairlane: {emails[0]}: the database is busy: it said so; try again",
        f"fairlane: {emails[1]} was about to move; the accounts after it were not tried",
        "fairlane: the database does not answer: it said so",
    ]


def test_a_cell_that_takes_no_changes_ends_the_command(two: Two, databases: Databases) -> None:
    """Each account that it went on with would be left half-way until the cell takes changes again."""
    emails = two.people(3)
    there = two.b.uow.engine.url.database
    run_sql(databases.server.admin_url, f"ALTER DATABASE {there} SET default_transaction_read_only = on")
    try:
        done = two.move(*emails)
    finally:
        run_sql(databases.server.admin_url, f"ALTER DATABASE {there} RESET default_transaction_read_only")
    assert done.exit_code == 4, done.output
    assert "the database accepts no writes" in done.stderr
    with two.a.uow.once() as tx:
        assert [str(place.user_id) for place in directory.moving(tx)] == [emails[0].partition("@")[0]]
    assert CliRunner().invoke(main, ["cell", "settle"], env=two.env).exit_code == 0
    assert two.moved(emails) == []
    assert two.move(*emails).exit_code == 0


def test_an_argument_that_is_no_text_is_nobodys_address(two: Two) -> None:
    [ann] = two.people(1)
    done = two.move("\udcff@example.org", ann)
    assert (done.exit_code, done.stderr.count("There is no account for")) == (1, 1), done.output
    assert two.moved([ann]) == [ann]


def error_of(code: str | None) -> Exception:
    class Told(psycopg2.OperationalError):
        pgcode = code

    return Told("it said so")
