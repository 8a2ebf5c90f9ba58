"""Where a called name of a Python file comes from."""

from collections.abc import Iterator, Mapping
from posixpath import normpath

from testlist.language import Candidate
from testlist.paths import Paths
from testlist.project import DEEPEST


def home(path: str, called: str, imports: Mapping[str, str], paths: Paths) -> Iterator[Candidate]:
    """Where a called name comes from; nothing if it comes from elsewhere.

    imports: as `BodiesFact` has them.
    """
    parts = called.split(".")
    for count in range(min(len(parts), DEEPEST), 0, -1):
        if (source := imports.get(".".join(parts[:count]))) is None:
            continue
        module, _, name = source.partition(":")
        rest = parts[count:]
        # `from shop import cart` may mean a function of a package, or a module of it
        for tried, inner in ((module, [name, *rest]), (_inside(module, name), rest)) if name else ((module, rest),):
            if inner and (found := _file(path, tried, paths)):
                yield Candidate(found, ".".join(inner), certain=True)
                return


def _inside(module: str, name: str) -> str:
    return f"{module}{name}" if module.endswith(".") or not module else f"{module}.{name}"


def _file(path: str, module: str, paths: Paths) -> str:
    """The file of a module; empty if the repository has none."""
    plain = module.lstrip(".")
    dots = len(module) - len(plain)
    folder, inner = path.rpartition("/")[0], plain.replace(".", "/")
    stems = [normpath("/".join((folder or ".", *[".."] * (dots - 1), inner)))] if dots else _stems(folder, inner)
    found = (file for stem in stems for file in (f"{stem}.py", f"{stem}/__init__.py") if file in paths)
    return next(found, "")


def _stems(folder: str, inner: str) -> Iterator[str]:
    """Where an absolute module may lie: beside the file that imports it, or below a folder above it."""
    while True:
        for root in (folder, f"{folder}/src" if folder else "src"):
            yield f"{root}/{inner}" if root else inner
        if not folder:
            return
        folder = folder.rpartition("/")[0]
