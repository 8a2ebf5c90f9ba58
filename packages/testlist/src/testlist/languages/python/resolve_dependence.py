"""What the rows of a Python module depend on: the modules that its names come from, and those behind these."""

from collections.abc import Callable, Iterable, Iterator
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


def links(project: Project) -> Callable[[str, Facts], Iterable[str]]:
    """Modules that an import names, each package on the way, and what a dotted name may reach through it."""
    resolver = project.once(Resolver.of)
    names = resolver.names({})
    called: dict[str, list[str]] = {}
    for path in project.paths:
        if path.endswith(".py"):
            called.setdefault(_called(path), []).append(path)
    return lambda path, facts: _links(names, called, path, facts)


def _links(names: Names, called: dict[str, list[str]], path: str, facts: Facts) -> Iterator[str]:
    heads = set[str]()
    dotted = set[str]()
    for item in _items(facts.get("body", ())):
        if item.get("k") in ("import", "star"):
            found = list(_sources(names, path, item))
            yield from found
            if found and item["k"] == "import":
                heads.add(item["name"])
        else:
            dotted.update(one for one in _texts(item) if "." in one)
    for one in dotted:
        head, *rest = one.split(".")
        if head in heads:  # a package may have been imported whole
            yield from (target for word in rest for target in called.get(word, ()))


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
