"""The addresses of the pages of tests: by what a test is known by, so that they hold for every commit."""

from __future__ import annotations

from urllib.parse import urlencode

from app.domain.inventories import Test
from app.domain.jobs import Job

#: Servers and browsers refuse much longer ones.
LONGEST = 4000


def test_link(job: Job, file: str, test: Test) -> str | None:
    """The page of a test in a result; None if its names are too long for an address."""
    known_by = [("file", file), *(("suite", suite) for suite in test["suites"]), ("name", test["name"])]
    # a path in Git need not be text
    path = f"/analyses/{job.id}/test?{urlencode(known_by, errors='replace')}"
    return path if len(path) <= LONGEST else None
