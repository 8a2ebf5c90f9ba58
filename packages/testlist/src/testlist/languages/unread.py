"""Languages that no framework here has tests in: their files are counted and left alone."""

from typing import Final

#: file name suffix -> language
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


def unread_language_of(path: str) -> str | None:
    """Language of a source file that no framework here can read, by its name."""
    stem, dot, suffix = path.rpartition("/")[2].rpartition(".")
    return UNREAD.get(suffix) if stem and dot else None
