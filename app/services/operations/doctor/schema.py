"""The schema: its revision, and the indexes that it should have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.services.operations.doctor.check import CannotCheckError, CannotMendError, Check, Instruments
from app.services.operations.readiness import schema_of_database, this_revision
from app.services.operations.shown_rows import ShownRow
from app.store.core import schema
from app.store.operations.faults import indexes, tables, upkeep
from app.store.operations.faults.indexes import ExpectedIndex

MISSING, INVALID, LEFT_OVER = "is missing", "is invalid", "was never finished"
OLDER = "is older than another one"


def _revision(instruments: Instruments) -> list[ShownRow]:
    said, _ = schema_of_database(instruments.uow)
    return [] if said == "ok" else [{"schema": said}]


def _migrate(instruments: Instruments, rows: Sequence[ShownRow]) -> str:  # noqa: ARG001 - the check's one
    _, is_newer = schema_of_database(instruments.uow)
    if is_newer:
        raise CannotMendError("the schema is newer: use the release that it is of, or the one before that")
    return f"migrated to {instruments.migrate()}"


def _indexes(instruments: Instruments) -> list[ShownRow]:
    with instruments.uow.begin() as tx:
        revision = schema.revision(tx.connection)
    if revision != this_revision():
        raise CannotCheckError(f"this release knows the indexes of revision {this_revision()}, not of {revision}")
    there = {str(row["name"]): row for row in instruments.rows(tables.INDEXES)}
    wanted = _wanted(instruments)
    missing = (one for one in wanted.values() if one.name not in there)
    lost = [{"index": one.name, "table": one.table, "fault": MISSING} for one in missing]
    bad = [
        {"index": name, "table": row["table"], "fault": INVALID if name in wanted else LEFT_OVER}
        for name, row in there.items()
        if not row["is_valid"] and not row["is_built"]
    ]
    older = [
        {"index": one.name, "table": one.table, "fault": OLDER}
        for one in wanted.values()
        if one.is_newest and (row := there.get(one.name)) and row["is_valid"] and not row["is_newest"]
    ]
    return [*lost, *bad, *older]


def _wanted(instruments: Instruments) -> Mapping[str, ExpectedIndex]:
    extensions = {str(row["name"]): str(row["schema"]) for row in instruments.rows(tables.EXTENSIONS)}
    placed = (indexes.placed(index, extensions) for index in indexes.expected().values())
    return {index.name: index for index in placed if index}


def _build(instruments: Instruments, rows: Sequence[ShownRow]) -> str:
    wanted, built = _wanted(instruments), list[str]()
    with upkeep.unhurried(instruments.as_owner().engine) as connection:
        for row in rows:
            name = str(row["index"])
            if name in wanted and wanted[name].has_parts:
                raise CannotMendError(f"{name}: its table has parts; build it on each part, then on the table")
            if row["fault"] == MISSING:
                upkeep.create_index(connection, wanted[name])
            elif row["fault"] in (INVALID, OLDER):
                upkeep.reindex(connection, name)
            else:
                upkeep.drop_index(connection, name)
            built.append(name)
    return f"built or removed: {', '.join(built)}"


INDEXES = Check(
    "indexes",
    "the indexes that the migrations make",
    "A statement reads a whole table where it should read an index, or a rule is not enforced.",
    "Run `fairlane doctor --fix` with DATABASE_OWNER_URL. Where rows break the rule of a unique index, remove them"
    " first.",
    _indexes,
    _build,
)
CHECKS = (
    Check(
        "schema",
        "the revision of the schema",
        "This release cannot work with the schema that the database has.",
        "Run `fairlane migrate` of the newest release.",
        _revision,
        _migrate,
    ),
    INDEXES,
)
