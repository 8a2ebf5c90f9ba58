"""Classes and modules of a repository: which end in a test case, and which are mixed into one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from testlist.model import Facts

Item = dict[str, Any]
#: ends of names that a base class outside the repository has
CASES: Final = ("TestCase", "Test")
SPECS: Final = frozenset({"Minitest::Spec", "MiniTest::Spec", "Spec"})
#: classes of frameworks that repositories add to
REOPENED: Final = frozenset(
    {"Minitest::Test", "Minitest::Spec", "Test::Unit::TestCase", "ActiveSupport::TestCase",
     "ActionController::TestCase", "ActionDispatch::IntegrationTest"}
)  # fmt: skip
#: a base that is the class around
SELF: Final = "self"
#: more steps than any honest hierarchy has
STEPS: Final = 30
#: classes of one last name that are compared
RIVALS: Final = 64


@dataclass(slots=True)
class Classes:
    """By full name: bases and mixed in modules of all definitions of a class."""

    bases: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # full name -> (namespace, base)
    mixed: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # full name -> (namespace, module)
    by_last: dict[str, list[str]] = field(default_factory=dict)
    verdicts: dict[str, bool] = field(default_factory=dict)
    in_tests: set[str] | None = None

    @classmethod
    def of(cls, facts: Mapping[str, Facts]) -> "Classes":
        """Collect from files read."""
        classes = cls()
        for path in sorted(facts):
            classes.add(facts[path].get("items", []), "")
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
                if item["name"] and item.get("base"):
                    self.bases[name].append((namespace, item["base"]))
                self.add(item["body"], name)
            elif item["k"] == "mix":
                self.mixed.setdefault(namespace, []).extend((namespace, one) for one in item["names"])
            elif "body" in item:
                self.add(item["body"], namespace)

    def knows(self, name: str) -> bool:
        """Whether the repository defines a class of this name, as far as it has been read."""
        return name.rpartition("::")[2] in self.by_last

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
            return self._is_base(namespace, base, 0)
        full = within(namespace, name)
        return full in REOPENED or (bool(name) and self._is_class(full, 0))

    def _is_base(self, namespace: str, base: str, steps: int) -> bool:
        full = self.resolve(namespace, base)
        if full is not None and (self.bases[full] or not is_test_name(base)):
            return self._is_class(full, steps + 1)
        return is_test_name(base)

    def _is_class(self, full: str, steps: int) -> bool:
        if full not in self.verdicts:
            if steps > STEPS:
                return False
            self.verdicts[full] = False  # a class cannot be its own base, but hostile text may say so
            self.verdicts[full] = any(self._is_base(space, base, steps) for space, base in self.bases.get(full, []))
        return self.verdicts[full]

    def is_mixed(self, full: str) -> bool:
        """Whether a module is mixed into a test case, directly or through another module."""
        if self.in_tests is None:
            self.in_tests = set()
            todo = [name for name in self.mixed if self._is_class(name, 0) or not name]
            while todo:
                for space, module in self.mixed.get(todo.pop(), []):
                    if (found := self.resolve(space, module)) is not None and found not in self.in_tests:
                        self.in_tests.add(found)
                        todo.append(found)
        return full in self.in_tests


def within(namespace: str, name: str) -> str:
    """Full name."""
    return f"{namespace}::{name}" if namespace and name else namespace or name


def is_test_name(name: str) -> bool:
    """Whether a base class from outside is a test case, by its name."""
    return name.endswith(CASES) or name in SPECS


def bases(items: list[Item]) -> Iterator[str]:
    """Names of base classes in a file."""
    for item in items:
        if item["k"] == "class" and item.get("base"):
            yield item["base"]
        elif item["k"] == "mix":
            yield from item["names"]
        if "body" in item:
            yield from bases(item["body"])
