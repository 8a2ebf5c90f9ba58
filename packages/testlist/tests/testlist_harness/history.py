"""Commits of a throw-away repository, each taken with what the one before left, and once more alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from testlist import Facts, FactsKey, Inventory, Source, Test, fetched, inventory, resolve
from testlist.language_part import LanguagePart

from testlist_harness.repositories import MakeRepository, commit

#: path -> its new text; None: it is removed
Files = Mapping[str, str | None]


@dataclass
class Memory:
    """A cache of facts.  stored: keys since the last look."""

    facts: dict[FactsKey, Facts] = field(default_factory=dict)

    def load(self, keys: Sequence[FactsKey]) -> dict[FactsKey, Facts]:
        return {key: self.facts[key] for key in keys if key in self.facts}

    def store(self, facts: Mapping[FactsKey, Facts]) -> None:
        self.facts |= facts


@dataclass
class History:
    """Commits of one repository, each taken with the one before and alone.

    checks: and what their tests check; resolved: paths of the last one.
    """

    directory: Path
    work: Path
    cache: Memory = field(default_factory=Memory)
    checks: bool = False
    last: Inventory | None = None
    resolved: set[str] = field(default_factory=set)

    def then(self, files: Files) -> Inventory:
        """The next commit.  files: new texts; None: it is removed."""
        for path, text in files.items():
            target = self.directory / path
            if text is None:
                target.unlink()
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)
        commit(self.directory)
        whole = self.take(Memory(), None)
        self.resolved.clear()
        found = self.take(self.cache, self.last)
        assert found.files == whole.files
        assert plain(found) == plain(whole)
        self.last = found
        return found

    def take(self, cache: Memory, earlier: Inventory | None) -> Inventory:
        source = Source.local(self.directory)
        ref, _ = resolve(source, None)
        with fetched(source, ref, workdir=self.work) as repository:
            return inventory(repository, cache=cache, earlier=earlier, checks=self.checks)


def plain(found: Inventory) -> Inventory:
    """Without the links and the unchanged files, which only a run after another has."""
    found = found._replace(unchanged=frozenset())
    if found.basis is None:
        return found
    read = {name: one._replace(links=None) for name, one in found.basis.read.items()}
    return found._replace(basis=found.basis._replace(read=read))


@pytest.fixture
def history(make_repository: MakeRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> History:
    """An empty repository, and what is resolved for each commit."""
    made = History(make_repository({"README": ""}), tmp_path / "work")
    tests = LanguagePart.tests

    def watched(part: LanguagePart, paths: Iterable[str]) -> list[Test]:
        made.resolved |= set(paths)
        return tests(part, paths)

    monkeypatch.setattr(LanguagePart, "tests", watched)
    return made
