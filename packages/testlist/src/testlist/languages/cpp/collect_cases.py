"""Rows of Objective-C: methods of test cases, and examples."""

from collections.abc import Callable, Iterator, Sequence

from testlist.kit.rows import row
from testlist.languages.cpp.resolve_cases import Cases
from testlist.languages.cpp.shape import ExampleFact, MethodFact, shape
from testlist.languages.cpp.vocabulary_objc import EITHER
from testlist.model import FactsByPath, Test

#: rows of one framework in one repository
Collect = Callable[[Cases, Sequence[str], FactsByPath], Iterator[Test]]


def cases(framework: str) -> Collect:
    """Rows of methods, below the class whose implementation they are in."""

    def collect(known: Cases, owned: Sequence[str], facts: FactsByPath) -> Iterator[Test]:
        known.learn(facts)
        for path in owned:
            known.project.beat()
            for method in shape(facts[path]).get("methods", ()):
                if known.is_case(method["owner"]):
                    yield _row(framework, path, [method["owner"]], method)

    return collect


def examples(framework: str) -> Collect:
    """Rows of examples, below the titles around them."""

    def collect(known: Cases, owned: Sequence[str], facts: FactsByPath) -> Iterator[Test]:
        for path in owned:
            known.project.beat()
            found = shape(facts[path])
            for example in found.get("examples", ()):
                owner = example["owner"] if example["owner"] != EITHER else known.owner_of(found, facts)
                if owner == framework:
                    yield _row(framework, path, example["suites"], example, dynamic=example.get("dynamic", False))

    return collect


def _row(
    framework: str, path: str, suites: Sequence[str], fact: MethodFact | ExampleFact, *, dynamic: bool = False
) -> Test:
    status = fact.get("status", "active")
    return row(framework, path, suites, fact["name"], fact, status=status, dynamic=dynamic, depends="when" in fact)
