"""PHP classes across the files of a repository, and the methods that PHPUnit would find in them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from testlist.kit.hierarchy import descent
from testlist.languages.php.shape import ClassFact, MethodFact, shape
from testlist.model import FactsByPath

#: more ancestors and traits than any honest class has
DEPTH: Final = 60
ROOTS: Final = frozenset({"phpunit\\framework\\testcase", "phpunit_framework_testcase"})
#: bases outside the repository that PHPUnit runs; the names end so in nearly every package
OUTSIDE: Final = re.compile(r"(TestCase|Test|TestBase|Test_Case|codeception\\test\\unit)$", re.IGNORECASE)
#: frameworks of their own whose classes are called alike
FOREIGN: Final = ("tester\\", "simpletest\\")


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A class or a trait."""

    path: str
    item: ClassFact


@dataclass(frozen=True, slots=True)
class Method:
    """A method that may be a test.  owner: the class or the trait that declares it."""

    path: str
    item: MethodFact
    owner: str


@dataclass(slots=True)
class Classes:
    """All classes and traits read so far.

    named: full name in lower case -> where it is declared.  mentioned: bases and traits.  looked: files that are in it.
    """

    named: dict[str, Found] = field(default_factory=dict)
    mentioned: set[str] = field(default_factory=set)
    looked: set[str] = field(default_factory=set)

    def learn(self, facts: FactsByPath) -> "Classes":
        """Add the classes of files that are new; of several with one name the first file's counts."""
        for path in facts.keys() - self.looked if len(facts) != len(self.looked) else ():
            self.looked.add(path)
            for item in shape(facts[path]).get("classes", ()) if path.endswith(".php") else ():
                name = item["full"].lower()
                if name not in self.named or path < self.named[name].path:
                    self.named[name] = Found(path, item)
                self.mentioned.update(item["bases"], item["traits"])
        return self

    def order(self, found: Found) -> list[Found]:
        """A class, its traits and its ancestors with theirs, in the order in which methods are looked up."""
        return descent(found, self.inherited, lambda one: id(one.item), DEPTH)

    def inherited(self, found: Found) -> Iterator[Found]:
        """Traits and the parent of a class, as far as the repository declares them."""
        for name in [*found.item["traits"], *found.item["bases"]][-DEPTH:]:
            if name.lower() in self.named:
                yield self.named[name.lower()]

    def is_case(self, order: list[Found]) -> bool:
        """Whether the ancestors end in a TestCase."""
        bases = [base.lower() for found in order for base in found.item["bases"]]
        outside = (base for base in bases if base not in self.named)
        return any(base in ROOTS for base in bases) or any(
            OUTSIDE.search(base) and not base.startswith(FOREIGN) for base in outside
        )

    def methods(self, order: list[Found]) -> Iterator[Method]:
        """Test methods as the class itself would find them."""
        seen: set[str] = set()
        for found in order:
            for item in found.item["methods"]:
                name = item["name"].lower()
                if name not in seen:
                    seen.add(name)
                    if "abstract" not in item:
                        yield Method(found.path, item, found.item["name"])


def loaded(path: str, items: list[ClassFact]) -> list[ClassFact]:
    """Classes of a file that PHPUnit takes: the one called like the file; if none is, all of them."""
    stem = path.rpartition("/")[2].removesuffix(".php").lower()
    concrete = [item for item in items if "trait" not in item]
    called = [item for item in concrete if item["name"].lower() == stem]
    ending = [item for item in concrete if item["name"].lower().endswith(f"_{stem}")]
    return [item for item in called[:1] or ending[:1] or concrete if "abstract" not in item]
