"""The inventory of one commit, step by step: list, configure, choose, read, resolve, count."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from testlist.garbage_collection import rare_collections
from testlist.git.repository import Repository
from testlist.interface import Framework, Scope
from testlist.isolation import RULES_FAILED, attempt, claimed, listed, needed
from testlist.languages import LANGUAGES, OWNERS, SYNTAXES, frameworks_of, language_of, needs_of
from testlist.languages.unread import unread_language_of
from testlist.loader import Loader
from testlist.model import ORDER, Facts, FactsCache, FactsKey, FileInventory, Inventory, Test
from testlist.progress import Checkpoint, silent
from testlist.project import Project, folder_of
from testlist.sandbox.parsers import ParseLimits, Parsers
from testlist.vendored import copies, is_copied
from testlist.version import PARSER_VERSION

#: times that files may lead to further files; a class hierarchy seldom spans more
ROUNDS: Final = 6
#: directories that hold other people's code, or what a build leaves
FOREIGN: Final = frozenset(
    {"node_modules", ".git", "vendor", "dist", ".next", "__pycache__", ".cache", ".venv", "venv",
     "site-packages", "third_party", "third-party", "thirdparty", "3rdparty"}
)  # fmt: skip

#: frameworks with their scopes
Wanting = Sequence[tuple[Framework, Scope]]
#: language -> the frameworks that have files in it
Speaking = Mapping[str, Wanting]


def inventory(
    repo: Repository,
    *,
    cache: FactsCache | None = None,
    checkpoint: Checkpoint = silent,
    limits: ParseLimits | None = None,
    frameworks: Sequence[Framework] | None = None,
) -> Inventory:
    """List every test of a commit.  A file that cannot be read is listed with the reason, and harms no other.

    Raises: InventoryError for the repository as a whole; whatever the checkpoint raises.
    """
    if checkpoint is not silent:  # otherwise the one the repository was fetched with stays
        repo.progress.checkpoint, repo.progress.due = checkpoint, 0.0
    with rare_collections(), Parsers(limits or ParseLimits(), repo.progress) as parsers:
        return _Run(repo, Loader(repo, parsers, cache, repo.progress), frameworks).inventory()


@dataclass(slots=True)
class _Run:
    """One run over one commit."""

    repo: Repository
    loader: Loader
    frameworks: Sequence[Framework] | None  # None: those of its languages
    blobs: dict[str, str] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)  # of those files that have one
    spoken: Sequence[Framework] = ()  # frameworks with files in their languages
    facts: dict[str, Facts] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)  # files by language, where no framework here has one

    def inventory(self) -> Inventory:
        self.survey()
        spoken = set(self.languages.values())
        self.loader.parsers.warm(needs_of(spoken))  # while frameworks are imported here
        frameworks = frameworks_of(spoken) if self.frameworks is None else self.frameworks
        self.spoken = [framework for framework in frameworks if not spoken.isdisjoint(framework.languages)]
        formats = self.configs()
        project = Project(self.blobs, self.configured(formats), beat=self.repo.progress.beat)
        scopes = list(self.scopes(project))
        candidates = dict(self.candidates(by_language(scopes)))
        self.facts = self.read({path: self.languages[path] for path in candidates}, counted=True)
        self.follow([scope for _, scope in scopes])
        tests = self.tests(scopes, candidates)
        files = sorted({test.file for test in tests} | candidates.keys())
        return Inventory(self.repo.commit, tuple(self.files(files, tests)), PARSER_VERSION, dict(self.unread))

    def survey(self) -> None:
        """Note every file that may count."""
        foreign: dict[str, frozenset[str]] = {}
        with closing(self.repo.entries()) as entries:
            for entry in entries:
                folder = folder_of(entry.path)
                if folder not in foreign:
                    foreign[folder] = FOREIGN.intersection(folder.split("/"))
                language = language_of(entry.path)
                if foreign[folder] <= own_folders(language):
                    self.blobs[entry.path] = entry.blob_id
                    if language:
                        self.languages[entry.path] = language
                    elif unread := unread_language_of(entry.path):
                        self.unread[unread] += 1
        self.leave_out_copies()

    def leave_out_copies(self) -> None:
        """Forget files of test libraries that came with their own tests."""
        folders = copies(self.blobs)
        for path in [path for path in self.blobs if is_copied(path, folders)] if folders else ():
            del self.blobs[path]
            self.languages.pop(path, None)

    def scopes(self, project: Project) -> Iterator[tuple[Framework, Scope]]:
        """Frameworks, configured; one that cannot read its configuration is left out."""
        for framework in self.spoken:
            scope = attempt(partial(framework.scope, project), None, framework=framework.name)
            if scope is not None:
                yield framework, scope

    def candidates(self, speaking: Speaking) -> Iterator[tuple[str, Wanting]]:
        """Paths some framework wants to read, with those that do."""
        for path, language in self.languages.items():
            self.repo.progress.beat()
            if wanting := [pair for pair in speaking.get(language, ()) if pair[1].wants(path)]:
                yield path, wanting

    def configs(self) -> dict[str, str]:
        """Path -> format of every configuration file some framework reads that has files here."""
        by_name: dict[str, list[str]] = {}
        for path in self.blobs:
            by_name.setdefault(path.rpartition("/")[2], []).append(path)
        formats: dict[str, str] = {}
        for paths in by_name.values():
            asked = (one.config_language(paths[0]) for one in self.spoken)
            if (language := next(filter(None, asked), None)) is not None:
                formats |= dict.fromkeys(paths, language)
        return formats

    def configured(self, formats: Mapping[str, str]) -> dict[str, Facts]:
        """Configuration files, and those that they are built on, whatever these are called."""
        found = self.read(formats)
        following = [bases for language in LANGUAGES if (bases := language.bases()) is not None]
        for _ in range(ROUNDS):
            led = {
                base
                for path, facts in found.items()
                for bases in following
                for base, _ in bases(path, facts, self.blobs)
            } - found.keys()
            new = {path: form for path in led if (form := self.configures(path)) is not None}
            if not new:
                break
            found |= self.read(new)
        return found

    def configures(self, path: str) -> str | None:
        """The format of a file that others of the same language are built on; None where that cannot be read."""
        language = self.languages.get(path)
        return SYNTAXES[language].configures if language in SYNTAXES else None

    def read(self, languages: Mapping[str, str], *, counted: bool = False) -> dict[str, Facts]:
        """Load files.  languages: path -> language or format; counted: as Loader.load."""
        keys = {path: FactsKey(self.blobs[path], language) for path, language in languages.items()}
        return self.loader.load(keys, counted=counted)

    def follow(self, scopes: Iterable[Scope]) -> None:
        """Read what files lead to, until they lead to nothing new."""
        for _ in range(ROUNDS):
            wanted = set[str]().union(*(needed(scope, self.facts) for scope in scopes)) & self.blobs.keys()
            new = {path: self.languages[path] for path in wanted - self.facts.keys() if path in self.languages}
            if not new:
                return
            self.facts |= self.read(new)

    def tests(self, scopes: Wanting, candidates: Mapping[str, Wanting]) -> list[Test]:
        """Give every candidate to its frameworks and collect their tests."""
        owned: dict[str, list[str]] = {framework.name: [] for framework, _ in scopes}
        for path in sorted(candidates):
            self.repo.progress.beat()
            for name in owners(candidates[path], path, self.facts[path]):
                owned[name].append(path)
        found: list[Test] = []
        failed: set[str] = set()
        for framework, scope in scopes:
            found += listed(scope, owned[framework.name], self.facts, framework.name, failed)
            self.repo.progress.beat()
        self.facts |= {path: {"skipped": RULES_FAILED} for path in failed}
        return sorted(found, key=ORDER)

    def files(self, paths: Iterable[str], tests: Iterable[Test]) -> Iterable[FileInventory]:
        by_file: dict[str, list[Test]] = {}
        for test in tests:
            by_file.setdefault(test.file, []).append(test)
        for path in paths:
            rows = by_file.get(path, [])
            facts = self.facts[path]
            hints = tuple(facts.get("hints", ())) if rows else ()
            yield FileInventory(path, self.blobs[path], majority(rows), tuple(rows), facts.get("skipped"), hints)


def own_folders(language: str | None) -> frozenset[str]:
    """Folders of FOREIGN that are like any other to the tools of a language."""
    return OWNERS[language].own_folders if language in OWNERS else frozenset()


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


def by_language(scopes: Wanting) -> Speaking:
    """Who is to be asked about a file, by its language."""
    found: dict[str, list[tuple[Framework, Scope]]] = {}
    for framework, scope in scopes:
        for language in framework.languages:
            found.setdefault(language, []).append((framework, scope))
    return found
