"""What the methods of one C# file check, and what they call: read from whole files, on demand."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from tree_sitter import Node, Point

from testlist.kit.bodies import MOST_FUNCTIONS, BodiesFact, BodyFact, CheckFact
from testlist.kit.checking import said
from testlist.kit.nearer import declared, without
from testlist.kit.passing import settle, standing
from testlist.languages.csharp.checks_bases import bases_of
from testlist.languages.csharp.checks_bodies import Body
from testlist.languages.csharp.checks_verdict import asserts, is_bare, is_plain, verdict
from testlist.languages.csharp.facts import NESTED, NEWLINE, TYPES
from testlist.languages.csharp.strip import stripped
from testlist.languages.csharp.strip_directives import blanked
from testlist.model import Facts
from testlist.sandbox.syntax import line, named, parse, text

CSHARP: Final = "csharp"
METHOD: Final = "method_declaration"
#: what a body is put into to be parsed alone, on one line
BEFORE: Final = b"class A{void B()"
AFTER: Final = b"\n}"
#: libraries whose StringAssert takes the value first, and last
MSTEST: Final = b"Microsoft.VisualStudio.TestTools"
NUNIT: Final = b"using NUnit"
#: the attribute of MSTest and of older versions of NUnit
THROWN: Final = "ExpectedException"
#: deeper trees are given up
DEEPEST: Final = 200


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read one file: a BodiesFact."""
    plain, _ = blanked(source)
    root = parse(stripped(plain), CSHARP)
    reader = _Reader(plain, root)
    found: BodiesFact = {"functions": list(islice(reader.functions(), MOST_FUNCTIONS)), "bases": bases_of(root)}
    return {**found}


#: what gives a name to something in a method
NEARER: Final = {
    "local_function_statement": "name", "variable_declarator": "", "parameter": "name", "implicit_parameter": "",
}  # fmt: skip


class _Reader:
    """State of one pass.  source: without directives; root: of its declarations without bodies, at the same places."""

    def __init__(self, source: bytes, root: Node) -> None:
        self.source = source
        self.lines = [0, *(found.end() for found in NEWLINE.finditer(source))]
        self.value_first = True if MSTEST in source else False if NUNIT in source else None
        self.bare, self.asserts = is_bare(source), asserts(source)
        self.methods = list(_methods(root, (), 0, lambda node: is_plain(node, self.written), alone=False))
        self.own = frozenset(name for around, node, _ in self.methods for name in (*around, _name(node)))

    def functions(self) -> Iterator[BodyFact]:
        """Methods, with the types around them."""
        for around, node, alone in self.methods:
            head, parameters = node.child_by_field_name("name"), node.child_by_field_name("parameters")
            if head is not None and parameters is not None:
                start, end = self.at(parameters.end_point), self.at(node.end_point)
                block = _block(self.source[start:end])
                body = Body(parameters.end_point.row, self.own, self.value_first)
                for check in _announced(node):
                    body.reading.add(check)
                if block is not None:
                    body.walk(block, 0)
                without(body.reading, (*declared(parameters, NEARER), *declared(block, NEARER)))
                found = body.reading.body(".".join((*around, _name(node))), head, node)
                if alone and self.bare and block is not None:
                    has_check = standing(body.reading.checks, parameters.end_point.row)
                    own = self.own if self.asserts else None
                    settle(found, verdict(node, block, own, has_check))
                yield found

    def written(self, node: Node) -> str:
        """The source of a node, with the values that are not parsed."""
        return self.source[self.at(node.start_point) : self.at(node.end_point)].decode("utf-8", "replace")

    def at(self, point: Point) -> int:
        """Place in the source: the parsed text is shorter, but has the same lines and columns."""
        return self.lines[point.row] + point.column


def _methods(
    node: Node, around: tuple[str, ...], depth: int, plain: Callable[[Node], bool], *, alone: bool
) -> Iterator[tuple[tuple[str, ...], Node, bool]]:
    """Methods, each with the types around it, and whether only methods run of its class, as `plain` says."""
    for child in named(node) if depth < DEEPEST and len(around) <= NESTED else ():
        if child.type == METHOD:
            yield around, child, alone
        elif child.type in TYPES:
            yield from _methods(child, (*around, _name(child)), depth + 1, plain, alone=plain(child))
        else:
            yield from _methods(child, around, depth + 1, plain, alone=alone)


def _name(node: Node) -> str:
    return text(node.child_by_field_name("name"))


def _block(written: bytes) -> Node | None:
    """The body of a method by its text, which begins behind its parameters."""
    holder = next(named(parse(BEFORE + written + AFTER, CSHARP)), None)
    for _ in range(2):  # the class, then its method
        holder = holder.child_by_field_name("body") if holder is not None else None
        if holder is not None and holder.type == "declaration_list":
            holder = next((child for child in named(holder) if child.type == METHOD), None)
    return holder


def _announced(method: Node) -> Iterator[CheckFact]:
    """`[ExpectedException(typeof(A))]` above a method."""
    marks = (one for child in named(method) if child.type == "attribute_list" for one in named(child))
    for mark in marks:
        if text(mark.child_by_field_name("name")).removesuffix("Attribute") == THROWN:
            arguments = [
                one for child in named(mark) if child.type == "attribute_argument_list" for one in named(child)
            ]
            inner = next((one for each in arguments[:1] for one in named(each)), None)
            check: CheckFact = {"line": line(mark), "relation": "raises"}
            if inner is not None:
                check["expected"] = said(inner.child_by_field_name("type") or inner)
            yield check
