"""Read one test of a result, and its history in the repository."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.histories_of_tests import Sighting, TestPeriod, periods
from app.domain.inventories import Checked, Test
from app.errors import NotFound
from app.services.jobs.visibility import check_completed
from app.services.results import other_commits
from app.store.accounts.users import Account
from app.store.analyses.analyses import AnalysisRow
from app.store.analyses.other_results import OtherCommitRow
from app.store.core.reading import read_completed
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.results import checks as checks_of_tests
from app.store.results import histories_of_tests
from app.store.results.checks import ChecksRow
from app.store.results.histories_of_tests import TestHistoryRow

MOST = 50  # commits of a history
_Found = tuple[list[AnalysisRow | OtherCommitRow], dict[UUID, TestHistoryRow], list[ChecksRow]]


@dataclass(frozen=True, slots=True)
class TestPlace:
    """The identity of a test from commit to commit."""

    __test__ = False

    file: str
    suites: Sequence[str]
    name: str


@dataclass(frozen=True, slots=True)
class TestHistory:
    """A test with what is known of it in other commits.

    tests: of this result, by line, at least one; checks: what each of them checks, None where it is not known; commits:
    oldest first, this result's among them; periods: of the same commits, newest first; is_cut: MOST commits were read,
    so there may be older ones.
    """

    __test__ = False

    tests: Sequence[Test]
    checks: Sequence[Checked | None]
    commits: Sequence[Sighting]
    periods: Sequence[TestPeriod]
    is_cut: bool


def read_test_history(
    uow: UnitOfWork, job_id: UUID, viewer: Account | None, place: TestPlace, *, now: datetime
) -> TestHistory:
    """The test in this result, and in the newest ones of other commits that the viewer may see, up to MOST in all.

    Raises: NotFound if the result is not visible or has no such test, Conflict while the analysis has not completed.
    """

    def check(tx: Tx) -> list[AnalysisRow | OtherCommitRow]:
        record = check_completed(tx, job_id, viewer, now=now)
        return [record, *other_commits.rows(tx, record, viewer, most=MOST - 1)]

    def fetch(tx: Tx, every: list[AnalysisRow | OtherCommitRow]) -> _Found:
        rows = histories_of_tests.find(tx, [row.id for row in every], place.file, place.suites, place.name)
        checks = checks_of_tests.of_file(tx, job_id, place.file, suites=place.suites, name=place.name)
        return every, {row.analysis_id: row for row in rows}, checks

    every, found, checks = read_completed(uow, check, lambda every: [row.id for row in every], fetch)
    if job_id not in found or not found[job_id].tests:
        raise NotFound("This result has no such test")
    every.sort(key=lambda row: (row.ordered_at, row.completed_at))
    commits = [_sighting(row, found.get(row.id)) for row in every]
    tests = found[job_id].tests or []
    known = [row.checks for row in checks] or [None] * len(tests)
    return TestHistory(tests, known, commits, periods(commits), is_cut=len(commits) == MOST)


def _sighting(row: AnalysisRow | OtherCommitRow, found: TestHistoryRow | None) -> Sighting:
    tests, skipped = (found.tests or [], found.skipped) if found else ([], None)
    return Sighting(row.id, row.commit_sha, getattr(row, "ref", None), row.ordered_at, tests, skipped)
