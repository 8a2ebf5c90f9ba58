"""Files that look like tests by the convention of a language or tool that no framework here reads: they are counted."""

import re
from typing import Final

#: below a folder for tests
_BELOW: Final = r"(^|/)(tests?|specs?|testing)/"
#: language or tool -> suffixes, and what the path of a test is like
CONVENTIONS: Final[dict[str, tuple[str, str]]] = {
    "C": ("c", rf"(^|/)tests?_[^/]*$|_(unit)?tests?\.c$|{_BELOW}"),
    "Clojure": ("clj cljs cljc", rf"_test\.clj[cs]?$|{_BELOW}"),
    "CoffeeScript": ("coffee", r"[._-](spec|test)s?\.coffee$"),
    "Crystal": ("cr", r"_spec\.cr$"),
    "Elm": ("elm", rf"Tests?\.elm$|{_BELOW}"),
    "Erlang": ("erl", r"(_SUITE|_tests?)\.erl$"),
    "F#": ("fs", r"(Test|Tests|Spec|Specs)\.fs$"),
    "Fortran": ("f90 pf", rf"(^|/)test_[^/]*$|_test\.f90$|\.pf$|{_BELOW}"),
    "Haskell": ("hs", rf"(Spec|Test|Tests)\.hs$|{_BELOW}"),
    "Julia": ("jl", rf"(^|/)runtests\.jl$|{_BELOW}"),
    "Lua": ("lua", rf"_(spec|test)\.lua$|(^|/)test_[^/]*$|{_BELOW}"),
    "Nim": ("nim", r"(^|/)tests?/t[^/]*$|(^|/)test_?[^/]*$"),
    "OCaml": ("ml", rf"(^|/)test_?[^/]*$|_test\.ml$|{_BELOW}"),
    "Perl": ("t", r""),
    "PowerShell": ("ps1", r"\.[Tt]ests\.ps1$"),
    "R": ("r R", r"(^|/)tests/(.*/)?test[-_.][^/]*$"),
    "shell": ("sh", r"(^|/)test[-_][^/]*$|[-_](test|spec)\.sh$"),
    "Solidity": ("sol", r"\.t\.sol$"),
    "Visual Basic": ("vb", r"Tests?\.vb$"),
    "Zig": ("zig", rf"(^|/)tests?[^/]*$|_test\.zig$|{_BELOW}"),
}
#: in the name of a file whose components are shown, and tried, in several languages
STORIES: Final = ".stories."
_BY_SUFFIX: Final = {
    suffix: (name, re.compile(pattern))
    for name, (suffixes, pattern) in CONVENTIONS.items()
    for suffix in suffixes.split()
}


def unread_language_of(path: str) -> str | None:
    """The language or tool of a file that looks like a test, and that no framework here can read."""
    if STORIES in path:
        return "stories"
    stem, dot, suffix = path.rpartition("/")[2].rpartition(".")
    if not stem or not dot or suffix not in _BY_SUFFIX:
        return None
    name, pattern = _BY_SUFFIX[suffix]
    return name if pattern.search(path) else None
