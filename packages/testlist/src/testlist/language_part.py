"""One language of a commit: choose the files its frameworks want, read them, follow what they lead to, list tests.

What an earlier commit has of a language is taken over as far as nothing concerns it that has changed.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from testlist.concerned import Concerned
from testlist.earlier import EarlierFiles
from testlist.interface import Framework, Scope
from testlist.isolation import RULES_FAILED, attempt, claimed, listed, needed
from testlist.language import Dependence, Language
from testlist.loader import Loader
from testlist.model import ORDER, Facts, FactsKey, FileInventory, ReadFiles, Test
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

    languages: of every file of the commit; earlier: what may be taken over, None for nothing; candidates: files that
    some framework wants to read, by their paths alone; links: see ReadFiles; failed: those whose rules raise.
    """

    record: Language
    project: Project
    loader: Loader
    languages: Mapping[str, str]
    scopes: Wanting
    earlier: EarlierFiles | None = None
    candidates: Collection[str] = ()
    links: Mapping[str, set[str]] | None = None
    failed: set[str] = field(default_factory=set)
    speaking: dict[str, list[tuple[Framework, Scope]]] = field(default_factory=dict)  # by language

    def __post_init__(self) -> None:
        """See `choose`."""
        self.choose()

    def choose(self) -> None:
        """Choose the candidates: the same as in an earlier commit with the same paths and configuration."""
        self.speaking = {}
        for framework, scope in self.scopes:
            for language in framework.languages:
                self.speaking.setdefault(language, []).append((framework, scope))
        if self.earlier is not None:
            self.candidates = self.earlier.read.candidates
        else:
            self.candidates = [path for path in self.languages if self.wanting(path)]

    @property
    def keys(self) -> Iterator[FactsKey]:
        """What is read of its candidates."""
        return (FactsKey(self.project.blobs[path], self.languages[path]) for path in self.candidates)

    @property
    def facts(self) -> dict[str, Facts]:
        """Facts of the files that have been read."""
        return self.project.facts

    @property
    def was_read(self) -> ReadFiles:
        """What was read for it."""
        links = None if self.links is None else {path: sorted(one) for path, one in self.links.items() if one}
        return ReadFiles(sorted(self.candidates), sorted(self.facts.keys() - self.candidates), links)

    def wanting(self, path: str) -> Wanting:
        """The frameworks that want to read a file."""
        speaking = self.speaking.get(self.languages[path], ())
        if speaking:
            self.loader.progress.beat()
        return [pair for pair in speaking if pair[1].wants(path)]

    def files(self) -> Iterator[FileInventory]:
        """Every candidate, and every other file in which a test stands."""
        changed = self.concerned()
        self.loader.forget_words()
        tests = self.tests(self.candidates if changed is None else changed & set(self.candidates))
        if changed is not None and not self.fits(tests, changed):
            self.begin_again()
            changed, tests = self.concerned(), self.tests(self.candidates)
        yield from self.resolved(tests, changed)

    def fits(self, tests: Sequence[Test], changed: AbstractSet[str]) -> bool:
        """Whether files that nothing concerns have none of these tests but their own: one may get its first."""
        known = {} if self.earlier is None else self.earlier.files
        others: dict[str, set[Test]] = {}
        for test in tests:
            if test.file not in changed:
                others.setdefault(test.file, set()).add(test)
        return all(path in known and found.issubset(known[path].tests) for path, found in others.items())

    def begin_again(self) -> None:
        """Take nothing over.  Scopes are made anew, as they may remember what they were asked."""
        self.project, self.earlier, self.links = self.project.alone(), None, None
        self.scopes = configured((framework for framework, _ in self.scopes), self.project)
        self.choose()

    def resolved(self, tests: Sequence[Test], changed: AbstractSet[str] | None) -> Iterator[FileInventory]:
        """Files with these tests; those that are not among the changed ones as they were."""
        kept = {} if self.earlier is None or changed is None else self.earlier.files
        by_file: dict[str, list[Test]] = {}
        for test in tests:
            by_file.setdefault(test.file, []).append(test)
        again = by_file.keys() | self.candidates
        for path in sorted(again | kept.keys()):
            if path in kept and path not in (changed or ()):
                yield kept[path]
            elif path in again:
                rows = by_file.get(path, [])
                facts = {"skipped": RULES_FAILED} if path in self.failed else self.facts[path]
                hints = tuple(facts.get("hints", ())) if rows else ()
                blob_id = self.project.blobs[path]
                yield FileInventory(path, blob_id, majority(rows), tuple(rows), facts.get("skipped"), hints)

    def concerned(self) -> set[str] | None:
        """Read, and say which files have to be resolved, or are not read any more; None for all."""
        dependence = None if self.earlier is None else self.record.dependence()
        if self.earlier is None or dependence is None:
            self.read_all()
            return None
        concerned = Concerned(dependence, self.project, self.earlier)
        name = self.record.name
        if not attempt(partial(self._leads_as_before, self.earlier, dependence), False, framework=name):
            self.facts.clear()
            self.read_all()
        found = attempt(partial(concerned.paths, self.known), None, framework=name)
        self.links = concerned.links
        return found

    def _leads_as_before(self, earlier: EarlierFiles, dependence: Dependence) -> bool:
        """Read what was read, and see whether it leads to the same as it did."""
        blobs = {path: blob_id for path, blob_id in earlier.was.items() if self.project.blobs[path] != blob_id}
        old = self.known(blobs)
        if old.keys() != blobs.keys():
            return False
        self.read(earlier.was)
        return all(dependence.leads(one) == dependence.leads(self.facts[path]) for path, one in old.items())

    def read_all(self) -> None:
        """Read the candidates, and what they lead to."""
        self.read(self.candidates)
        self.follow()

    def known(self, blobs: Mapping[str, str]) -> dict[str, Facts]:
        """Facts of earlier files by their paths, where the cache has them."""
        return self.loader.known_of(blobs, {path: self.languages[path] for path in blobs})

    def read(self, paths: Iterable[str]) -> None:
        """Load files."""
        self.facts.update(self.loader.read(self.project.blobs, {path: self.languages[path] for path in paths}))

    def follow(self) -> None:
        """Read what files lead to, until they lead to nothing new."""
        for _ in range(ROUNDS):
            wanted = set[str]().union(*(needed(scope, self.facts) for _, scope in self.scopes))
            new = sorted(path for path in (wanted & self.project.paths) - self.facts.keys() if path in self.languages)
            if not new:
                return
            self.read(new)

    def tests(self, paths: Iterable[str]) -> list[Test]:
        """Give candidates to their frameworks and collect their tests."""
        owned: dict[str, list[str]] = {framework.name: [] for framework, _ in self.scopes}
        for path in sorted(paths):
            for name in owners(self.wanting(path), path, self.facts[path]):
                owned[name].append(path)
        found: list[Test] = []
        self.failed = set()
        for framework, scope in self.scopes:
            found += listed(scope, owned[framework.name], self.facts, framework.name, self.failed)
            self.loader.progress.beat()
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
