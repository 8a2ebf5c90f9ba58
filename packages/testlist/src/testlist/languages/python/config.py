"""pytest's configuration, read as data: which files it collects and which names it takes for tests."""

import re
import shlex
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final

from testlist.kit import globs
from testlist.languages.python.collect import Hit, Rules
from testlist.languages.python.config_selection import GIVING, Selection, option_name, selection
from testlist.languages.python.shape import Giving, Item, shape
from testlist.project import Project, below, folder_of, joined

FILES: Final = ("test_*.py", "*_test.py")
NEVER: Final = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}")
#: folders of projects that are shown or tried, and that no run of the repository's own tests enters
SHOWN: Final = frozenset({"doc", "docs", "documentation", "fixtures", "testdata", "test_data"})
#: file name -> (format, section); the first of these in a directory that has the section counts
CONFIGS: Final = {
    "pytest.toml": ("toml", None),
    ".pytest.toml": ("toml", None),
    "pytest.ini": ("ini", "pytest"),
    ".pytest.ini": ("ini", "pytest"),
    "pyproject.toml": ("toml", None),
    "tox.ini": ("ini", "pytest"),
    "setup.cfg": ("ini", "tool:pytest"),
}
#: names by which a conftest.py leaves files out
IGNORING: Final = frozenset({"collect_ignore", "collect_ignore_glob"})
#: plugin that a conftest.py takes over, and the name its loader gives it -> the library whose classes it collects
PLUGINS: Final = dict.fromkeys(("sqlalchemy.testing.plugin.pytestplugin", "sqla_pytestplugin"), "sqlalchemy.testing.")


def config_language(path: str) -> str | None:
    """Format of a file that may configure pytest."""
    name = path.rpartition("/")[2]
    return "python" if name == "conftest.py" else CONFIGS.get(name, (None, None))[0]


@dataclass(frozen=True, slots=True)
class PytestScope:
    """One configuration and the folder it governs.  testpaths, ignored: from the root of the repository."""

    folder: str = ""
    testpaths: tuple[str, ...] = ()
    files: tuple[str, ...] = FILES
    never: tuple[str, ...] = NEVER
    ignored: tuple[str, ...] = ()
    rules: Rules = field(default_factory=Rules)
    selection: Selection = field(default_factory=Selection)
    options: frozenset[str] = frozenset()  # those given, as `option_name` spells them
    declared: bool = False  # false for the defaults that hold where there is no configuration

    def collects(self, path: str) -> bool:
        """Whether a run in the folder would read this file.  path: below the folder."""
        if any(within(path, ignored) for ignored in self.ignored):
            return False
        if path in self.testpaths:
            return True
        root = next((root for root in self.testpaths if within(path, root)), None)
        if root is None and self.testpaths:
            return False
        start = root.count("/") + 1 if root else self.folder.count("/") + 1 if self.folder else 0
        *folders, name = path.split("/")
        entered = ["/".join(folders[:depth]) for depth in range(start + 1, len(folders) + 1)]
        if any(self.shuns(folder) for folder in entered):
            return False
        # a pattern with a slash is held against the end of the path
        return any(
            fnmatchcase(f"/{path}", f"*/{files}") if "/" in files else fnmatchcase(name, files) for files in self.files
        )

    def drops(self, path: str, hit: Hit) -> bool:
        """Whether its options keep a test out that a run would collect from a file."""
        if not self.selection.is_narrow:
            return False
        node = "::".join((path.removeprefix(f"{self.folder}/"), *hit.outer, hit.name))
        sure = not hit.marks.dynamic and hit.path == path
        return self.selection.drops(node, hit.marks.names, sure=sure)

    def shuns(self, folder: str) -> bool:
        """Whether norecursedirs names a folder: by its name, or by the end of its path where a pattern has a slash."""
        name = folder.rpartition("/")[2]
        return any(
            fnmatchcase(f"/{folder}", f"*/{never}") if "/" in never else fnmatchcase(name, never)
            for never in self.never
        )


def scopes(project: Project) -> list[PytestScope]:
    """All configurations of a repository, deepest first; the defaults of the root come last."""
    found: dict[str, tuple[int, dict[str, Any]]] = {}
    for path in project.named(*CONFIGS):
        name = path.rpartition("/")[2]
        table = table_of(name, project.data(path))
        folder = folder_of(path)
        if table is not None and (folder not in found or _rank(name) < found[folder][0]):
            found[folder] = (_rank(name), table)
    ignored = tuple(conftest_ignores(project))
    outer: list[PytestScope] = []
    for folder in sorted(found, key=lambda folder: (folder.count("/") if folder else -1, folder)):
        one = scope(folder, found[folder][1], ignored, project)
        if not any(sets_aside(other, folder) for other in outer if below(folder, other.folder)):
            outer.append(one)
    outer.sort(key=lambda one: (-one.folder.count("/") if one.folder else 1, one.folder))
    return [*outer, PytestScope(ignored=ignored)]


