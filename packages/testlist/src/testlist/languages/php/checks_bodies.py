"""The walk through one body of PHP: each chain of calls is read once, and what is given to its links after it."""

from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import Reading
from testlist.languages.php.checks_calls import (
    CHAINED,
    Link,
    arguments,
    asserted,
    is_own,
    links_of,
    meaning_of,
    plain,
    received,
)
from testlist.languages.php.checks_chains import demanded, expected, is_handed, thrown
from testlist.languages.php.checks_conditions import FUNCTION, STATIC, PhpFailures, conditions
from testlist.languages.php.vocabulary_checks import PRINTS
from testlist.sandbox.syntax import line, named

INNER: Final = frozenset({"function_definition", "method_declaration"})
#: what begins an expectation of Pest; what begins a test of it, or gives the one that runs
EXPECT: Final = "expect"
TESTS: Final = frozenset({"it", "test", "arch"})
#: what PHP itself has
ASSERT: Final = "assert"
#: deeper trees are given up
DEEPEST: Final = 300


def walk(node: Node, reading: Reading, own: frozenset[str]) -> None:
    """Read what is in a body.  own: names of checks that the file declares itself."""
    _walk(node, reading, PhpFailures(own), 0)


def _walk(node: Node, reading: Reading, failures: PhpFailures, depth: int) -> None:
    if depth > DEEPEST:
        return
    before = reading.nested
    reading.nested = before or node.type in INNER
    parts = list(named(node))
    for check in failures.checks(node):
        reading.add(check)
    if node.type in CHAINED or node.type in (FUNCTION, STATIC):
        begin, links = links_of(node)
        for check in _checks(begin, links, failures.own) if node.id not in failures.covered else ():
            _add(reading, check)
        if (name := _called(begin, links, failures.own)) is not None:
            reading.calls[name] = None
        given = (link.node.child_by_field_name("arguments") for link in links)
        first = list(named(begin)) if begin.type in (FUNCTION, STATIC) else [begin]
        parts = [*first, *filter(None, given)]
    for part in parts:
        _walk(part, reading, failures, depth + 1)
    reading.nested = before


def _add(reading: Reading, check: CheckFact) -> None:
    """Note a check; an expected exception and its message, which are two statements, are one."""
    last = reading.checks[-1] if reading.checks else None
    if last is not None and _are_one(last, check):
        last.update(check | {"line": last["line"]})
    else:
        reading.add(check)


def _are_one(last: CheckFact, check: CheckFact) -> bool:
    both = (last, check)
    if any(one["relation"] != "raises" or "subject" in one or "negated" in one for one in both):
        return False
    return sum("message" in one for one in both) == 1 and sum("expected" in one for one in both) == 1


def _checks(begin: Node, links: Sequence[Link], own: frozenset[str]) -> Iterator[CheckFact]:
    """The checks of one chain, in order."""
    name = plain(begin)
    if begin.type == FUNCTION and name == EXPECT:
        yield from expected(next(iter(arguments(begin)), None), links)
        return
    if begin.type == FUNCTION and name in TESTS:
        yield from expected(None, links)
        yield from thrown(links)
    elif is_handed(begin, links):
        yield from expected(begin, links)
    elif begin.type == FUNCTION and name == ASSERT and (given := arguments(begin)):
        yield from conditions(given[0], line(begin))
    elif begin.type in (FUNCTION, STATIC) and (check := _first(begin, name, own)) is not None:
        yield check
    yield from _linked(begin, links, own, is_test=is_own(begin) or (begin.type == FUNCTION and name in TESTS))
    yield from demanded(begin, links)


def _first(call: Node, name: str, own: frozenset[str]) -> CheckFact | None:
    """`assertSame(…)` as a function, and `self::assertSame(…)`."""
    if call.type == FUNCTION:
        return asserted(call, name, line(call)) if meaning_of(name) is not None else None
    scope = call.child_by_field_name("scope")
    if is_own(scope):
        return None if name in own else asserted(call, name, line(call))
    if scope is None or not name.startswith(ASSERT):
        return None
    return received(Link(call, name, called=True), scope)


def _linked(begin: Node, links: Sequence[Link], own: frozenset[str], *, is_test: bool) -> Iterator[CheckFact]:
    """Checks of methods: of the test itself first, then of what it holds."""
    holder = begin
    for number, link in enumerate(links):
        is_first = is_test and holder is begin
        if is_first and link.called and number == 0 and link.name in own:
            holder = link.node
        elif is_first and link.called and (check := asserted(link.node, link.name, link.line)) is not None:
            yield check
        elif link.called and (link.name.startswith(ASSERT) or link.name in PRINTS):
            yield received(link, holder)
        else:
            holder = link.node


def _called(begin: Node, links: Sequence[Link], own: frozenset[str]) -> str | None:
    """The function that a chain begins with, as functions of the file are named."""
    name = plain(begin)
    if begin.type == FUNCTION:
        return name or None
    if begin.type == STATIC:
        scope = plain(begin.child_by_field_name("scope"))
        if scope in ("self", "static"):
            return f"self.{name}"
        return f"{scope}.{name}" if scope and name and scope != "parent" else None
    if is_own(begin) and links and links[0].called and links[0].name:
        return f"self.{links[0].name}" if links[0].name in own or meaning_of(links[0].name) is None else None
    return None
