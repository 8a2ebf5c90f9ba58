"""One language of a commit: choose the files its frameworks want, read them, follow what they lead to, list tests."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from testlist.interface import Framework, Scope
from testlist.isolation import RULES_FAILED, attempt, claimed, listed, needed
from testlist.loader import Loader
from testlist.model import ORDER, Facts, FactsKey, FileInventory, Test
from testlist.project import Project

#: times that files may lead to further files; a class hierarchy seldom spans more
ROUNDS: Final = 6

#: frameworks with their scopes
Wanting = Sequence[tuple[Framework, Scope]]


def configured(frameworks: Iterable[Framework], project: Project) -> Wanting:
    """Frameworks with what they read of the configuration; one that cannot read it is left out."""
    found = ((one, attempt(partial(one.scope, project), None, framework=one.name)) for one in frameworks)
    return [(framework, scope) for framework, scope in found if scope is not None]


@dataclass(slots=True)
class LanguagePart:
    """The files of one language, and those of its frameworks.

    blobs, languages: of every file of the commit; candidates: path -> the frameworks that want to read it.
    """

    loader: Loader
    blobs: Mapping[str, str]
    languages: Mapping[str, str]
    scopes: Wanting
    candidates: dict[str, Wanting]
    facts: dict[str, Facts] = field(default_factory=dict)

    @classmethod
    def of(
        cls, loader: Loader, blobs: Mapping[str, str], languages: Mapping[str, str], scopes: Wanting
    ) -> "LanguagePart":
        """Its candidates, by their paths alone."""
        candidates: dict[str, Wanting] = {}
        speaking = _by_language(scopes)
        for path, language in languages.items():
            if language in speaking:
                loader.progress.beat()
                if wanting := [pair for pair in speaking[language] if pair[1].wants(path)]:
                    candidates[path] = wanting
        return cls(loader, blobs, languages, scopes, candidates)

    @property
    def keys(self) -> Iterator[FactsKey]:
        """What is read of its candidates."""
        return (FactsKey(self.blobs[path], self.languages[path]) for path in self.candidates)

    def files(self) -> Iterator[FileInventory]:
        """Every candidate, and every other file in which a test stands."""
        self.facts = self.read(self.candidates)
        self.follow()
        by_file: dict[str, list[Test]] = {}
        for test in self.tests():
            by_file.setdefault(test.file, []).append(test)
        for path in sorted(by_file.keys() | self.candidates.keys()):
            rows, facts = by_file.get(path, []), self.facts[path]
            hints = tuple(facts.get("hints", ())) if rows else ()
            yield FileInventory(path, self.blobs[path], majority(rows), tuple(rows), facts.get("skipped"), hints)

    def read(self, paths: Iterable[str]) -> dict[str, Facts]:
        """Load files."""
        return self.loader.read(self.blobs, {path: self.languages[path] for path in paths})

    def follow(self) -> None:
        """Read what files lead to, until they lead to nothing new."""
        for _ in range(ROUNDS):
            wanted = set[str]().union(*(needed(scope, self.facts) for _, scope in self.scopes)) & self.blobs.keys()
            new = [path for path in wanted - self.facts.keys() if path in self.languages]
            if not new:
                return
            self.facts |= self.read(new)

    def tests(self) -> list[Test]:
        """Give every candidate to its frameworks and collect their tests."""
        owned: dict[str, list[str]] = {framework.name: [] for framework, _ in self.scopes}
        for path in sorted(self.candidates):
            self.loader.progress.beat()
            for name in owners(self.candidates[path], path, self.facts[path]):
                owned[name].append(path)
        found: list[Test] = []
        failed: set[str] = set()
        for framework, scope in self.scopes:
            found += listed(scope, owned[framework.name], self.facts, framework.name, failed)
            self.loader.progress.beat()
        self.facts |= {path: {"skipped": RULES_FAILED} for path in failed}
        return sorted(found, key=ORDER)


def owners(wanting: Wanting, path: str, facts: Facts) -> list[str]:
    """Names of the frameworks a candidate belongs to: all shared ones that claim it, and the best of the others."""
    if "skipped" in facts:
        return []
    claims = [
        (claim, framework.name, framework.shared)
        for framework, scope in wanting
        for claim in [claimed(scope, path, facts, framework.name)]
        if claim is not None
    ]
    alone = [(claim, name) for claim, name, shared in claims if not shared]
    best = [max(alone)[1]] if alone else []
    return [name for _, name, shared in claims if shared] + best


def majority(tests: Sequence[Test]) -> str | None:
    """The framework of most tests; the first by name among equals."""
    counts = sorted(Counter(test.framework for test in tests).items())
    return max(counts, key=lambda pair: pair[1])[0] if counts else None


def _by_language(scopes: Wanting) -> dict[str, list[tuple[Framework, Scope]]]:
    """Who is to be asked about a file, by its language."""
    found: dict[str, list[tuple[Framework, Scope]]] = {}
    for framework, scope in scopes:
        for language in framework.languages:
            found.setdefault(language, []).append((framework, scope))
    return found
