"""The languages that are read, a line each, and what their records say together."""

from collections.abc import Collection, Iterator
from importlib import import_module
from typing import Final, Protocol, cast

from testlist.interface import Framework
from testlist.language import Format, Language, Syntax
from testlist.languages.bats.language import BATS
from testlist.languages.cpp.language import CPP
from testlist.languages.csharp.language import CSHARP
from testlist.languages.dart.language import DART
from testlist.languages.elixir.language import ELIXIR
from testlist.languages.gherkin.language import GHERKIN
from testlist.languages.go.language import GO
from testlist.languages.javascript.language import JAVASCRIPT
from testlist.languages.jvm.language import JVM
from testlist.languages.php.language import PHP
from testlist.languages.python.language import PYTHON
from testlist.languages.robot.language import ROBOT
from testlist.languages.ruby.language import RUBY
from testlist.languages.rust.language import RUST
from testlist.languages.scala.language import SCALA
from testlist.languages.swift.language import SWIFT
from testlist.model import Facts, FactsByPath

#: the first whose frameworks read a configuration file decides on its format
LANGUAGES: Final = (
    PYTHON, JAVASCRIPT, GO, CSHARP, PHP, CPP, SWIFT, RUST, RUBY, ELIXIR, JVM, SCALA, DART, GHERKIN, BATS, ROBOT,
)  # fmt: skip

#: language id -> its syntax
SYNTAXES: Final[dict[str, Syntax]] = {syntax.id: syntax for one in LANGUAGES for syntax in one.syntaxes}
#: format id -> a format of one language
FORMATS: Final[dict[str, Format]] = {form.id: form for one in LANGUAGES for form in one.formats}
#: language id -> the record it is in
OWNERS: Final[dict[str, Language]] = {syntax.id: one for one in LANGUAGES for syntax in one.syntaxes}
#: file name suffix -> language id
SUFFIXES: Final = {suffix: syntax.id for syntax in SYNTAXES.values() for suffix in syntax.suffixes}
#: formats that tools of several languages have
SHARED: Final = {
    **dict.fromkeys(("ini", "json", "jsonc", "flat-yaml", "words"), "testlist.kit.formats"),
    "commands": "testlist.kit.commands",
}
#: language or format id -> module with `extract`; imported in parsing children only
READERS: Final = {
    **{syntax.id: OWNERS[syntax.id].module(syntax.reader) for syntax in SYNTAXES.values()},
    **{form.id: one.module(form.reader) for one in LANGUAGES for form in one.formats},
    **SHARED,
}


class Reader(Protocol):
    """What a module named in READERS offers."""

    def extract(self, source: bytes, language: str) -> Facts:
        """Read one file.  source: UTF-8, no NUL.  Raises: anything, which means parse_failed."""


def language_of(path: str) -> str | None:
    """Language of a source file by its name."""
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    return SUFFIXES.get(suffix) if stem and dot else None


def is_configuration(language: str) -> bool:
    """Whether this is the format of a configuration file."""
    return language in SHARED or (language in FORMATS and not FORMATS[language].on_demand)


def written_in(language: str, facts: FactsByPath) -> Iterator[Facts]:
    """Facts of the files of one language: what others have under the same names means something else."""
    return (one for path, one in facts.items() if language_of(path) == language)


def reader(language: str) -> Reader:
    """Import the reader of a language or format."""
    return cast(Reader, import_module(READERS[language]))


def grammars_of(language: str) -> list[str]:
    """Languages whose grammars files of a language or format may take."""
    if language in FORMATS:
        language = FORMATS[language].syntax or ""
    syntax = SYNTAXES.get(language)
    return [] if syntax is None else [one for one in (syntax.id, *syntax.also) if SYNTAXES[one].grammar is not None]


def needs_of(languages: Collection[str], *, checks: bool) -> frozenset[str]:
    """Languages and formats that files of a commit in these languages may be read in.  checks: with bodies."""
    owners = {OWNERS[language].name: OWNERS[language] for language in languages}
    forms = (form for one in owners.values() for form in one.formats if not form.on_demand)
    bodies = (form for language in languages if checks and (form := SYNTAXES[language].bodies) is not None)
    return frozenset(languages).union(SHARED, (form.id for form in forms), bodies)


def frameworks_of(languages: Collection[str]) -> list[Framework]:
    """The test frameworks of these languages; those of others are not imported, which takes 0.1 s for all."""
    return [one for record in LANGUAGES if not record.ids.isdisjoint(languages) for one in record.frameworks()]


def all_frameworks() -> list[Framework]:
    """Every test framework."""
    return frameworks_of(SYNTAXES)