def sets_aside(outer: PytestScope, folder: str) -> bool:
    """Whether a configuration leaves a folder within its own out, which holds another that is only shown or tried."""
    inside = folder.removeprefix(outer.folder).strip("/").split("/")
    places = [joined(outer.folder, "/".join(inside[:depth])) for depth in range(1, len(inside) + 1)]
    named = outer.never is not NEVER and any(map(outer.shuns, places))
    return named or not SHOWN.isdisjoint(inside)


def _rank(name: str) -> int:
    return list(CONFIGS).index(name)


def table_of(name: str, data: Any) -> dict[str, Any] | None:
    """Find pytest's table in a configuration file; None if it has none."""
    kind, section = CONFIGS[name]
    if not isinstance(data, dict):
        return None
    table = data.get("pytest") if kind == "toml" else data.get(str(section))
    if table is None and name in ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"):
        return {}  # these count even when empty
    return table if isinstance(table, dict) else None


def scope(folder: str, table: dict[str, Any], ignored: tuple[str, ...], project: Project) -> PytestScope:
    """Build the scope one table describes."""
    listed = [joined(folder, root) for root in words(table.get("testpaths"))]
    # as for pytest, paths that lead nowhere do not count
    options = words(table.get("addopts"))
    testpaths = [root for root in listed if any(leads(root, places) for places in (project.paths, project.folders))]
    return PytestScope(
        folder=folder,
        testpaths=tuple(testpaths) if "" not in testpaths else (),
        files=given(table, "python_files", FILES),
        never=given(table, "norecursedirs", NEVER),
        ignored=(*ignored, *(joined(folder, path) for path in option_ignores(options))),
        rules=Rules(
            given(table, "python_functions", Rules().functions),
            given(table, "python_classes", Rules().classes),
        ),
        selection=selection(options, given=gives_marks(project)),
        options=frozenset(option_name(option.partition("=")[0]) for option in options),
        declared=True,
    )


def leads(root: str, places: Collection[str]) -> bool:
    """Whether a path, or a pattern, is one of the places."""
    return root in places or any(globs.match(place, root) for place in places)


def given(table: dict[str, Any], key: str, default: tuple[str, ...]) -> tuple[str, ...]:
    """Words of an option; an empty one stands, and means that nothing fits."""
    return tuple(words(table[key])) if key in table else default


def within(path: str, place: str) -> bool:
    """Whether a path is, or lies in, a place that may be a pattern."""
    if path == place or below(path, place):
        return True
    return bool(set("*?[") & set(place)) and (globs.match(path, place) or globs.match(path, f"{place}/**"))


def words(value: Any) -> list[str]:
    """A list, or a string split as on a command line."""
    if isinstance(value, list):
        return [word for word in value if isinstance(word, str)]
    try:
        return shlex.split(value) if isinstance(value, str) else []
    except ValueError:  # unbalanced quotes
        return str(value).split()


def option_ignores(options: list[str]) -> Iterator[str]:
    """Paths of --ignore and --ignore-glob."""
    for option, following in zip(options, [*options, ""][1:], strict=True):
        if found := re.fullmatch(r"--ignore(?:-glob)?(?:=(.*))?", option, re.DOTALL):
            yield found[1] if found[1] is not None else following


def conftests(project: Project) -> Iterator[tuple[str, list[Item]]]:
    """Folder and items of every conftest.py."""
    return ((folder_of(path), shape(project.configs[path]).get("body", [])) for path in project.named("conftest.py"))


def conftest_ignores(project: Project) -> Iterator[str]:
    """`collect_ignore` and `collect_ignore_glob` of every conftest.py, where they are set unconditionally."""
    for folder, body in conftests(project):
        for item in body:
            if item["k"] == "set" and item["name"] in IGNORING and "maybe" not in item:
                yield from (joined(folder, ignored) for ignored in item.get("strings", ()))


def conftest_marks(project: Project) -> dict[str, list[Giving]]:
    """Folder -> marks that the hooks of its conftest.py give to tests with others."""
    found = {
        folder: [rule for item in body if item["k"] == "def" for rule in item.get("gives", ())]
        for folder, body in conftests(project)
    }
    return {folder: given for folder, given in found.items() if given}


def conftest_libraries(project: Project) -> Iterator[tuple[str, str]]:
    """Folders in which a library's plugin collects, and the library."""
    for folder, body in conftests(project):
        for item in body:
            if item["k"] == "star" and item["module"] in PLUGINS:
                yield folder, PLUGINS[item["module"]]


def gives_marks(project: Project) -> bool:
    """Whether a conftest.py has a hook that may give tests marks."""
    return any(
        item["k"] == "star" or (item["k"] in ("def", "class", "set", "import", "del") and item["name"] in GIVING)
        for _, body in conftests(project)
        for item in body
    )


def scope_of(path: str, declared: list[PytestScope]) -> PytestScope:
    """The deepest configuration that governs a path."""
    return next(one for one in declared if below(path, one.folder))
