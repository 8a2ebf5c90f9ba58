"""What the rows of a Scala file depend on: what all classes are built on, and methods that pass tests on.

Tests count where they are written, so those of one file mean nothing to another; but those in a file that is read only
for its classes are listed with the files that lead to it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from testlist.kit.dependence import every
from testlist.languages.scala.config import is_candidate
from testlist.languages.scala.resolve import Resolver
from testlist.languages.scala.shape import ClassFact, shape
from testlist.model import Facts
from testlist.project import Project

#: imports by which a file speaks of a framework
SPOKEN: Final = re.compile(r"\b(?:scalatest|scalatestplus|munit|specs2|utest|weaver|scalacheck|zio\.test)\b")


def leads(facts: Facts) -> object:
    """Classes by their names, and what they are built on: files are found by these names."""
    return [(one["name"], one.get("bases")) for one in every(shape(facts).get("classes", ()))]


def outline(facts: Facts) -> object:
    """Its classes without what they declare, with those imports that their bases and annotations may come from."""
    own = shape(facts)
    classes = own.get("classes", [])
    used = {name.partition(".")[0] for one in every(classes) for name in _named(one)}
    imports = own.get("imports", [])
    # a name may be imported by a part of itself: `import org.apache.pekko`, `import pekko.testkit.PekkoSpec`
    used |= {dotted.partition(".")[0] for dotted, _ in imports}
    kept = [one for one in imports if (classes and (one[1] == "*" or one[1] in used)) or SPOKEN.search(one[0])]
    return kept, [_class(one) for one in classes]


def links(project: Project) -> Callable[[str, Facts], Iterable[str]]:
    """Files that are read for their classes alone, of all that a file leads to."""
    resolver = project.once(Resolver.of)
    names = resolver.known(project.facts).names
    apart = {path for path in project.facts if not is_candidate(path)}
    simple = {one.item["name"]: one.path for path in sorted(apart & names.files.keys()) for one in names.all(path)}
    return lambda path, facts: _links(path, facts, simple)


def _links(path: str, facts: Facts, simple: dict[str, str]) -> Iterator[str]:
    for one in every(shape(facts).get("classes", ())):
        for base in one.get("bases", ()):
            target = simple.get(base.rpartition(".")[2], path)
            if target != path:
                yield target


def _named(one: ClassFact) -> Iterator[str]:
    """What a class is built on, and the annotations in it."""
    yield from one.get("bases", ())
    for method in one.get("methods", ()):
        yield from method.get("marks", ())


def _class(one: ClassFact) -> tuple[Any, ...]:
    return (
        one["k"],
        one["name"],
        one.get("package"),
        one.get("bases"),
        one.get("abstract"),
        one.get("asks"),
        one.get("marks"),
        one.get("passes"),
        sorted({mark for method in one.get("methods", ()) for mark in method.get("marks", ())}),
        [_class(inner) for inner in one.get("classes", ())],
    )
