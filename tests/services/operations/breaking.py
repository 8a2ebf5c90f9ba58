"""Breaks in the rows of a busy database, each in a transaction that is undone, and what the audit finds of them."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx
from app.store.operations.audit import broken
from app.store.operations.invariants import ALL
from tests.race.invariants import BROKEN as RULES
from tests.services.busy import Busy

NOBODY = UUID(int=1)
IDS = {"id", "job_id", "task_id", "user_id", "payer"}


def misjudged(busy: Busy, number: str, breaking: str, expected: list[dict[str, Any]]) -> object:
    """What was found in place of these rows of this invariant and nothing else; None when all was right."""
    found = broken_by(busy, breaking)
    rows = [{column: plain(row.get(column)) for column in expected[0]} for row in found.pop(number, [])]
    return (found, rows) if found or rows != [named(busy, row) for row in expected] else None


def names(busy: Busy) -> dict[str, str]:
    ids = busy.jobs | {"user": busy.user, "other": busy.other, "nobody": NOBODY}
    return {name: str(found) for name, found in ids.items()}


class UndoneError(Exception):
    """So that a transaction leaves nothing."""


@contextlib.contextmanager
def undone(busy: Busy, breaking: str) -> Iterator[Tx]:
    """A transaction that has broken something, and leaves nothing of it."""
    with contextlib.suppress(UndoneError), busy.world.uow.begin() as tx:
        for statement in breaking.split(";"):
            ids = {name.replace(" ", "_"): found for name, found in names(busy).items()}
            used = {name: found for name, found in ids.items() if f":{name}" in statement}
            tx.run(text(cast(statement, used)), **used)
        yield tx
        raise UndoneError


def broken_by(busy: Busy, breaking: str) -> dict[str, list[dict[str, Any]]]:
    """What the audit finds then."""
    found = {}
    with undone(busy, breaking) as tx:
        for invariant in ALL:
            total, rows = broken(tx, invariant, since=None, most=100, within=timedelta(minutes=1))
            found |= {invariant.number: rows} if total else {}
    return found


def rules_broken_by(busy: Busy, breaking: str) -> Counter[str]:
    """How many rows then break each of the rules that races are judged by."""
    found = Counter[str]()
    with undone(busy, breaking) as tx:
        found.update({rule: len(tx.run(text(query)).all()) for rule, query in RULES.items()})
    return found


def cast(statement: str, used: dict[str, str]) -> str:
    for what in used:
        # ids are text in messages, and uuids everywhere else
        if "kombu_message" not in statement and f"CAST(:{what} AS text)" not in statement:
            statement = statement.replace(f":{what}", f"CAST(:{what} AS uuid)")
    return statement


def named(busy: Busy, row: dict[str, Any]) -> dict[str, Any]:
    """An expected row with the ids in place of their names."""
    return {column: names(busy).get(value, value) if column in IDS else value for column, value in row.items()}


def plain(value: object) -> object:
    return str(value) if isinstance(value, UUID) else value
