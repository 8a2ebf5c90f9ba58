"""Load the tests of an analysis in the form that generators of specifications use."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from app.domain.lifecycle import Failure, JobFailedError
from app.domain.specification import Shelf, Subject
from app.services.policy import Policy
from app.store.analyses import analyses, codebases
from app.store.core.unit_of_work import UnitOfWork
from app.store.results import results
from app.store.results.results import TestFilter, TestRow

#: How many tests one page has: about a megabyte.
AT_ONCE = 2_000
GONE = Failure("analysis_gone", "The analysis no longer exists; analyse the commit again.")
ALL = TestFilter()


@dataclass(frozen=True, slots=True)
class Tests:
    """The tests of an analysis, from which a specification is written.

    subjects: in the order of files and lines; is_private: whether the repository is.
    """

    codebase_id: UUID
    is_private: bool
    subjects: list[Subject]

    def shelf(self, user_id: UUID, language: str, policy: Policy) -> Shelf:
        """Where the words about these tests are stored."""
        return Shelf(self.codebase_id, user_id if self.is_private else None, policy.generator, language)


def load_tests(uow: UnitOfWork, analysis_id: UUID) -> Tests:
    """All tests of a completed analysis, a page at a time.  Raises: JobFailedError analysis_gone."""
    with uow.begin() as tx:
        record = analyses.find(tx, analysis_id)
        codebase = record and codebases.get(tx, record.codebase_id)
    if record is None or codebase is None or record.status != "completed":
        raise JobFailedError(GONE)
    subjects: list[Subject] = []
    after = (0, 0)
    while True:
        with uow.begin() as tx:
            page = results.page(tx, analysis_id, ALL, after=after, most=AT_ONCE)
        subjects += [_subject(row) for row in page]
        if len(page) < AT_ONCE:
            break
        after = (page[-1].ordinal, page[-1].position)
    if len(subjects) < (record.total_tests or 0):  # it was pruned during the read
        raise JobFailedError(GONE)
    return Tests(record.codebase_id, codebase.is_private, subjects)


def _subject(row: TestRow) -> Subject:
    test = row.test
    return Subject(
        row.path, test["framework"], tuple(test["suites"]), test["name"], test["line"], test["status"],
        test.get("kind", "test"),
    )  # fmt: skip
