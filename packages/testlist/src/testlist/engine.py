"""The inventory of one commit, step by step: list, configure, choose, read, resolve, count."""

import gc
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from testlist.aside import LARGE, Aside
from testlist.below import Below
from testlist.checks import read_checks
from testlist.earlier import Earlier, basis_of
from testlist.garbage_collection import rare_collections
from testlist.git.repository import Repository
from testlist.interface import Framework
from testlist.isolation import RULES_FAILED
from testlist.language_part import ROUNDS, LanguagePart, configured
from testlist.languages import LANGUAGES, OWNERS, SYNTAXES, frameworks_of, language_of, needs_of
from testlist.languages.unread import unread_language_of
from testlist.loader import Loader, Words
from testlist.model import Basis, Facts, FactsCache, FileInventory, Folder, Inventory, ReadFiles, Test
from testlist.progress import Checkpoint, silent
from testlist.project import Project, folder_of
from testlist.sandbox.parsers import ParseLimits, Parsers
from testlist.vendored import copies, is_copied
from testlist.version import PARSER_VERSION

#: directories that hold other people's code, or what a build leaves
FOREIGN: Final = frozenset(
    {"node_modules", ".git", "vendor", "dist", ".next", "__pycache__", ".cache", ".venv", "venv",
     "site-packages", "third_party", "third-party", "thirdparty", "3rdparty"}
)  # fmt: skip
#: files with their rows that are set aside together
TOGETHER: Final = 500
NONE: Final = frozenset[str]()  # an empty intersection is a new set each time


def inventory(
    repo: Repository,
    *,
    cache: FactsCache | None = None,
    checkpoint: Checkpoint = silent,
    limits: ParseLimits | None = None,
    frameworks: Sequence[Framework] | None = None,
    checks: bool = False,
    most_checked: int | None = None,
    earlier: Inventory | None = None,
) -> Inventory:
    """List every test of a commit.  A file that cannot be read is listed with the reason, and harms no other.

    checks: also say what each test checks, for which the bodies of functions are read; most_checked: not of a commit
    with more tests than this.  earlier: an inventory of another commit of this repository: what no change concerns is
    taken over.  It helps most where the cache has the facts of changed files as they were.
    Raises: InventoryError for the repository as a whole; whatever the checkpoint raises, which is a `Stopped`: anything
    else may be taken for a fault of a framework's rules.
    """
    if checkpoint is not silent:  # otherwise the one the repository was fetched with stays
        repo.progress.checkpoint, repo.progress.due = checkpoint, 0.0
    with rare_collections(), Parsers(limits or ParseLimits(), repo.progress) as parsers:
        most = 0 if not checks else most_checked
        loader = Loader(repo, parsers, cache, repo.progress)
        return _Run(repo, loader, frameworks, most, None if frameworks is not None else earlier).inventory()


