"""The tests of a result as part of its page.  They never change, so a process renders each page of them once."""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Self

from flask import render_template
from markupsafe import Markup

from app.domain.jobs import Job
from app.services.results.outline import Tally
from app.services.results.read_sheet import PATH, read_sheet
from app.services.results.read_tree import read_tree
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.languages import spoken
from app.web.core.schemas import SheetQuery
from app.web.limits.read_costs import heavy, outlined, reads

SUBTEST = "subtest"


@dataclass(frozen=True, slots=True)
class ResultCounts:
    """Numbers of tests; subtests only where they are named.

    frameworks: framework -> status -> tests; conditional: tests that run only under a condition; checks: by whether
    tests check something.
    """

    statuses: Counter[str] = field(default_factory=Counter)
    frameworks: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    kinds: Counter[str] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)
    conditional: int = 0

    @property
    def subtests(self) -> int:
        """How many subtests there are."""
        return self.kinds[SUBTEST]

    @classmethod
    def of_all(cls, tallies: Iterable[Tally]) -> Self:
        """The numbers of the whole result, for the choices of its filters."""
        return cls._of((row, row.tests) for row in tallies)

    @classmethod
    def matching(cls, tallies: Iterable[Tally]) -> Self:
        """The numbers of what is under the filter, for the charts."""
        return cls._of((row, row.matching) for row in tallies if row.matching)

    @classmethod
    def _of(cls, counted: Iterable[tuple[Tally, int]]) -> Self:
        found, conditional = cls(), 0
        for row, tests in counted:
            found.kinds[row.kind] += tests
            found.checks[row.checks] += tests
            conditional += tests if row.conditional else 0
            if row.kind != SUBTEST:
                found.statuses[row.status] += tests
                found.frameworks[row.framework][row.status] += tests
        return cls(found.statuses, found.frameworks, found.kinds, found.checks, conditional)


def rendered_tests(job: Job, query: SheetQuery) -> Markup:
    """The skipped files, the filters, the charts, and one sheet of tests or one directory of the tree.

    job: a completed one that the viewer may see; nothing here depends on who that is.
    Raises: NotFound, Conflict if it was pruned meanwhile; TooManyRequests, Busy as read_costs.large.
    """
    key = (job.id, tuple((query.narrowed() | query.shown_as()).items()), query.page, spoken())
    kept = reads().sheets.get(key)
    if kept is not None:
        return Markup(zlib.decompress(kept).decode())  # noqa: S704 - it was escaped when it was rendered
    found = _rendered(job, query)
    # 70 kB become 5, in 0.1 ms; to read them again takes less
    reads().sheets.keep(key, zlib.compress(found.encode(), 1))
    return found


def _rendered(job: Job, query: SheetQuery) -> Markup:
    uow, viewer, wanted, now = wired().uow, auth.viewer(), query.filter(), utc_now()
    outline, is_tree = outlined(job.id, viewer, wanted), query.view == "tree"
    number = 1 if is_tree else query.page
    with heavy(job.id) if is_tree or query.sort != PATH else nullcontext():
        sheet = read_sheet(uow, job.id, viewer, wanted, outline, number=number, sort=query.sort, now=now)
        tree = (
            read_tree(uow, job.id, viewer, outline, under=query.under, number=query.page, now=now) if is_tree else None
        )
    page = render_template(
        "results/tests.html",
        job=job,
        sheet=sheet,
        facets=ResultCounts.of_all(sheet.tallies),
        found=ResultCounts.matching(sheet.tallies),
        narrowed=query.narrowed(),
        kept=query.narrowed() | query.shown_as(),
        query=query,
        tree=tree,
    )
    return Markup(page)  # noqa: S704 - it was escaped when it was rendered
