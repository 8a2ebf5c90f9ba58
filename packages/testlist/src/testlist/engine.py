"""The inventory of one commit, step by step: list, configure, choose, read, resolve, count."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final

from testlist.checks import read_checks
from testlist.earlier import Earlier, digest
from testlist.garbage_collection import rare_collections
from testlist.git.repository import Repository
from testlist.interface import Framework
from testlist.isolation import RULES_FAILED
from testlist.language_part import ROUNDS, LanguagePart, configured
from testlist.languages import LANGUAGES, OWNERS, SYNTAXES, frameworks_of, language_of, needs_of
from testlist.languages.unread import unread_language_of
from testlist.loader import Loader
from testlist.model import Basis, Facts, FactsCache, FileInventory, Inventory, ReadBodies, ReadFiles
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
    Raises: InventoryError for the repository as a whole; whatever the checkpoint raises.
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
    blobs: dict[str, str] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)  # of those files that have one
    spoken: Sequence[Framework] = ()  # frameworks with files in their languages
    unread: Counter[str] = field(default_factory=Counter)  # files that look like tests, by language
    formats: dict[str, str] = field(default_factory=dict)  # of configuration files, by path
    read: dict[str, ReadFiles] = field(default_factory=dict)  # by name of language, once that has its rows

    def inventory(self) -> Inventory:
        self.survey()
        before = Earlier.of(self.earlier, self.blobs, self.loader)
        kept = {} if before is None else before.kept(self.blobs)
        self.read = {name: one.read for name, one in kept.items()}
        self.formats = {} if before is None else {path: form for path, (_, form) in before.basis.configs.items()}
        files = [file for one in kept.values() for file in one.files.values()]
        changed = {language for language in self.languages.values() if OWNERS[language].name not in kept}
        if changed or before is None:
            self.loader.parsers.warm(needs_of(changed))  # while frameworks are imported here
            files += self.files(list(self.parts(self.project(before), before)))
        files.sort()
        checks = self.most_checked is None or sum(len(file.tests) for file in files) <= self.most_checked
        known = {} if before is None else before.unchanged(files, self.blobs, checks=checks)
        bodies = self.check(files, before, known) if checks else None
        is_final = self.loader.is_final and not any(file.skipped == RULES_FAILED for file in files)
        basis = self.basis(bodies) if is_final and self.frameworks is None else None
        return Inventory(
            self.repo.commit, tuple(files), PARSER_VERSION, dict(self.unread), is_final, basis, frozenset(known)
        )

    def check(
        self, files: list[FileInventory], before: Earlier | None, known: Mapping[str, FileInventory]
    ) -> ReadBodies | None:
        """Say of the files what their tests check.  known: those that are as they were.  -> see `Basis`."""
        tests = {file.path: file.tests for file in files if file.tests and file.path not in known}
        found, read = read_checks(tests, self.blobs, self.loader)
        for place, file in enumerate(files):
            files[place] = known.get(file.path) or file._replace(checks=found.get(file.path, ()))
        if read is None:
            return None
        old = {} if before is None or before.basis.bodies is None else before.basis.bodies.uses
        uses = {**{path: old[path] for path in known if path in old}, **read.uses}
        return ReadBodies({path: self.blobs[path] for used in uses.values() for path in used}, uses)

    def basis(self, bodies: ReadBodies | None) -> Basis:
        """What the next run may take over."""
        configs = {path: (self.blobs[path], form) for path, form in self.formats.items()}
        return Basis(digest(self.blobs), configs, self.read, bodies)

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
                    if unread := unread_language_of(entry.path):
                        self.unread[unread] += 1
        self.leave_out_copies()

    def leave_out_copies(self) -> None:
        """Forget files of test libraries that came with their own tests."""
        folders = copies(self.blobs)
        for path in [path for path in self.blobs if is_copied(path, folders)] if folders else ():
            del self.blobs[path]
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
        parts.reverse()
        while parts:
            part = parts.pop()
            yield from part.files()
            self.read[part.record.name] = part.was_read
            self.loader.forget()


def own_folders(language: str | None) -> frozenset[str]:
    """Folders of FOREIGN that are like any other to the tools of a language."""
    return OWNERS[language].own_folders if language in OWNERS else frozenset()
