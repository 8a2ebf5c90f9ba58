"""Run the checks one after the other; each is short, and none of them keeps the others from running."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy.exc import DBAPIError

from app.errors import Problem
from app.services.operations.doctor import holds, hosts, objects, schema, server, tables
from app.services.operations.doctor.check import (
    FOUND,
    MENDED,
    OK,
    UNKNOWN,
    WITHIN,
    CannotCheckError,
    CannotMendError,
    Check,
    Diagnosis,
    Instruments,
)
from app.services.operations.shown_rows import ShownRow
from app.store.core.database_errors import code_of
from app.store.operations import audit_log

#: The schema first: without it the others cannot be run, and with --fix it is there for them.
CHECKS: tuple[Check, ...] = (
    *schema.CHECKS,
    *holds.CHECKS,
    *hosts.CHECKS,
    *server.CHECKS,
    *tables.CHECKS,
    *objects.CHECKS,
)

_CANCELLED, _FORBIDDEN = "57014", "42501"
#: Undefined table, column, function and schema.
_UNMIGRATED = ("42P01", "42703", "42883", "3F000")


def examine(instruments: Instruments, *, fix: bool = False, checks: Sequence[Check] = CHECKS) -> list[Diagnosis]:
    """Run the checks; with fix, mend what they find, and write each act into the audit log.

    Raises: DBAPIError if the database does not answer.
    """
    found = list[Diagnosis]()
    for check in checks:
        looked = _look(instruments, check)
        found.append(_mended(instruments, check, looked) if fix else looked)
    return found


def _look(instruments: Instruments, check: Check) -> Diagnosis:
    began = time.monotonic()
    rows, why = list[ShownRow](), None
    try:
        rows = _confirmed(instruments, check)
    except CannotCheckError as error:
        why = str(error)
    except DBAPIError as error:
        if code_of(error) is None:  # the connection is lost
            raise
        why = _said(error)
    status = UNKNOWN if why else FOUND if rows else OK
    seconds = round(time.monotonic() - began, 3)
    by_hand = check.by_hand if rows else None
    return Diagnosis(check.name, status, check.looks_at, check.means, seconds, rows, why, None, by_hand)


def _confirmed(instruments: Instruments, check: Check) -> list[ShownRow]:
    """The rows of a look; of what may be under way, those that are there at a second look."""
    first = list(check.look(instruments))
    if not first or not check.same:
        return first
    time.sleep(instruments.pause)
    before = {_key(check, row) for row in first}
    return [row for row in check.look(instruments) if _key(check, row) in before]


def _key(check: Check, row: ShownRow) -> tuple[object, ...]:
    return tuple(row[column] for column in check.same)


def _mended(instruments: Instruments, check: Check, found: Diagnosis) -> Diagnosis:
    """Mend what was found, and look again."""
    if found.status != FOUND or check.mend is None:
        return found
    try:
        did = check.mend(instruments, found.rows)
        _write(instruments, check, found, did)
    except (CannotMendError, Problem) as error:
        return replace(found, mended=f"nothing: {error}")
    except DBAPIError as error:
        if code_of(error) is None:
            raise
        return replace(found, mended=f"not all: {_said(error)}")
    left = _look(instruments, check)
    status = MENDED if left.status == OK else FOUND
    return replace(found, status=status, mended=did, by_hand=left.by_hand if status == FOUND else None)


def _write(instruments: Instruments, check: Check, found: Diagnosis, did: str) -> None:
    with instruments.uow.begin() as tx:
        audit_log.add(tx, instruments.actor, "doctor.fix", check.name, found=len(found.rows), did=did)


def _said(error: DBAPIError) -> str:
    """Say in a sentence why the database refused; it contains no values."""
    code = code_of(error)
    if code == _CANCELLED:
        return f"it took longer than {WITHIN.total_seconds():.0f} seconds"
    if code in _UNMIGRATED:
        return "the schema lacks what this release needs"
    line = next(iter(str(error.orig).strip().splitlines()), "")
    return f"{line}: set DATABASE_OWNER_URL" if code == _FORBIDDEN else line
