"""Rows of Swift: the functions of a file that a framework takes for tests."""

from collections.abc import Callable, Iterator, Sequence

from testlist.kit.rows import row
from testlist.languages.swift.resolve import Resolver
from testlist.languages.swift.shape import FunctionFact, shape
from testlist.model import FactsByPath, Test

#: whether a function is a test of one framework
IsTest = Callable[[Resolver, FunctionFact], bool]


def collect(
    framework: str, is_test: IsTest, resolver: Resolver, owned: Sequence[str], facts: FactsByPath
) -> Iterator[Test]:
    """Rows of one framework."""
    resolver.learn(facts)
    for path in owned:
        resolver.project.beat()
        for function in shape(facts[path]).get("functions", ()):
            if is_test(resolver, function):
                yield of(framework, path, function, resolver)


def of(framework: str, path: str, function: FunctionFact, resolver: Resolver) -> Test:
    """One row; status and conditions of the types around a test apply to it."""
    outer = function["outer"]
    return row(
        framework,
        path,
        outer,
        function["name"],
        function,
        status=function.get("status") or ("skipped" if resolver.skips(outer) else "active"),
        dynamic=function.get("dynamic", False),
        cases=function.get("cases"),
        depends="when" in function or resolver.depends(outer),
    )
