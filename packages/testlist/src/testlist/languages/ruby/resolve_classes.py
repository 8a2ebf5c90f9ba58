"""Classes and modules of a repository: which end in a test case, and which are mixed into one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from testlist.kit.hierarchy import Hierarchy
from testlist.languages.ruby.shape import Item, RubyFacts

#: ends of names that a base class outside the repository has
CASES: Final = ("TestCase", "Test")
SPECS: Final = frozenset({"Minitest::Spec", "MiniTest::Spec", "Spec"})
#: classes of frameworks that repositories add to
REOPENED: Final = frozenset(
    {"Minitest::Test", "Minitest::Spec", "Test::Unit::TestCase", "ActiveSupport::TestCase",
     "ActionController::TestCase", "ActionDispatch::IntegrationTest"}
)  # fmt: skip
#: what stands for all of them in a hierarchy; no class is called so
CASE: Final = "<test case>"
#: a base that is the class around
SELF: Final = "self"
#: classes of one last name that are compared
RIVALS: Final = 64


@dataclass
class Classes:
    """Bases and mixed in modules of all definitions of a class, by its full name."""

    bases: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # full name -> (namespace, base)
    mixed: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # full name -> (namespace, module)
    by_last: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, files: Iterable[RubyFacts]) -> "Classes":
        """Collect from files read, in the order of their paths."""
        classes = cls()
        for facts in files:
            classes.add(facts.get("items", []), "")
        for names in classes.by_last.values():
            names.sort()
        return classes

    def add(self, items: list[Item], namespace: str) -> None:
        """Add what a body defines."""
        for item in items:
            if item["k"] in ("class", "module"):
                name = within(namespace, item["name"])
                if name not in self.bases:
                    self.bases[name] = []
                    self.by_last.setdefault(name.rpartition("::")[2], []).append(name)
                if item["k"] == "class" and item["name"] and (base := item.get("base")):
                    self.bases[name].append((namespace, base))
                self.add(item["body"], name)
            elif item["k"] == "mix":
                self.mixed.setdefault(namespace, []).extend((namespace, one) for one in item["names"])
            elif item["k"] in ("macro", "call"):
                self.add(item.get("body", []), namespace)

    def resolve(self, namespace: str, name: str) -> str | None:
        """Full name of what a name means inside a namespace; None for something from outside."""
        if name == SELF:
            return namespace if namespace in self.bases else None
        outer = namespace
        while True:
            if (full := within(outer, name)) in self.bases:
                return full
            if not outer:
                break
            outer = outer.rpartition("::")[0]
        ends = f"::{name}"
        return next(
            (one for one in self.by_last.get(name.rpartition("::")[2], [])[:RIVALS] if one.endswith(ends)), None
        )

    def is_test(self, namespace: str, name: str, base: str | None) -> bool:
        """Whether a class ends in a test case.  base: as this definition has it, which may be none."""
        if base is not None:
            return self.cases.ends(self.target(namespace, base))
        full = within(namespace, name)
        return full in REOPENED or (bool(name) and self.cases.ends(full))

    @cached_property
    def cases(self) -> Hierarchy:
        """What all classes inherit, by full names."""
        hierarchy = Hierarchy(CASE, lambda _: False)
        for full, bases in self.bases.items():
            hierarchy.declare(full, (self.target(namespace, base) for namespace, base in bases))
        return hierarchy

    def target(self, namespace: str, base: str) -> str:
        """The class that a base stands for; one without bases here may be opened again, so its name decides."""
        full = self.resolve(namespace, base)
        if full is not None and (self.bases[full] or not is_test_name(base)):
            return full
        return CASE if is_test_name(base) else base

    def is_mixed(self, full: str) -> bool:
        """Whether a module is mixed into a test case, directly or through another module."""
        return full in self.in_tests

    @cached_property
    def in_tests(self) -> set[str]:
        """Modules that are mixed into test cases."""
        found: set[str] = set()
        todo = [name for name in self.mixed if not name or self.cases.ends(name)]
        while todo:
            for namespace, module in self.mixed.get(todo.pop(), []):
                if (full := self.resolve(namespace, module)) is not None and full not in found:
                    found.add(full)
                    todo.append(full)
        return found


def within(namespace: str, name: str) -> str:
    """Full name."""
    return f"{namespace}::{name}" if namespace and name else namespace or name


def is_test_name(name: str) -> bool:
    """Whether a base class from outside is a test case, by its name."""
    return name.endswith(CASES) or name in SPECS


def bases(items: Iterable[Item]) -> Iterator[str]:
    """Names of base classes and of modules mixed in, in a file."""
    for item in items:
        if item["k"] == "mix":
            yield from item["names"]
        elif item["k"] == "class" and (base := item.get("base")):
            yield base
        if item["k"] in ("class", "module", "macro", "call"):
            yield from bases(item.get("body", ()))
