"""What the rows of a file of the JVM depend on: the classes of all files, and the members of those it is built on."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from testlist.kit.dependence import every
from testlist.languages.jvm.resolve import Resolver, jvm_only
from testlist.languages.jvm.resolve_names import Found, Names
from testlist.languages.jvm.shape import ClassFact, Import, shape
from testlist.model import Facts
from testlist.project import Project


def leads(facts: Facts) -> object:
    """Its classes, and the annotations of their methods."""
    own = shape(facts)
    methods = (method for one in every(own.get("classes", ())) for method in one.get("methods", ()))
    marks = {mark[0] for method in methods for mark in method.get("marks", ())}
    return outline(facts), marks, _meant(own.get("imports", []), {mark.partition(".")[0] for mark in marks})


def outline(facts: Facts) -> object:
    """Its classes without methods, calls and places, with those imports that their names come from."""
    own = shape(facts)
    classes = own.get("classes", [])
    used = {name.partition(".")[0] for one in every(classes) for name in _named(one)}
    return own.get("package"), [_class(one) for one in classes], _meant(own.get("imports", []), used)


def links(project: Project) -> Callable[[str, Facts], Iterable[str]]:
    """Files of bases, by what its classes are now: they were the same where outlines are equal.

    What annotations mean is in outlines.
    """
    names = project.once(Resolver.of).names
    names.learn(jvm_only(project.facts))
    return lambda path, _facts: _links(names, path) if path in names.facts else ()


def _links(names: Names, path: str) -> Iterator[str]:
    for found in names.all(path):
        for base in found.item.get("bases", ()):
            meaning = names.meaning(found.scope, base)
            if isinstance(meaning, Found) and meaning.path != path:
                yield meaning.path


def _named(one: ClassFact) -> Iterator[str]:
    """What a class is built on, and its annotations."""
    yield from one.get("bases", ())
    yield from (mark[0] for mark in one.get("marks", ()))


def _class(one: ClassFact) -> tuple[Any, ...]:
    return (
        one["k"],
        one["name"],
        one.get("mods"),
        one.get("marks"),
        one.get("super"),
        one.get("bases"),
        [_class(inner) for inner in one.get("classes", ())],
    )


def _meant(imports: Sequence[Import], used: set[str]) -> list[Import]:
    """Imports that give one of these names, and those that may give any."""
    return [one for one in imports if one[1] == "*" or one[1] in used]
