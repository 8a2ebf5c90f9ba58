"""Where a function or a macro that a Rust file calls may come from: a module of its crate, by its path."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from testlist.language import Candidate
from testlist.paths import Paths
from testlist.project import DEEPEST, folder_of, joined

#: folders in which crates begin, and those whose files are crates of tests
ROOTS: Final = ("src", "tests", "benches", "examples")
TESTS: Final = "tests"
#: files whose modules lie beside them
BESIDE: Final = frozenset({"mod", "lib", "main"})
ALL: Final = "*"


def area(path: str) -> str:
    """Macros of tests are seen in all of their crate."""
    root = _root(path)
    return f"{root}/*!" if root.rpartition("/")[2] == TESTS else ""


def home(path: str, called: str, imports: Mapping[str, str], paths: Paths) -> Iterator[Candidate]:
    """Files that may have a function, `a.b`, and the area of a macro, `a!`.  imports: see checks_uses.uses."""
    if called.endswith("!"):
        if name := area(path):
            yield Candidate(name, called)
        return
    head, dot, rest = called.partition(".")
    if head in imports:
        spelt = [f"{imports[head]}{dot}{rest}"]
    elif head in ("crate", "self") and dot:
        spelt = [called]
    else:
        spelt = [f"{source}.{called}" for name, source in imports.items() if name.startswith(ALL)]
    for one in spelt:
        yield from _located(path, one.split("."), imports, paths)


def _located(path: str, parts: Sequence[str], imports: Mapping[str, str], paths: Paths) -> Iterator[Candidate]:
    """The files of a path: the last of its parts are the name there."""
    folder, first = _inner(path), 0
    if parts[0] == "crate":
        folder, first = _root(path), 1
    elif parts[0] == "super":
        first = 1
        if folder != folder_of(path) or folder.rpartition("/")[2] not in ROOTS:  # beside its crate's first file
            folder = folder_of(folder)
        while first < len(parts) and parts[first] == "super":
            folder, first = folder_of(folder), first + 1
    elif parts[0] == "self":
        first = 1
    elif imports.get(parts[0]) != f"self.{parts[0]}":
        return  # of another crate
    names = parts[first:]
    for count in range(min(len(names) - 1, DEEPEST), -1, -1):
        stem = joined(folder, "/".join(names[:count])) if count else folder
        tried = (f"{stem}.rs", f"{stem}/mod.rs", *((f"{stem}/lib.rs", f"{stem}/main.rs") if not count else ()))
        for file in tried:
            if file in paths and file != path:
                yield Candidate(file, ".".join(names[count:]), certain=count > 0)


def _root(path: str) -> str:
    """The folder in which the crate of a file begins; empty where nobody knows."""
    parts = folder_of(path).split("/")
    place = next((place for place in range(len(parts), 0, -1) if parts[place - 1] in ROOTS), 0)
    return "/".join(parts[:place])


def _inner(path: str) -> str:
    """The folder of the modules in a file."""
    folder, _, name = path.rpartition("/")
    stem = name.removesuffix(".rs")
    is_root = folder.rpartition("/")[2] in ROOTS[1:] or folder.endswith("src/bin")
    return folder if stem in BESIDE or is_root else joined(folder, stem)
