"""Which files Mix loads as tests: by the project they stand in, its folders of tests, and its pattern."""

from dataclasses import dataclass, field
from typing import Final

from testlist.kit.globs import match
from testlist.kit.naming import speaks_of_tests
from testlist.languages.elixir.shape import shape
from testlist.project import Project, above, below, folder_of, joined

PROJECT: Final = "mix.exs"
SUFFIX: Final = "_test.exs"
#: where a project has its tests, unless it says otherwise
FOLDERS: Final = ("test",)
HELPER: Final = "_helper.exs"
SOURCES: Final = (".ex", ".exs")
#: folders of projects that others work on, and of texts that projects are made from
INPUTS: Final = frozenset({"fixture", "fixtures", "template", "templates"})
#: folders beside a project file with other people's code, and with what is built
FOREIGN: Final = frozenset({"deps", "_build"})


@dataclass(frozen=True, slots=True)
class Mix:
    """What a project file says.  paths: folders of tests, from its own folder."""

    paths: tuple[str, ...]
    pattern: str

    def loads(self, inner: str) -> bool:
        """Whether a run loads a file.  inner: its path from the folder of the project."""
        return any(below(inner, path) and match(inner, joined(path, f"**/{self.pattern}")) for path in self.paths)


@dataclass(slots=True)
class Projects:
    """The Mix projects of one repository: folder -> what its file says."""

    project: Project
    found: dict[str, Mix] = field(default_factory=dict)
    known: dict[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in self.project.named(PROJECT):
            said = shape(self.project.configs[path])
            paths = tuple(joined("", one) for one in said.get("paths", ())) or FOLDERS
            self.found[folder_of(path)] = Mix(paths, said.get("pattern", f"*{SUFFIX}"))

    def around(self, path: str) -> str | None:
        """The folder of the nearest project around a file."""
        return next((folder for folder in above(path) if folder in self.found), None)

    def wants(self, path: str) -> bool:
        """Tests, and files whose path says that they may be there for tests."""
        if not path.endswith(SOURCES) or path.rpartition("/")[2] == PROJECT:
            return False
        return self.is_test(path) or ((speaks_of_tests(path) or path.endswith("_case.ex")) and not self.apart(path))

    def is_test(self, path: str) -> bool:
        """Whether a file holds tests: Mix loads it, or it is called as tests are and is nobody's input."""
        if path not in self.known:
            self.known[path] = self._is_test(path)
        return self.known[path]

    def _is_test(self, path: str) -> bool:
        folder = self.around(path)
        if folder is not None:
            inner = path[len(folder) + 1 :] if folder else path
            if not INPUTS.isdisjoint(folder.split("/")) or inner.partition("/")[0] in FOREIGN:
                return False
            if self.found[folder].loads(inner):
                return True
        return path.endswith(SUFFIX) and not self.apart(path)

    def apart(self, path: str) -> bool:
        """Whether a folder of a path says that the file is the input of a program."""
        return not INPUTS.isdisjoint(path.split("/")[:-1])


def config_language(path: str) -> str | None:
    """Project files are read as what they are written in."""
    return "elixir" if path.rpartition("/")[2] == PROJECT else None
