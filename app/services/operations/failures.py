"""The failures of a window, grouped by fingerprint."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.queues import Service
from app.store.core.reading import read_current
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import failures
from app.store.operations.failures import FailureRow

#: What a message may name of one job: quoted names, addresses, paths, ids and numbers.  The order matters.
_NAMED = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^']*'|\S*(?:://|@|/)\S*")
_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)[0-9a-f]{7,64}\b")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
#: How much of a message distinguishes failures, in characters.
MOST = 200


@dataclass(frozen=True, slots=True, order=True)
class Fingerprint:
    """The common part of failures that are alike.

    service: of the job; code: of the error; message: with `…` for names and `N` for numbers, so it names nobody.
    """

    service: str
    code: str
    message: str


def fingerprint(service: str, code: str, message: str | None) -> Fingerprint:
    """The fingerprint of one failure."""
    text = _NAMED.sub("…", (message or "")[:1000])
    text = _NUMBER.sub("N", _ID.sub("…", text))
    return Fingerprint(service, code, " ".join(text.split())[:MOST])


#: How many failed jobs are read, the newest first, and how many of each group are named.
MOST_JOBS = 10_000
MOST_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Group:
    """Failed jobs with one fingerprint.  users, repositories: how many; examples: ids of its newest jobs."""

    service: Service
    code: str
    message: str
    jobs: int
    first_at: datetime
    last_at: datetime
    users: int
    repositories: int
    examples: Sequence[UUID]


@dataclass(frozen=True, slots=True)
class Failures:
    """The window that was read.  jobs: in all groups; is_cut: older failures of the window were not read."""

    since: datetime
    until: datetime
    jobs: int
    is_cut: bool
    items: Sequence[Group]


def read_failures(uow: UnitOfWork, *, since: datetime, until: datetime, most: int = MOST_JOBS) -> Failures:
    """Groups with the most jobs first.  If there are more than `most` jobs, `since` is when the oldest one failed."""
    rows = read_current(uow, lambda tx: failures.find(tx, since=since, most=most + 1), once=True)
    is_cut, rows = len(rows) > most, rows[:most]
    alike: dict[Fingerprint, list[FailureRow]] = defaultdict(list)
    for row in rows:
        alike[fingerprint(row.service, row.code, row.message)].append(row)
    groups = sorted((_group(mark, jobs) for mark, jobs in alike.items()), key=lambda group: -group.jobs)
    return Failures(rows[-1].failed_at if is_cut else since, until, len(rows), is_cut, groups)


def _group(mark: Fingerprint, jobs: Sequence[FailureRow]) -> Group:
    return Group(
        Service(mark.service),
        mark.code,
        mark.message,
        jobs=len(jobs),
        first_at=jobs[-1].failed_at,
        last_at=jobs[0].failed_at,
        users=len({row.user_id for row in jobs if row.user_id}),
        repositories=len({row.codebase_id for row in jobs if row.codebase_id}),
        examples=[row.job_id for row in jobs[:MOST_EXAMPLES]],
    )
