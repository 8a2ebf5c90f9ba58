"""A framework whose own rules raise harms neither the run nor the other frameworks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from testlist.interface import Claim, Signal
from testlist.isolation import RULES_FAILED
from testlist.languages import all_frameworks
from testlist.model import Facts, FactsByPath, Test
from testlist.progress import Stopped
from testlist.project import Project
from testlist_harness.repositories import MakeRepository, TakeInventory

FILES = {"a.rb": "x = 1\n", "bad.rb": "x = 2\n", "test_good.py": "def test_good():\n    pass\n"}


@dataclass(frozen=True)
class Faulty:
    """Owns Ruby files; raises where it is told to, and of the files at `bad.rb` only."""

    where: str
    raises: type[Exception] = RecursionError
    name: str = "faulty"
    shared: bool = True
    languages: frozenset[str] = frozenset({"ruby"})

    def config_language(self, path: str) -> str | None:
        return None

    def scope(self, project: Project) -> Any:
        if self.where == "scope":
            raise self.raises
        return self

    def wants(self, path: str) -> bool:
        return path.endswith(".rb")

    def needs(self, facts: FactsByPath) -> set[str]:
        if self.where == "needs" and facts:
            raise self.raises
        return set()

    def claim(self, path: str, facts: Facts) -> Claim | None:
        if self.where == "claim" and path == "bad.rb":
            raise self.raises
        return Claim(Signal.NAME)

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterator[Test]:
        for path in owned:
            if self.where == "tests" and path == "bad.rb":
                raise self.raises
            yield Test(path, self.name, (), path, 1)


@pytest.mark.parametrize(
    ("where", "rows", "skipped"),
    [
        ("nowhere", ["a.rb", "bad.rb"], []),
        ("tests", ["a.rb"], ["bad.rb"]),
        ("claim", ["a.rb"], []),
        ("needs", ["a.rb", "bad.rb"], []),
        ("scope", [], []),
    ],
)
def test_rules_that_raise_cost_the_rows_of_that_file_and_are_told(
    make_repository: MakeRepository, take: TakeInventory, where: str, rows: list[str], skipped: list[str]
) -> None:
    found = take(make_repository(FILES), frameworks=(*all_frameworks(), Faulty(where)))
    assert [test.name for test in found.tests] == [*rows, "test_good"]
    assert [file.path for file in found.files if file.skipped == RULES_FAILED] == skipped


@pytest.mark.parametrize("where", ["scope", "needs", "claim", "tests"])
def test_what_stops_a_run_is_no_fault_of_the_rules(
    make_repository: MakeRepository, take: TakeInventory, where: str
) -> None:
    """It went on file by file, so that a job that was cancelled or had no time left was not over."""

    class TimeOver(Stopped):
        pass

    with pytest.raises(TimeOver):
        take(make_repository(FILES), frameworks=(*all_frameworks(), Faulty(where, TimeOver)))
