"""What the functions, methods and tests of one PHP file check, and what they call: read from whole files, on demand."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import MOST_FUNCTIONS, BodiesFact, BodyFact, CheckFact
from testlist.kit.checking import Reading
from testlist.kit.passing import settle
from testlist.languages.php.checks_bases import bases_of, imports_of
from testlist.languages.php.checks_bodies import walk
from testlist.languages.php.checks_verdict import surroundings, verdict
from testlist.languages.php.facts_calls import read, title_of
from testlist.languages.php.facts_names import Names
from testlist.model import Facts
from testlist.sandbox.syntax import line, named, parse, text

PHP: Final = "php"
CLASSES: Final = frozenset({"class_declaration", "trait_declaration", "enum_declaration"})
FUNCTIONS: Final = frozenset({"function_definition", "method_declaration"})
#: calls that group Pest's tests
GROUP: Final = "describe"
#: methods that the file gives its tests besides those of PHPUnit
OWN: Final = re.compile(rb"\bfunction\s+&?(assert\w+|expect\w+|fail)\s*\(")
#: what older versions of PHPUnit read above a method
THROWN: Final = re.compile(r"@expectedException[ \t]++([\w\\]++)")
MESSAGE: Final = re.compile(r"@expectedExceptionMessage(?:RegExp)?[ \t]++([^\n*]++)")
#: deeper trees are given up
DEEPEST: Final = 300


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read one file: a BodiesFact."""
    root = parse(source, PHP)
    reader = _Reader(source)
    found: BodiesFact = {"functions": list(islice(reader.functions(root, (), 0, alone=False), MOST_FUNCTIONS))}
    found["imports"], found["bases"] = imports_of(reader.names), reader.bases
    found["unit"] = f"\\{reader.names.namespace}"
    return {**found}


class _Reader:
    """State of one pass.  own: names of checks that the file declares itself; names: see Names, as they are so far.

    bases: of its classes.
    """

    def __init__(self, source: bytes) -> None:
        self.own = frozenset(found.decode() for found in OWN.findall(source))
        self.names = Names()
        self.bases: dict[str, list[str]] = {}
        self.is_bare = surroundings(source)

    def functions(self, node: Node, around: tuple[str, ...], depth: int, *, alone: bool) -> Iterator[BodyFact]:
        """Functions, methods with the classes around them, and calls that register a test with Pest."""
        for child in named(node) if depth < DEEPEST else ():
            inner, is_alone = around, alone
            if child.type == "namespace_definition":
                self.names.enter(child)
            elif child.type == "namespace_use_declaration":
                self.names.learn(child)
            elif child.type in FUNCTIONS:
                yield self.function(child, around, alone=alone)
                continue
            elif child.type in CLASSES:
                inner = (text(child.child_by_field_name("name")),)
                self.bases[inner[0]] = bases_of(child, self.names)
                is_alone = self.is_bare(child, self.names)
            elif child.type == "expression_statement" and _registers(child):
                yield self.registered(child)
                continue
            yield from self.functions(child, inner, depth + 1, alone=is_alone)

    def function(self, node: Node, around: tuple[str, ...], *, alone: bool) -> BodyFact:
        """A function or a method."""
        head, reading = node.child_by_field_name("name") or node, Reading()
        for check in _announced(node):
            reading.add(check)
        body = node.child_by_field_name("body")
        if body is not None:
            walk(body, reading, self.own)
        found = reading.body(".".join((*around, text(head))), head, node)
        if alone and body is not None:
            settle(found, verdict(node, body, self.names, reading.checks))
        return found

    def registered(self, statement: Node) -> BodyFact:
        """A test of Pest; hooks in other files may run around it, so nothing says that it cannot fail."""
        reading = Reading()
        walk(statement, reading, self.own)
        return reading.body(title_of(statement), statement, statement)


def _registers(statement: Node) -> bool:
    """Whether it is a test of Pest."""
    call = next(read(statement, loop=False), None)
    return call is not None and call["root"] != GROUP


def _announced(node: Node) -> Iterator[CheckFact]:
    """`@expectedException` above a method."""
    above = node.prev_named_sibling
    comment = text(above) if above is not None and above.type == "comment" else ""
    if above is not None and (found := THROWN.search(comment)) is not None:
        where = line(above) + comment.count("\n", 0, found.start())
        check: CheckFact = {"line": where, "relation": "raises", "expected": found[1]}
        if (message := MESSAGE.search(comment)) is not None:
            check["message"] = message[1].strip()
        yield check
