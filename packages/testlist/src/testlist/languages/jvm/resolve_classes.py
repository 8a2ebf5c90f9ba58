"""What a class of the JVM is by the chain of its bases, and whether a runner can run it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from testlist.kit.hierarchy import descent
from testlist.languages.jvm.resolve_names import Found, Names
from testlist.languages.jvm.resolve_specifications import Specifications
from testlist.languages.jvm.shape import ClassFact, MethodFact

LONGEST: Final = 64  # classes a class is resolved through
#: ends of the names of bases outside the repository that make a class a JUnit 3 case or a specification of Spock
CASE: Final = "TestCase"
SPECIFICATIONS: Final = ("Specification", "Spec")
SPOCK: Final = "spock.lang.Specification"
#: classes of the runners themselves, which a runner's own repository declares
CASES: Final = frozenset({"junit.framework.TestCase", "groovy.util.GroovyTestCase", "groovy.test.GroovyTestCase"})
ROOTS: Final = CASES | {SPOCK}
#: a class, and what its superclass outside the repository may be called, likeliest first
Outside = tuple[Found, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Nature:
    """One class."""

    order: tuple[Found, ...]  # itself and its bases in the repository, nearest first
    case: bool = False  # a JUnit 3 case
    known: bool = False  # surely so, and not by the name of a base alone
    specification: bool = False  # Spock
    style: str = ""  # of a specification whose tests are calls
    many: bool = False  # run with parameters
    runner: bool = False  # names a runner of JUnit 4


@dataclass(slots=True)
class Natures:
    """Every class that was asked for."""

    names: Names
    specifications: Specifications
    known: dict[tuple[str, tuple[str, ...], int], Nature] = field(default_factory=dict)

    def of(self, found: Found) -> Nature:
        """What a class is."""
        key = (found.path, found.names, found.item["line"])
        if key not in self.known:
            self.known[key] = judged(*self.chain(found), self.specifications)
        return self.known[key]

    def chain(self, found: Found) -> tuple[list[Found], list[Outside]]:
        """A class and its bases in the repository, nearest first, and the superclasses outside."""
        order = descent(found, self.bases, lambda one: id(one.item), LONGEST)
        return order, [(one, names) for one in order for names in self.outside(one)]

    def bases(self, found: Found) -> Iterator[Found]:
        """Direct bases in the repository."""
        meanings = (self.names.meaning(found.scope, base) for base in found.item.get("bases", ()))
        return (one for one in meanings if isinstance(one, Found))

    def outside(self, found: Found) -> Iterator[tuple[str, ...]]:
        """What a superclass outside of the repository may be called."""
        parent = found.item.get("super")
        if parent and not isinstance(meaning := self.names.meaning(found.scope, parent), Found):
            yield meaning


def judged(order: Sequence[Found], outside: Sequence[Outside], specifications: Specifications) -> Nature:
    """Judge what a class is by its bases outside the repository and the annotations of all."""
    last = {meaning[0].rpartition(".")[2] for _, meaning in outside if meaning}
    groovy = any(one.path.endswith(".groovy") for one, _ in outside)
    said = [
        (mark[0].rpartition(".")[2], mark[1]) for one in order for mark in one.item.get("marks", []) if len(mark) > 1
    ]
    provided = any(name == "TestMethodProviders" and "JUnit3" in text for name, text in said)
    return Nature(
        order=tuple(order),
        known=any(CASES & set(meaning) for _, meaning in outside),
        case=provided or any(name.endswith(CASE) for name in last),
        specification=any(SPOCK in meaning for _, meaning in outside)
        or (groovy and any(name.endswith(SPECIFICATIONS) for name in last)),
        style=specifications.style(last),
        many=any(name == "RunWith" and "Parameterized" in text for name, text in said),
        runner=any(name == "RunWith" for name, _ in said),
    )


def is_concrete(found: Found) -> bool:
    """Whether a class has instances, and is not hidden in another."""
    mods = set(found.item.get("mods", ()))
    refused = mods & {"abstract", "sealed", "expect"} or (found.outer and "private" in mods)
    return found.item["k"] in ("class", "object") and not refused


def runs(found: Found) -> bool:
    """Whether a class can be run by itself: concrete, and no inner class of instances."""
    return is_concrete(found) and not (found.outer and is_inner(found))


def is_inner(found: Found) -> bool:
    """Whether instances of a nested class belong to one of the outer class."""
    mods = found.item.get("mods", ())
    if found.path.endswith(".kt"):
        return "inner" in mods
    return "static" not in mods and found.outer[-1].item["k"] not in ("interface", "annotation")


def is_nested(item: ClassFact) -> bool:
    """`@Nested`."""
    return item["k"] == "class" and any(mark[0].rpartition(".")[2] == "Nested" for mark in item.get("marks", []))


def is_public(found: Found, method: MethodFact) -> bool:
    """Whether a method can be called from anywhere; only Java requires a modifier for that."""
    mods = method.get("mods", ())
    if found.path.endswith(".java") and found.item["k"] != "interface":
        return "public" in mods
    return "private" not in mods and "protected" not in mods
