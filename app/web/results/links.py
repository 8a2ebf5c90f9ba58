"""Where a test is shown: its line at the Git host, and its page here, which holds for every commit."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from app.domain.inventories import Test
from app.domain.jobs import Job

_LINES = {
    "github.com": "https://github.com/{repository}/blob/{commit}/{path}#L{line}",
    "gitlab.com": "https://gitlab.com/{repository}/-/blob/{commit}/{path}#L{line}",
    "bitbucket.org": "https://bitbucket.org/{repository}/src/{commit}/{path}#lines-{line}",
    "codeberg.org": "https://codeberg.org/{repository}/src/commit/{commit}/{path}#L{line}",
}


def line_link(host: str, repository: str, commit: str, path: str, line: int) -> str | None:
    """The address of a line, in ASCII only; None for an unknown host.  repository: OWNER/NAME."""
    form = _LINES.get(host)
    if form is None:
        return None
    # a path in Git need not be text; the link of such a path is broken, but must not break the page
    return form.format(
        repository=quote(repository, errors="replace"), commit=commit, path=quote(path, errors="replace"), line=line
    )


#: Servers and browsers refuse much longer ones.
LONGEST = 4000


def test_link(job: Job, file: str, test: Test) -> str | None:
    """The page of a test in a result; None if its names are too long for an address."""
    known_by = [("file", file), *(("suite", suite) for suite in test["suites"]), ("name", test["name"])]
    # a path in Git need not be text
    path = f"/analyses/{job.id}/test?{urlencode(known_by, errors='replace')}"
    return path if len(path) <= LONGEST else None
