"""What the rows of a Python module depend on: the modules that its names come from, and those behind these."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any, Final

from testlist.languages.python.resolve import Resolver
from testlist.languages.python.resolve_names import Names
from testlist.model import Facts
from testlist.project import Project

#: where an item stands
PLACES: Final = frozenset({"line", "column", "end"})


def leads(facts: Facts) -> object:
    """Its items without their places, and without methods that lead nowhere: those that no decorator stands above."""
    return [_unplaced(item) for item in facts.get("body", ())]


def outline(facts: Facts) -> object:  # noqa: ARG001 - the interface has it
    """Nothing: no module has anything from another that it does not name."""
    return None


def links(project: Project) -> Callable[[str, Facts], Iterable[str]] | None:
    """Modules that an import names, each package on the way, and all that are called like a part of a dotted name.

    None where modules take all names from each other in a circle: what they have depends on where one begins.
    """
    names = project.once(Resolver.of).names(project.facts)
    if _has_circle({path: set(names.stars(path)) for path in project.facts}):
        return None
    called: dict[str, list[str]] = {}
    for path in project.facts:
        if path.endswith(".py"):
            called.setdefault(_called(path), []).append(path)
    return lambda path, facts: _links(names, called, path, facts)


def _has_circle(stars: Mapping[str, set[str]]) -> bool:
    """Whether taking away all that leads nowhere leaves something."""
    left = {path: targets for path, targets in stars.items() if targets}
    while True:
        open_ended = {path for path, targets in left.items() if not targets & left.keys()}
        if not open_ended:
            return bool(left)
        left = {path: targets for path, targets in left.items() if path not in open_ended}


def _links(names: Names, called: Mapping[str, list[str]], path: str, facts: Facts) -> Iterator[str]:
    words = set[str]()
    for item in _items(facts.get("body", ())):
        if item.get("k") in ("import", "star"):
            yield from _sources(names, path, item)
        else:
            words.update(word for one in _texts(item) if "." in one for word in one.split(".")[1:])
    for word in words:  # whatever stands before it: a package may have been imported whole, elsewhere, or be no file
        yield from called.get(word, ())


def _sources(names: Names, path: str, item: dict[str, Any]) -> Iterator[str]:
    words = [item["module"], *filter(None, [item.get("of")])]
    dotted = ".".join(filter(None, words)).split(".") if any(words) else [""]
    for module in ("", *accumulate(dotted, lambda left, right: f"{left}.{right}")):
        source = names.locate(path, module, item["level"]) if module or item["level"] else None
        if source is not None:
            yield source


def _items(value: object) -> Iterator[dict[str, Any]]:
    """Every item of a module, those of its classes and functions as well."""
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, list):
            todo += one
        elif isinstance(one, dict):
            yield one
            todo += one.values()


def _texts(item: dict[str, Any]) -> Iterator[str]:
    """Texts that stand in an item itself, in lists of any depth."""
    todo = [value for value in item.values() if isinstance(value, str | list)]
    while todo:
        one = todo.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list):
            todo += one


def _unplaced(item: dict[str, Any]) -> dict[str, Any]:
    found = {key: value for key, value in item.items() if key not in PLACES}
    if "marks" in item:
        found["marks"] = [mark[0] for mark in item["marks"]]
    if "body" in item:
        found["body"] = [_unplaced(inner) for inner in item["body"] if inner["k"] != "def" or "marks" in inner]
    return found


def _called(path: str) -> str:
    """What a module is called where it is imported."""
    folder, _, name = path.rpartition("/")
    return folder.rpartition("/")[2] if name == "__init__.py" else name.removesuffix(".py")
