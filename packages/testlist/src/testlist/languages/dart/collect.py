"""Rows of Dart: calls that declare tests, below the titles of their groups, and methods of classes of tests."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from testlist.kit.rows import row
from testlist.languages.dart.resolve import Resolver
from testlist.languages.dart.shape import CallFact, ClassFact, shape
from testlist.languages.dart.vocabulary import GROUPS, WIDGETS
from testlist.model import FactsByPath, Test

REFLECTIVE: Final = "test-reflective-loader"
FLUTTER: Final = "flutter-test"


class Around(NamedTuple):
    """What surrounds a call."""

    suites: tuple[str, ...] = ()
    status: str | None = None
    dynamic: bool = False
    when: bool = False


def called(framework: str, resolver: Resolver, paths: Sequence[str], facts: FactsByPath) -> Iterator[Test]:
    """Rows of calls of one framework."""
    for path in paths:
        resolver.project.beat()
        found = shape(facts[path])
        owner = resolver.owner(path, facts) if "calls" in found else None
        todo = [(one, Around((), found.get("status"), when="when" in found)) for one in found.get("calls", ())]
        while todo and owner is not None:
            one, around = todo.pop()
            meaning = resolver.meaning(one["word"], found, facts)
            if meaning is None or meaning in GROUPS:
                todo += [(inner, within(one, around, is_group=meaning is not None)) for inner in one.get("calls", ())]
            elif (FLUTTER if meaning in WIDGETS else owner) == framework:
                yield test(framework, path, one, around)


def within(one: CallFact, around: Around, *, is_group: bool) -> Around:
    """What surrounds the calls in a call, which is a group or stands for nothing."""
    dynamic = around.dynamic or (is_group and "dynamic" in one)
    if not is_group:
        return around
    return Around(
        (*around.suites, one["title"]), one.get("status") or around.status, dynamic, around.when or "when" in one
    )


def test(framework: str, path: str, one: CallFact, around: Around) -> Test:
    """One row of a call."""
    return row(
        framework,
        path,
        around.suites,
        one["title"],
        one,
        status=one.get("status") or around.status or "active",
        dynamic=around.dynamic or "dynamic" in one,
        depends=around.when or "when" in one,
    )


def reflected(resolver: Resolver, paths: Sequence[str], facts: FactsByPath) -> Iterator[Test]:
    """Rows of methods."""
    tested = resolver.tested(facts)
    for path in paths:
        resolver.project.beat()
        for one in shape(facts[path]).get("classes", ()):
            if id(one) in tested:
                yield from methods(path, one)


def methods(path: str, one: ClassFact) -> Iterator[Test]:
    """Rows of one class."""
    for method in one["methods"]:
        status = method.get("status") or one.get("status") or "active"
        yield row(REFLECTIVE, path, (one["name"],), method["name"], method, status=status)
