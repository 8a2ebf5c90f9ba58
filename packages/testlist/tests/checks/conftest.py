"""Reading what the tests of a few files check."""

from pathlib import Path

import pytest
from testlist.kit.bodies import RELATIONS
from testlist.model import Checks
from testlist_harness.checks import Read
from testlist_harness.repositories import MakeRepository, TakeInventory


@pytest.fixture
def read(tmp_path: Path, make_repository: MakeRepository, take: TakeInventory) -> Read:
    """What the tests of some files check, by their names.  files: path -> text."""

    def run(files: dict[str, str]) -> dict[str, Checks | None]:
        number = len(list(tmp_path.glob("repo*")))
        found = take(make_repository(files, f"repo{number}"), checks=True)
        pairs = [pair for file in found.files for pair in zip(file.tests, file.checks, strict=True)]
        assert {check["relation"] for _, one in pairs if one for check in one.checks} <= set(RELATIONS)
        return {test.name: one for test, one in pairs}

    return run