@dataclass(slots=True)
class _Run:
    """One run over one commit."""

    repo: Repository
    loader: Loader
    frameworks: Sequence[Framework] | None  # None: those of its languages
    most_checked: int | None = 0  # tests whose bodies are read, if there are no more; None: however many there are
    earlier: Inventory | None = None
    listed: dict[str, str] = field(default_factory=dict)  # path -> blob id of every file that may count
    blobs: dict[str, str] = field(default_factory=dict)  # the same without copies of test libraries
    folders: Aside[dict[str, Folder]] = field(default_factory=lambda: Aside({}, packs=False))
    foreign: dict[str, frozenset[str]] = field(default_factory=dict)  # folders of FOREIGN in the name of each
    languages: dict[str, str] = field(default_factory=dict)  # of those files that have one
    spoken: Sequence[Framework] = ()  # frameworks with files in their languages
    unread: Counter[str] = field(default_factory=Counter)  # files that look like tests, by language
    formats: dict[str, str] = field(default_factory=dict)  # of configuration files, by path
    read: dict[str, ReadFiles] = field(default_factory=dict)  # by name of language, once that has its rows

    def inventory(self) -> Inventory:
        self.survey(basis_of(self.earlier))
        before = Earlier.of(self.earlier, self.listed, self.loader)
        kept = {} if before is None else before.kept(self.blobs)
        self.read = {name: one.read for name, one in kept.items()}
        self.formats = {} if before is None else dict(before.basis.configs)
        files = [file for one in kept.values() for file in one.files.values()]
        changed = {language for language in self.languages.values() if OWNERS[language].name not in kept}
        if changed or before is None:
            needs = needs_of(changed, checks=self.most_checked != 0)  # all at once, so that one child reads both
            self.loader.parsers.warm(needs)  # while frameworks are imported here
            files += self.files(list(self.parts(self.project(before), before)))
        files.sort()
        checks = self.most_checked is None or sum(len(file.tests) for file in files) <= self.most_checked
        known = {} if before is None else before.unchanged(files, self.blobs, checks=checks)
        uses = self.check(files, before, known) if checks else None
        is_ruled = not any(file.skipped == RULES_FAILED for file in files)
        may_help = is_ruled and self.loader.is_same_again and self.frameworks is None
        basis = self.basis(uses, checked=checks) if may_help else None
        is_final = is_ruled and self.loader.is_final and (before is None or before.is_final)
        return Inventory(
            self.repo.commit, tuple(files), PARSER_VERSION, dict(self.unread), is_final, basis, frozenset(known)
        )

    def check(
        self, files: list[FileInventory], before: Earlier | None, known: Mapping[str, FileInventory]
    ) -> Mapping[str, Sequence[str]] | None:
        """Say of the files what their tests check.  known: those that are as they were.  -> `Basis.uses`."""
        tests = {file.path: file.tests for file in files if file.tests and file.path not in known}
        old = {} if before is None or before.basis.uses is None else before.basis.uses
        kept = {path: old[path] for path in known if path in old}
        found, uses = read_checks(tests, kept, self.blobs, self.loader)
        for place, file in enumerate(files):
            files[place] = known.get(file.path) or file._replace(checks=found.get(file.path, ()))
        return uses

    def basis(self, uses: Mapping[str, Sequence[str]] | None, *, checked: bool) -> Basis:
        """What the next run may take over."""
        most = self.repo.limits.blob_bytes
        return Basis(self.listed, self.folders.back(), self.formats, self.read, uses, checked, most)

    @property
    def is_large(self) -> bool:
        """Whether memory counts more than a little time."""
        return len(self.listed) > LARGE

    def survey(self, earlier: Basis | None) -> None:
        """Note every file that may count.  earlier: whose folders are not read again where they are the same."""
        was, inside = ({}, {}) if earlier is None else (earlier.blobs, earlier.folders)
        files, folders = Below(was), dict[str, Folder]()
        with closing(self.repo.entries(inside, folders)) as entries:
            for path, object_id in entries:
                if path and not path.endswith("/"):
                    self.note(path, object_id)
                    continue
                for one, blob_id in files.of(path):
                    self.note(one, blob_id)
        self.foreign = {}  # 9 MB of a commit with 190,000 files
        self.folders = Aside(folders, packs=self.is_large)
        self.unread = Counter(filter(None, map(unread_language_of, self.listed)))
        self.leave_out_copies()

    def note(self, path: str, blob_id: str) -> None:
        """Note a file that may count."""
        folder = folder_of(path)
        if folder not in self.foreign:
            self.foreign[folder] = FOREIGN.intersection(folder.split("/")) or NONE
        language = language_of(path)
        if self.foreign[folder] <= own_folders(language):
            self.listed[path] = blob_id
            if language:
                self.languages[path] = language

    def leave_out_copies(self) -> None:
        """Forget files of test libraries that came with their own tests."""
        folders = copies(self.listed)
        copied = {path for path in self.listed if is_copied(path, folders)} if folders else set[str]()
        self.blobs = {path: one for path, one in self.listed.items() if path not in copied} if copied else self.listed
        for path in copied:
            self.languages.pop(path, None)

    def project(self, earlier: Earlier | None) -> Project:
        """What is known before tests are read."""
        spoken = set(self.languages.values())
        frameworks = frameworks_of(spoken) if self.frameworks is None else self.frameworks
        self.spoken = [framework for framework in frameworks if not spoken.isdisjoint(framework.languages)]
        if earlier is None:
            self.formats = self.configs()
            configs = self.configured()
        else:
            configs = self.loader.read(self.blobs, self.formats)
        return Project(self.blobs, configs, beat=self.repo.progress.beat)

    def configs(self) -> dict[str, str]:
        """Path -> format of every configuration file some framework reads that has files here."""
        by_name: dict[str, list[str]] = {}
        for path in self.blobs:
            by_name.setdefault(path.rpartition("/")[2], []).append(path)
        formats: dict[str, str] = {}
        for paths in by_name.values():
            languages = (one.config_language(paths[0]) for one in self.spoken)
            if (language := next(filter(None, languages), None)) is not None:
                formats |= dict.fromkeys(paths, language)
        return formats

    def configured(self) -> dict[str, Facts]:
        """Configuration files, and those that they are built on, whatever these are called."""
        found = self.loader.read(self.blobs, self.formats)
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
            self.formats |= new
            found |= self.loader.read(self.blobs, new)
        return found

    def configures(self, path: str) -> str | None:
        """The format of a file that others of the same language are built on; None where that cannot be read."""
        language = self.languages.get(path)
        return SYNTAXES[language].configures if language in SYNTAXES else None

    def parts(self, project: Project, earlier: Earlier | None) -> Iterator[LanguagePart]:
        """The languages that are not as they were: what is read of one means nothing to the frameworks of another."""
        for record in LANGUAGES:
            own = [one for one in self.spoken if not record.ids.isdisjoint(one.languages)]
            if own and record.name not in self.read:
                alone = project.alone()
                before = None if earlier is None else earlier.languages.get(record.name)
                yield LanguagePart(record, alone, self.loader, self.languages, configured(own, alone), before)

    def files(self, parts: list[LanguagePart]) -> Iterator[FileInventory]:
        """Read and resolve one language after the other; its facts are forgotten as soon as it has its rows."""
        self.loader.expect({key for part in parts for key in part.keys})
        parts.sort(key=lambda part: -len(part.candidates))  # the largest while there are no rows of others
        done = list[Aside[list[FileInventory]]]()
        while parts:
            part = parts.pop(0)
            rest = part.files()
            while some := list(islice(rest, TOGETHER)):
                done.append(Aside(some, packs=self.is_large))
            self.read[part.record.name] = part.was_read
            del part, rest
            self.loader.forget()
            if self.is_large:
                gc.collect()  # resolvers leave circles, and the next one needs as much
        words = Words()
        while done:
            some = done.pop().back()
            yield from some if not self.is_large else (with_numbers_of(file, words) for file in some)


def with_numbers_of(file: FileInventory, words: Words) -> FileInventory:
    """Share the numbers of its rows: 9 MB of 361,155 rows, as each of them made its own when it came back."""
    tests = (Test._make(words[one] if type(one) is int else one for one in test) for test in file.tests)
    return file._replace(tests=tuple(tests))


def own_folders(language: str | None) -> frozenset[str]:
    """Folders of FOREIGN that are like any other to the tools of a language."""
    return OWNERS[language].own_folders if language in OWNERS else frozenset()
