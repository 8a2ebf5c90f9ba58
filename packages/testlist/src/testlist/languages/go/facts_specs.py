"""Specs of one Go file, as Ginkgo and GoConvey have them: groups and tests, with what decides on them."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tree_sitter import Node

from testlist.languages.go.facts_spec_calls import LITERAL, Called, Names, name_of, read_call
from testlist.languages.go.facts_statements import SKIPS
from testlist.languages.go.shape import SpecFact, SpecFacts
from testlist.languages.go.vocabulary import ASIDE, EITHER, GINKGO, GOCONVEY, GROUP, SETUP, SUBTREE
from testlist.sandbox.syntax import column, end_line, line, named, text

#: deeper trees are given up
DEEPEST: Final = 400
#: declarations with specs; the grammar does not know `new` with a value, and gives up what it stands in
DECLARING: Final = ("var_declaration", "function_declaration", "method_declaration", "ERROR")
LOOPS: Final = frozenset({"for_statement"})
BRANCHES: Final = frozenset(
    {"if_statement", "expression_switch_statement", "type_switch_statement", "select_statement"}
)
#: what speaks of the test that runs
HANDLE: Final = re.compile(r"(?:\w+\.)?GinkgoT(?:B)?\(\)")
#: what a function of tests is given
HANDLES: Final = ("*testing.T", "*testing.B", "C", "convey.C")


class Place(NamedTuple):
    """Where a call stands.  made: in a loop; given: in a function that is given something; when: under a condition."""

    depth: int = 0
    made: bool = False
    given: bool = False
    when: bool = False


def names_of(imports: Sequence[tuple[str, str]]) -> Names:
    """What the frameworks are called, by (name, path) of the imports."""
    ginkgo = [name for name, path in imports if GINKGO.fullmatch(path)]
    goconvey = [name for name, path in imports if GOCONVEY.fullmatch(path)]
    return Names(ginkgo, goconvey, {name for name, _ in imports})


def specs(top: Sequence[Node], imports: Sequence[tuple[str, str]]) -> SpecFacts:
    """All specs of a file, by the groups that they stand in."""
    names = names_of(imports)
    if not names.ginkgo and not names.goconvey:
        return {}
    reader, found = Reader(names), SpecFacts(specs=[], conveys=[])
    for node in top:
        name = text(node.child_by_field_name("name")) if node.type == "function_declaration" else ""
        for one in reader.within(node, Place(given=_asks(node))) if node.type in DECLARING else ():
            if one["role"] == EITHER:
                found["conveys"].append({**one, "function": name} if name else one)
            else:
                found["specs"].append(one)
    return found


def _asks(function: Node) -> bool:
    """Whether a function is given values, which its specs may be made of."""
    given = named(function.child_by_field_name("parameters"))
    return any(text(one.child_by_field_name("type")) not in HANDLES for one in given)


class Reader:
    """One file."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def within(self, node: Node, place: Place) -> Iterator[SpecFact]:
        """Specs in a node, in the order in which they stand."""
        if place.depth > DEEPEST:
            return
        place = place._replace(depth=place.depth + 1)
        if node.type in LOOPS:
            place = place._replace(made=True)
        elif node.type in BRANCHES:
            place = place._replace(when=True)
        for child in named(node):
            if child.type == "call_expression":
                yield from self.call(child, place)
            elif child.type == LITERAL:
                yield from self.within(child, place._replace(given=place.given or _asks(child)))
            else:
                yield from self.within(child, place)
                if child.type == "if_statement" and _returns(child):
                    place = place._replace(when=True)

    def call(self, call: Node, place: Place) -> Iterator[SpecFact]:
        """What a call declares, or specs in what any other call is given."""
        if (found := read_call(call, self.names)) is not None:
            # a function that passes a title and a body on declares none
            if not (place.given and found.body is None and not found.titled):
                yield self.spec(call, found, place)
        elif name_of(call)[1] not in SETUP | ASIDE:
            yield from self.within(call, place)

    def spec(self, call: Node, found: Called, place: Place) -> SpecFact:
        """One call that declares something."""
        fact: SpecFact = {"role": found.role, "title": found.title, "line": line(call), "column": column(call),
                          "end": end_line(call)}  # fmt: skip
        if found.status is not None:
            fact["status"] = found.status
        if place.made or place.given or not found.titled:
            fact["made"] = True
        if place.when:
            fact["when"] = True
        if found.cases is not None:
            fact["cases"] = found.cases
        block = found.body.child_by_field_name("body") if found.body is not None else None
        if block is not None:
            self._read(fact, block, place)
        return fact

    def _read(self, fact: SpecFact, block: Node, place: Place) -> None:
        """Add what the body of a call says."""
        groups = fact["role"] in (GROUP, SUBTREE, EITHER)
        if groups:
            fact["inner"] = list(self.within(block, Place(place.depth)))
        setups = self._setups(block) if groups and self.names.ginkgo else []
        bodies = [block, *setups] if not groups or (fact["role"] == EITHER and not fact["inner"]) else setups
        says = [skipping(one, self.names) for one in bodies if b"kip" in (one.text or b"")]
        if any(skip for skip, _ in says):
            fact["skip"] = True
        elif any(when for _, when in says):
            fact["when"] = True

    def _setups(self, block: Node) -> list[Node]:
        """Bodies of what a group runs before each of its specs."""
        found = list[Node]()
        for statement in _statements(block):
            call = next(named(statement), None) if statement.type == "expression_statement" else None
            if call is not None and call.type == "call_expression" and name_of(call)[1] in SETUP:
                given = named(call.child_by_field_name("arguments"))
                bodies = (one.child_by_field_name("body") for one in given if one.type == LITERAL)
                found += [one for one in bodies if one is not None]
        return found


def _statements(block: Node | None) -> Iterator[Node]:
    for child in named(block):
        if child.type == "statement_list":
            yield from named(child)
        else:
            yield child


def _returns(branch: Node) -> bool:
    """Whether what stands behind an `if` is only reached under a condition."""
    return any(one.type == "return_statement" for one in _statements(branch.child_by_field_name("consequence")))


def skipping(block: Node, names: Names) -> tuple[bool, bool]:
    """Whether a body skips in any case, and whether it does under a condition."""
    calls = (next(named(one), None) for one in _statements(block) if one.type == "expression_statement")
    if any(_skips(one, names) in SKIPS for one in calls):
        return True, False
    todo, depth = [block], 0
    while todo and depth < DEEPEST:
        depth += 1
        todo = [child for one in todo for child in named(one) if child.type != LITERAL]
        if any(_skips(one, names) for one in todo):
            return False, True
    return False, False


def _skips(node: Node | None, names: Names) -> str:
    """The name of a function that skips, or may, as `SkipUnless…` does; methods of values may do anything."""
    if node is None or node.type != "call_expression":
        return ""
    owner, name = name_of(node)
    is_known = not owner or owner in names.packages or HANDLE.fullmatch(owner) is not None
    return name if is_known and name.startswith(("Skip", "skip")) else ""
