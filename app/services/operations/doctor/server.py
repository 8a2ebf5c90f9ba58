"""The database server: whether it accepts writes, the room on its disk, its standbys, and the replica."""

from __future__ import annotations

import shutil

from app.services.operations.doctor.check import CannotCheckError, Check, Instruments
from app.services.operations.readiness import SWITCHED_OFF, WRITES, readiness, replica_fault
from app.services.operations.shown_rows import ShownRow
from app.store.operations.faults import standbys

#: Bytes that should be free in FAIRLANE_HOME, for clones of repositories and the embedded database.
ROOM = 512 * 1024 * 1024
#: Bytes that a standby may be behind: four segments of the log, about a second of a busy server.
BEHIND = 64 * 1024 * 1024


def _disk(instruments: Instruments) -> list[ShownRow]:
    rows = list[ShownRow]()
    if (said := readiness(instruments.uow)[WRITES]) not in ("ok", "not checked", SWITCHED_OFF):
        rows.append({"where": "the database", "writes": said})
    if (folder := instruments.folder).is_dir() and (free := shutil.disk_usage(folder).free) < ROOM:
        rows.append({"where": str(folder), "free_bytes": free})
    return rows


def _standbys(instruments: Instruments) -> list[ShownRow]:
    if instruments.rows(standbys.HIDDEN):
        raise CannotCheckError("the role may not see standbys: GRANT pg_read_all_stats TO it")
    return instruments.rows(standbys.BEHIND, bytes=BEHIND)


def _replica(instruments: Instruments) -> list[ShownRow]:
    fault = replica_fault(instruments.uow)
    return [] if fault is None else [{"replica": "that of DATABASE_READ_URL", "fault": fault}]


CHECKS = (
    Check(
        "disk",
        "whether the database accepts writes, and the room in FAIRLANE_HOME of this host",
        "Submissions and jobs stand still while the disk is full, the database read-only, or a needed standby away.",
        "Make room on the disk, connect to the server that accepts writes, or bring the synchronous standby back"
        " (or reset `synchronous_standby_names`). Jobs continue by themselves.",
        _disk,
    ),
    Check(
        "replication lag",
        "standbys and replication slots that are more than 64 MB behind",
        "What the standby has not received is lost if it takes over; a slot without a standby fills the disk.",
        "Look at the standby's log and network; drop the slot of a standby that does not come back"
        " (`SELECT pg_drop_replication_slot('NAME')`).",
        _standbys,
        same=("standby",),
    ),
    Check(
        "replica",
        "whether DATABASE_READ_URL, if it is set, leads to a standby that has what the primary has",
        "Reads go to the primary instead: answers are right, and the primary has all of the load.",
        "If the replica is behind, look at its log, its network and its long statements. If it is no standby, or one of"
        " another server, make it anew, or correct DATABASE_READ_URL.",
        _replica,
        same=("replica",),
    ),
)
