"""Whose a feature file is, by the files of the repository: the nearest sign in a folder around it decides."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from testlist.kit.features import is_feature
from testlist.languages.gherkin.config import announced, left_out
from testlist.languages.gherkin.resolve_tags import Expression, expression
from testlist.languages.gherkin.vocabulary_runners import (
    BEHAT,
    BEHAVE,
    BOOTSTRAP,
    BUILDS,
    CONFIGS,
    CONFIGURES,
    CUCUMBER,
    CYPRESS,
    GO_TESTS,
    GODOG,
    HOOKS,
    PYTEST_BDD,
    SOURCES,
    STEPS,
    WRITTEN_IN,
)
from testlist.project import Project, above, folder_of

#: how much a sign says beside others of the same folder
BUILT, STEPPED, ASKED_FOR, CONFIGURED = range(4)
#: a folder, how much a sign in it says, and the runner
Sign = tuple[str, int, str]


@dataclass(slots=True)
class Resolver:
    """The signs of one repository.  signs: by folder, the one that says most; expressions: of tags, by runner."""

    project: Project
    signs: dict[str, tuple[int, str]] = field(default_factory=dict)
    expressions: dict[str, dict[str, Expression | None]] = field(default_factory=dict)
    runners: dict[str, str] = field(default_factory=dict)  # of folders with feature files

    @classmethod
    def of(cls, project: Project) -> "Resolver":
        """Look through the commit."""
        found = cls(project)
        for path in sorted(project.configs):
            found.read(path)
        for path in project.paths:
            for sign in signs(path):
                found.note(*sign)
        return found

    def read(self, path: str) -> None:
        """Note what a configuration file says."""
        data, name, folder = self.project.data(path), path.rpartition("/")[2], home(path)
        for runner in announced(data):
            self.note(folder, ASKED_FOR, runner)
        runner, texts = left_out(name, data)
        found = expression(texts) if texts else None
        known = self.expressions.setdefault(runner, {})
        if found is not None or name in CONFIGURES:  # a project without an expression has none of those around it
            known[folder] = known.get(folder) or found

    def note(self, folder: str, strength: int, runner: str) -> None:
        """Remember the sign of a folder, if none there says more."""
        self.signs[folder] = max(self.signs.get(folder, (strength, runner)), (strength, runner))

    def wants(self, path: str) -> bool:
        """Feature files that are not the input of a program."""
        return is_feature(path)

    def runner(self, path: str) -> str:
        """The runner of a feature file."""
        folder = folder_of(path)
        if folder not in self.runners:
            self.runners[folder] = self._runner(path)
        return self.runners[folder]

    def _runner(self, path: str) -> str:
        around = [folder for folder in above(path) if folder in self.signs]
        if not around:
            return CUCUMBER
        runner = self.signs[around[0]][1]
        if runner == BEHAVE and self.signs[around[0]][0] == STEPPED:  # pytest-bdd has steps in such folders as well
            said = (self.signs[folder] for folder in around[1:])
            return next((one for strength, one in said if strength > STEPPED and one in (BEHAVE, PYTEST_BDD)), runner)
        return runner

    def expression(self, path: str, runner: str) -> Expression | None:
        """What decides on the scenarios of a file that run by themselves."""
        known = self.expressions.get(runner, {})
        return next((known[folder] for folder in above(path) if folder in known), None) if known else None


def home(path: str) -> str:
    """The folder of the project that a configuration file is of."""
    folder = folder_of(path)
    before, found, _ = f"/{folder}/".partition(f"/{SOURCES}/")
    if found and path.endswith((".properties", ".js")):
        return before.strip("/")
    return folder_of(folder) if folder.rpartition("/")[2] in CONFIGS else folder


def signs(path: str) -> Iterator[Sign]:
    """What one path says of the folders around it."""
    *folders, name = path.split("/")
    if name in CONFIGURES:
        yield home(path), CONFIGURED, CONFIGURES[name]
    elif name in BUILDS:
        yield "/".join(folders), BUILT, BUILDS[name]
    elif name == HOOKS:
        yield "/".join(folders), STEPPED, BEHAVE
    elif name.endswith(GO_TESTS):
        yield "/".join(folders), BUILT, GODOG
    elif name.endswith(".php") and BOOTSTRAP in folders:
        yield "/".join(folders[: folders.index(BOOTSTRAP)]), STEPPED, BEHAT
    else:
        runner = WRITTEN_IN.get(name.rpartition(".")[2])
        first = next((place for place, one in enumerate(folders) if one in STEPS), None) if runner else None
        if runner and first is not None:
            yield "/".join(folders[:first]), STEPPED, CUCUMBER if CYPRESS in folders else runner
