"""What the engine knows of a language: one record in `languages/NAME/language.py`, and nothing anywhere else.

Parsing children import the records too, so they name modules and do not import them.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Final, NamedTuple, Protocol, cast

from testlist.interface import Framework
from testlist.model import Facts
from testlist.paths import Paths
from testlist.project import Project

#: where the packages of languages are
HOME: Final = "testlist.languages"
#: files a configuration file is built on, each with the name of what it takes from there.  known: paths of the commit
Bases = Callable[[str, Facts, Collection[str]], Iterable[tuple[str, str]]]


class Candidate(NamedTuple):
    """Where a called name may come from, if a function of this name stands there.

    place: a file, or an area (see Calls); unit: of the file, as its bodies say; empty for any, and for an area that has
    none.  certain: the name comes from there, whatever it is.
    """

    place: str
    name: str
    unit: str = ""
    certain: bool = False


class Calls(Protocol):
    """How names of a language are followed to other files.

    It may also have `area(path) -> str`: what the files share that see each other's functions without an import, empty
    for a file that shares with none.  It names no path.  A function counts there if it is the only one of its name.
    """

    def home(self, path: str, called: str, imports: Mapping[str, str], paths: Paths) -> Iterable[Candidate]:
        """Where a function or a class may stand that a file names, the likeliest first.  imports: of this file."""


class Dependence(Protocol):
    """What the rows of a file depend on: its own facts, those of files it has links to, and the outlines of all."""

    def leads(self, facts: Facts) -> object:
        """What decides on the files that a file leads to; equal if these are the same, whatever else is read."""

    def outline(self, facts: Facts) -> object:
        """What any other file may have from a file without a link to it; equal if nobody sees a difference."""

    def links(self, project: Project) -> Callable[[str, Facts], Iterable[str]] | None:
        """Files that a file may have more than that from, directly, by its path and facts; None if nobody can say."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """A grammar of tree-sitter.  version, oldest: of its distribution, between which the rules were tested."""

    distribution: str
    version: str
    module: str
    function: str = "language"
    oldest: str | None = None  # None: the same


@dataclass(frozen=True, slots=True)
class Syntax:
    """The syntax of the files with some suffixes.

    id: part of the key under which facts are stored, so it never changes its meaning.  reader: module with
    `extract(source, language) -> Facts`.  also: further syntaxes whose grammars its files are tried in.
    configures: the format in which configuration that is written in it is read.  lenient: its tools let bad bytes pass
    or have an option for the encoding, so that such files do hold tests that run.  declares: its files may name their
    encoding (PEP 263).  bodies: the format that says what its functions check, read on demand.
    """

    id: str
    suffixes: tuple[str, ...]
    reader: str = "facts"
    grammar: Grammar | None = None
    also: tuple[str, ...] = ()
    configures: str | None = None
    lenient: bool = False
    declares: bool = False
    bodies: str | None = None


@dataclass(frozen=True, slots=True)
class Format:
    """A format of configuration files of one language.  syntax: whose grammars its reader uses; the rest as Syntax.

    on_demand: it is none of a configuration file, and a child gets ready for it only where checks are asked for.
    """

    id: str
    reader: str
    syntax: str | None = None
    lenient: bool = False
    declares: bool = False
    on_demand: bool = False


@dataclass(frozen=True, slots=True)
class Hints:
    """The parts of a test file that become hints about it, and those that do not.

    imports, texts: expressions for imports, with a group `import`, and for strings and comments; no imports, no hints.
    noise: first names of calls that every file of tests has, as words.  leading: keywords in front of a call.
    modules: those of test frameworks, whole names; namespaces: how others begin, as alternatives of an expression.
    """

    imports: bytes = b""
    texts: bytes = b""
    noise: str = ""
    leading: str = ""
    modules: str = ""
    namespaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Libraries:
    """Test libraries that repositories carry whole.

    layouts: a file as its project lays it out -> an expression for what its folder is called wherever it is copied
    to.  beside: folders that lie side by side in one project.  checks: files of libraries of checks, as their projects
    lay them out: in these, a check of literals is one of the library, and may fail.
    """

    layouts: Mapping[str, str] = field(default_factory=dict)
    beside: tuple[tuple[str, str], ...] = ()
    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Language:
    """One language, or a few that share their tools.

    name: of its package.  own_folders: folders like any other to its tools that hold other people's code elsewhere.
    follows: its module with `bases` (see Bases), if its configuration files may be built on others.  calls: its module
    with `home` (see Calls), if its bodies are read.  depends: its module that says what rows depend on (see
    Dependence); without one a changed file means that all files of the language are resolved again.  binds_late: a
    method that an object calls on itself is that of its own class, whichever class the call is written in.
    """

    name: str
    syntaxes: tuple[Syntax, ...]
    formats: tuple[Format, ...] = ()
    hints: Hints = Hints()
    libraries: Libraries = Libraries()
    own_folders: frozenset[str] = frozenset()
    follows: str | None = None
    calls: str | None = None
    depends: str | None = None
    binds_late: bool = True

    @property
    def suffixes(self) -> frozenset[str]:
        """The suffixes of its files."""
        return frozenset(suffix for syntax in self.syntaxes for suffix in syntax.suffixes)

    @property
    def ids(self) -> frozenset[str]:
        """The ids of its syntaxes."""
        return frozenset(syntax.id for syntax in self.syntaxes)

    def module(self, name: str) -> str:
        """The whole name of one of its modules."""
        return f"{HOME}.{self.name}.{name}"

    def frameworks(self) -> tuple[Framework, ...]:
        """Its test frameworks, as `frameworks/__init__.py` lists them."""
        return cast(tuple[Framework, ...], import_module(self.module("frameworks")).FRAMEWORKS)

    def bases(self) -> Bases | None:
        """What `follows` names."""
        return None if self.follows is None else cast(Bases, import_module(self.module(self.follows)).bases)

    def follow(self) -> Calls | None:
        """What `calls` names."""
        return None if self.calls is None else cast(Calls, import_module(self.module(self.calls)))

    def dependence(self) -> Dependence | None:
        """What `depends` names."""
        return None if self.depends is None else cast(Dependence, import_module(self.module(self.depends)))
