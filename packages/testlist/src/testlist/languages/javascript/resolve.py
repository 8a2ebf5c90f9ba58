"""Files that tests share: what a test file imports from its repository and what looks as if it defined tests."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from testlist.languages.javascript.resolve_aliases import places
from testlist.languages.javascript.vocabulary import KNOWN
from testlist.languages.javascript.vocabulary_modules import SERVING, is_own
from testlist.model import FactsByPath
from testlist.project import Project, folder_of, joined

ENDINGS: Final = ("", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts",
                  "/index.ts", "/index.tsx", "/index.js", "/index.mjs", "/index.cjs")  # fmt: skip
#: a name for tests, its modifiers, whether it has to be called to be one, and which argument is the title
Origin = tuple[str, tuple[str, ...], bool, int]
#: files a name is handed on through
STEPS: Final = 5
#: how TypeScript spells files that it will have compiled
COMPILED: Final = {".js": (".ts", ".tsx"), ".mjs": (".mts",), ".cjs": (".cts",), ".jsx": (".tsx",)}


def resolved(project: Project, path: str, module: str) -> str | None:
    """The file of the repository that an import means; None for a package from outside."""
    if module.startswith("."):
        return at(project, joined(folder_of(path), module))
    return next((found for place in places(project, path, module) if (found := at(project, place))), None)


def at(project: Project, target: str) -> str | None:
    """The file at a path that may lack its suffix."""
    stem, dot, suffix = target.rpartition(".")
    spelt = [f"{stem}{other}" for other in COMPILED.get(dot + suffix, ())]
    found = (one for one in (*(f"{target}{ending}" for ending in ENDINGS), *spelt) if one in project.paths)
    return next(found, None)


def linked(project: Project, path: str, facts: dict[str, Any]) -> tuple[str, ...]:
    """Files that a file imports and that serve tests; worked out once for all runners."""
    known: dict[str, tuple[str, ...]] = project.shared.setdefault("javascript links", {})
    if path not in known:
        found = ((module, resolved(project, path, module)) for module in facts.get("imports", ()) if is_own(module))
        known[path] = tuple(
            target for module, target in found if target not in (None, path) and SERVING.search(f"{module} {target}")
        )
    return known[path]


def reached(project: Project, paths: Iterable[str], facts: FactsByPath) -> Iterator[str]:
    """Files that files import, those that these import, and so on, each once."""
    todo = list(paths)
    seen = set(todo)
    while todo:
        path = todo.pop()
        for target in linked(project, path, facts[path]) if path in facts else ():
            if target not in seen:
                seen.add(target)
                todo.append(target)
                yield target


def lent(project: Project, path: str, facts: FactsByPath) -> dict[str, Origin]:
    """What the names mean that a file borrows from others to register tests by."""
    borrowed = facts[path].get("borrowed", {})
    origins = ((name, origin(project, path, module, there, facts)) for name, (module, there) in borrowed.items())
    return {name: found for name, found in origins if found is not None}


def origin(
    project: Project, path: str, module: str, name: str, facts: FactsByPath, steps: int = STEPS
) -> Origin | None:
    """Follow one name through the files that hand it on."""
    target = resolved(project, path, module)
    if target is None or target not in facts or steps <= 0:
        return None
    exports = facts[target].get("exports", {})
    found = exports.get(name)
    if isinstance(found, list):
        root, modifiers, makes, title = found
        return root, tuple(modifiers), makes, title
    if isinstance(found, dict):
        return origin(project, target, found["from"], found["name"], facts, steps - 1)
    if "*" in exports:
        return origin(project, target, exports["*"], name, facts, steps - 1)
    return (name, (), False, 0) if name in KNOWN else None
