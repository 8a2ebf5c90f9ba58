"""The two tiers of the suite: what a developer runs before each commit, and the bounded proofs that CI adds.

`make test` leaves out what is marked `proof`; `make test-all` runs both tiers.  What the service promises has a test in
the first tier; the search for its exceptions through many orders, kills, pages or examples may be in the second.  A
`rule` of the repository's own texts is in neither: `make check` holds it, with the linters.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from testlist_harness.tiers import few, proofs

__all__ = ["few", "proofs", "pytest_collection", "pytest_collection_modifyitems", "pytest_ignore_collect"]

#: Folders whose tests wait for processes more than they compute, the longest first.
WAITING = ("e2e", "celery-durable", "embedded", "race")

#: Of the first tier.
WITHOUT_PROOFS = "not proof and not release and not rule"
#: A module whose tests are all of the second tier, of a release, or rules.
WHOLE = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.(proof|release|rule)\b", re.MULTILINE)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Collect without looking for garbage, of which there is none: a million objects stay until the end of the run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a module unread of which no test will run: each process would import it, to deselect all of it."""
    terms = config.option.markexpr.split(" and ")
    if collection_path.suffix != ".py" or not all(term.startswith("not ") for term in terms):
        return None
    whole = WHOLE.search(collection_path.read_text(encoding="utf-8"))
    return (whole is not None and f"not {whole[1]}" in terms) or None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what waits: xdist gives each worker a half, so that one waits while the other computes."""
    items.sort(key=lambda item: _turn(item.path))


def _turn(path: Path) -> int:
    return next((turn for turn, folder in enumerate(WAITING) if folder in path.parts), len(WAITING))
