"""Languages and configuration formats: how a path tells them, and which module reads them.

A language id is part of the key under which facts are stored, so it never changes its meaning.
"""

from collections.abc import Iterator
from importlib import import_module
from typing import Final, Protocol, cast

from testlist.model import Facts, FactsByPath

#: file name suffix -> language id
SUFFIXES: Final = {
    "py": "python",
    "js": "javascript",
    "jsx": "javascript",
    "mjs": "javascript",
    "cjs": "javascript",
    "ts": "typescript",
    "mts": "typescript",
    "cts": "typescript",
    "tsx": "tsx",
    "go": "go",
    "cs": "csharp",
    "php": "php",
    **dict.fromkeys(("cc", "cpp", "cxx", "c++", "C", "cu", "mm"), "cpp"),
    **dict.fromkeys(("h", "hh", "hpp", "hxx", "h++", "cuh", "inc", "inl", "ipp", "tcc", "tpp"), "cpp"),
    "swift": "swift",
    "rb": "ruby",
    "rs": "rust",
    "java": "java",
    "kt": "kotlin",
    "groovy": "groovy",
}

#: file name suffix -> a language that no framework here has tests in: its files are left alone, and that is said
UNREAD: Final = {
    "scala": "Scala",
    "clj": "Clojure",
    "cljs": "Clojure",
    "cljc": "Clojure",
    "ex": "Elixir",
    "exs": "Elixir",
    "erl": "Erlang",
    "hs": "Haskell",
    "ml": "OCaml",
    "fs": "F#",
    "vb": "Visual Basic",
    "dart": "Dart",
    "lua": "Lua",
    "pl": "Perl",
    "pm": "Perl",
    "t": "Perl",
    "r": "R",
    "R": "R",
    "jl": "Julia",
    "c": "C",
    "bats": "shell",
    "elm": "Elm",
    "nim": "Nim",
    "zig": "Zig",
    "cr": "Crystal",
    "f90": "Fortran",
}

#: language id -> module with `extract(source) -> Facts`; imported in parsing children only
READERS: Final = {
    "python": ".python.facts",
    "javascript": ".javascript.facts",
    "typescript": ".javascript.facts",
    "tsx": ".javascript.facts",
    "go": ".go.facts",
    "go.mod": ".go.config_manifest",
    "csharp": ".csharp.facts",
    "msbuild": ".csharp.config_msbuild",
    "php": ".php.facts",
    "phpunit.xml": ".php.config_xml",
    "cpp": ".cpp.facts",
    "swift": ".swift.facts",
    "ruby": ".ruby.facts",
    "rust": ".rust.facts",
    "java": ".jvm.facts_java",
    "kotlin": ".jvm.facts_kotlin",
    "groovy": ".jvm.facts_groovy",
    "jvm-build": ".jvm.config_build_files",
    "gradle-settings": ".jvm.config_build_files",
    "toml": "..kit.formats",
    "ini": "..kit.formats",
    "json": "..kit.formats",
    "jsonc": "..kit.formats",
    "flat-yaml": "..kit.formats",
    "words": "..kit.formats",
    "bunfig": "..kit.formats",
    "package.json": "..kit.formats",
    "cargo.toml": ".rust.config_manifest",
    "commands": "..kit.commands",
    "javascript-config": ".javascript.config",
    "typescript-config": ".javascript.config",
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


def unread_language_of(path: str) -> str | None:
    """Language of a source file that no framework here can read, by its name."""
    stem, dot, suffix = path.rpartition("/")[2].rpartition(".")
    return UNREAD.get(suffix) if stem and dot else None


def written_in(language: str, facts: FactsByPath) -> Iterator[Facts]:
    """Facts of the files of one language: what others have under the same names means something else."""
    return (one for path, one in facts.items() if language_of(path) == language)


def reader(language: str) -> Reader:
    """Import the reader of a language."""
    return cast(Reader, import_module(READERS[language], __package__))
