"""What the functions of one file in Java or Kotlin check, and what they call: read from whole files, on demand."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import MOST_FUNCTIONS, BodiesFact, BodyFact, CheckFact
from testlist.kit.checking import Reading
from testlist.kit.nearer import without
from testlist.kit.passing import settle
from testlist.languages.jvm.checks_annotations import expected_errors
from testlist.languages.jvm.checks_asserts import asserted
from testlist.languages.jvm.checks_bases import bases_of
from testlist.languages.jvm.checks_calls import Call, bare, call_of, chain, parts
from testlist.languages.jvm.checks_chains import begins, chained
from testlist.languages.jvm.checks_conditions import conditions
from testlist.languages.jvm.checks_expectations import awaited, expected, stepped
from testlist.languages.jvm.checks_failures import JvmFailures
from testlist.languages.jvm.checks_functions import DEEPEST, Function, Names, functions, names_of
from testlist.languages.jvm.checks_matchers import should
from testlist.languages.jvm.checks_mocks import verified, verified_block
from testlist.languages.jvm.checks_nearer import nearer
from testlist.languages.jvm.checks_origins import Origins, origins
from testlist.languages.jvm.checks_reasons import Types, reasoned
from testlist.languages.jvm.checks_verdict import verdict
from testlist.languages.jvm.vocabulary_checks import ASSERTS, HOLDERS
from testlist.model import Facts
from testlist.sandbox.syntax import text

#: functions inside of a function, which somebody else may call
INNER: Final = frozenset({"method_declaration", "function_declaration", "constructor_declaration"})
CREATION, ASSERT = "object_creation_expression", "assert_statement"
#: what stands for the object itself
SELF: Final = frozenset({"", "this", "super"})


def extract(source: bytes, language: str) -> Facts:
    """Read one file: a BodiesFact."""
    syntax = language.removesuffix("-bodies")
    every = list(islice(functions(source, syntax), MOST_FUNCTIONS))
    names = names_of(every)
    known = origins(source, syntax, names.own)
    quiet: dict[int, bool] = {}
    around = Types(source)
    bodies = (_body(one, known, names, quiet, around) for one in every)
    found: BodiesFact = {"functions": [one for one in bodies if one is not None], "bases": bases_of(every)}
    if known.elsewhere:
        found["imports"] = known.elsewhere
    return {**found}


def _body(function: Function, known: Origins, names: Names, quiet: dict[int, bool], around: Types) -> BodyFact | None:
    """The function; None if its body cannot be read and nobody knows whether it checks anything."""
    reading = _Reading(known, names, (Types(function.node.text or b""), around))
    for check in expected_errors(function.node):
        reading.add(check)
    if function.body is not None:
        reading.inside(function.body, 0)
    without(reading, nearer(function.node))
    if function.is_broken and not reading.checks:
        return None
    name = f"{function.name}({function.count})" if function.numbered in names.numbered else function.name
    found = reading.body(name, function.head, function.node)
    settle(found, verdict(function, reading.checks, known, quiet))
    return found


class _Reading(Reading):
    """The walk through one body.  types: of the function, of its file."""

    __slots__ = ("failures", "known", "names", "types")

    def __init__(self, known: Origins, names: Names, types: tuple[Types, Types]) -> None:
        super().__init__()
        self.types = types
        self.known, self.names, self.failures = known, names, JvmFailures(known)

    def inside(self, node: Node, depth: int) -> None:
        """Read what stands in a node."""
        for child in parts(node):
            self.walk(child, depth + 1)

    def walk(self, node: Node, depth: int) -> None:
        """Read a statement or an expression, and what is inside of it."""
        if depth > DEEPEST:
            return
        call = call_of(node)
        if node.type in INNER:
            before, self.nested = self.nested, True
            self.inside(node, depth)
            self.nested = before
        elif call is not None and self._is_chain(call, depth):
            return
        elif call is not None:
            self._call(call, depth)
        else:
            self._other(node)
            self.inside(node, depth)

    def _other(self, node: Node) -> None:
        """What is no call."""
        for check in self.failures.checks(node):
            self.add(check)
        if node.type == ASSERT and (given := parts(node)):
            for check in conditions(given[0], node):
                self.add(check)
        elif node.type == CREATION and (kind := node.child_by_field_name("type")) is not None:
            self.calls[text(kind).partition("<")[0]] = None

    def _is_chain(self, call: Call, depth: int) -> bool:
        """Read a chain of checks as one; false if it is none."""
        links = chain(call)
        found = chained(links) or verified(links, self.known) or stepped(links) or awaited(links)
        if not found and not begins(links):
            return False
        for check in found:
            self.add(check)
        for link in links:
            self._given(link, depth)
        return True

    def _call(self, call: Call, depth: int) -> None:
        if call.owner is not None:
            self.walk(bare(call.owner), depth + 1)
        block = verified_block(call, self.known)
        found = block if block is not None else list(self._single(call))
        for check in found if call.node.id not in self.failures.covered else ():
            self.add(check)
        if block is not None:
            return
        if not (found and (call.name in ASSERTS or call.name in HOLDERS)):
            self._note(call)
        self._given(call, depth)

    def _single(self, call: Call) -> Iterator[CheckFact]:
        if call.name == "assert" and call.owner is None and call.given and "assert" not in self.known.own:
            yield from conditions(call.given[0], call.node)
        elif (one := reasoned(call, *self.types) or should(call, self.known)) is not None:
            yield one
        else:
            yield from asserted(call, self.known) or expected(call)

    def _given(self, call: Call, depth: int) -> None:
        for one in call.inside():
            self.walk(one, depth + 1)

    def _note(self, call: Call) -> None:
        """Note a call of a function that may be the repository's: of the object itself, or of a class."""
        owner = text(call.owner) if call.owner is not None else ""
        if owner in SELF and call.name in self.names.overloaded:
            numbered = f"{call.name}({len(list(call.inside()))})"
            if numbered in self.names.numbered:
                self.calls[f"self.{numbered}"] = None
        elif owner in SELF:
            is_taken = call.name in self.known.names or call.name[:1].isupper()
            self.calls[call.name if is_taken else f"self.{call.name}"] = None
        elif owner[:1].isupper() and all(part.isidentifier() for part in owner.split(".")):
            self.calls[f"{owner}.{call.name}"] = None
        elif call.name in self.names.extensions:
            self.calls[f"self.{call.name}"] = None
