"""The walk through one body of C#, which is parsed alone: what the grammar trips over costs no other method."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import Reading
from testlist.languages.csharp.checks_calls import asserted, custom, owned
from testlist.languages.csharp.checks_chains import demanded, fluent, should
from testlist.languages.csharp.checks_conditions import CSharpFailures
from testlist.languages.csharp.checks_links import CALL, CHAINED, Link, links_of, plain
from testlist.languages.csharp.vocabulary_chains import SHOULD
from testlist.languages.csharp.vocabulary_checks import OWNERS
from testlist.sandbox.syntax import line, named

LOCAL: Final = "local_function_statement"
#: deeper trees are given up
DEEPEST: Final = 300


@dataclass(slots=True)
class Body:
    """One body.  row: of the file where its text begins; own: names of methods and types that the file declares.

    value_first: see checks_calls.asserted.
    """

    row: int
    own: frozenset[str]
    value_first: bool | None
    reading: Reading = field(default_factory=Reading)
    failures: CSharpFailures = field(init=False)

    def __post_init__(self) -> None:
        """Begin without a failure."""
        self.failures = CSharpFailures(self.own)

    def walk(self, node: Node, depth: int) -> None:
        """Read what is in it: each chain of calls once, and what is given to its links after it."""
        if depth > DEEPEST:
            return
        before = self.reading.nested
        self.reading.nested = before or node.type == LOCAL
        parts = list(named(node))
        for check in self.failures.checks(node, self.row):
            self.reading.add(check)
        if node.type in CHAINED:
            begin, links = links_of(node)
            is_covered = node.id in self.failures.covered
            for check in self.checks(begin, links, line(node) + self.row) if not is_covered else ():
                self.reading.add(check)
            if (name := called(begin, links)) is not None:
                self.reading.calls[name] = None
            given = (link.node.child_by_field_name("arguments") for link in links if link.called)
            first = list(named(begin)) if begin.type in CHAINED else [begin]
            parts = [*first, *filter(None, given)]
        for part in parts:
            self.walk(part, depth + 1)
        self.reading.nested = before

    def checks(self, begin: Node, links: Sequence[Link], where: int) -> Iterator[CheckFact]:
        """The checks of one chain."""
        owner, link = owned(begin, links)
        if link is not None:
            if owner not in self.own:
                yield from asserted(owner, link, where, value_first=self.value_first)
            return
        if any(one.word == SHOULD for one in links):
            yield from fluent(links, where)
        elif any(one.word.startswith(SHOULD) for one in links) or plain(begin) == SHOULD:
            yield from should(begin, links, where, self.own)
        yield from demanded(links, where)
        yield from custom(begin, links, where, self.own)


def called(begin: Node, links: Sequence[Link]) -> str | None:
    """The method that a chain begins with, as methods of the file are named."""
    if begin.type == CALL:
        name = plain(begin.child_by_field_name("function"))
        return f"self.{name}" if name else None
    first = links[0] if links else None
    if first is None or not first.called or not first.word:
        return None
    owner = plain(begin) or begin.type
    if owner == "this":
        return f"self.{first.word}"
    return f"{owner}.{first.word}" if owner[:1].isupper() and owner not in OWNERS else None
