"""The walk through one body in Rust: its checks, and what it calls."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from testlist.kit.checking import Reading, at, made
from testlist.languages.rust.checks_conditions import (
    COMMENTS,
    arguments,
    conditions,
    inner,
    literal,
    method_of,
    name_of,
)
from testlist.languages.rust.checks_macros import checks_of, is_check, is_known
from testlist.languages.rust.checks_tokens import TREE, arguments_of, block_of, last_of, matched, tree_of
from testlist.languages.rust.vocabulary_checks import ERRORS, OTHERS, PANICS, PATTERNS, PLAIN_MACROS
from testlist.sandbox.syntax import line, named, text

#: deeper trees are given up; what is parsed apart counts as some levels, as it is parsed again for each
DEEPEST: Final = 200
AGAIN: Final = 8
#: items, which are read as functions of their own
ITEMS: Final = frozenset({"function_item", "impl_item", "mod_item", "trait_item", "macro_definition", "attribute_item"})
MACRO: Final = "macro_invocation"


@dataclass(slots=True)
class Walk(Reading):
    """One body.  base: lines before what is read now, if that is a part that was parsed apart.

    own: functions of the file, and macros with their `!`; expected: the test has to panic, so that a panic is no
    failure; whole: functions inside of it belong to it.
    """

    base: int = 0
    own: frozenset[str] = frozenset()
    expected: bool = False
    whole: bool = False

    def node(self, node: Node, depth: int = 0) -> None:
        """A statement or an expression, and those inside of it."""
        if depth > DEEPEST or (node.type in ITEMS and not self.whole) or node.type in COMMENTS:
            return
        if node.type == MACRO:
            if (tree := tree_of(node)) is not None:
                self.macro(last_of(node), tree, self.base + line(node), depth)
                self._panic(node)
            return
        if node.type == "call_expression":
            self._call(node)
        for condition, negated in _failing(node):
            for check in conditions(condition, self.base + line(node), negated=negated):
                self.add(check)
        if node.type == "match_expression":
            self._match(node)
        elif node.type == "let_declaration" and _panics(node.child_by_field_name("alternative")):
            value, pattern = node.child_by_field_name("value"), node.child_by_field_name("pattern")
            self.add(made(self.base + line(node), "matches", value, pattern, literal=literal))
        for child in named(node):
            self.node(child, depth + 1)

    def apart(self, nodes: Sequence[Node | None], tree: Node, depth: int) -> None:
        """Nodes of what was parsed apart.  tree: the tokens that they were."""
        before, self.base = self.base, self.base + line(tree) - 1
        for node in nodes:
            if node is not None:
                self.node(node, depth + AGAIN)
        self.base = before

    def macro(self, name: str, tree: Node, where: int, depth: int) -> None:
        """A macro and what it is given."""
        if depth > DEEPEST:
            return
        if f"{name}!" in self.own and not is_known(name):
            self.calls[f"{name}!"] = None
            self.tokens(tree, depth + 1)
        elif name in PATTERNS:
            sides = matched(tree)
            if name != "matches" and (check := made(where, "matches", *sides, literal=literal)):
                self.add(check)
            self.apart(sides[:1], tree, depth)
        elif is_check(name):
            given = arguments_of(tree)
            for check in checks_of(name, given, where):
                self.add(check)
            self.apart(given, tree, depth)
        else:
            if name not in PLAIN_MACROS:
                self.calls[f"{name}!"] = None  # of another file, perhaps
            self.tokens(tree, depth + 1)

    def tokens(self, tree: Node, depth: int) -> None:
        """Macros, calls and blocks among the tokens of a macro of which nothing is known."""
        children = tree.children if depth <= DEEPEST else []
        for place, child in enumerate(children):
            if child.type != TREE:
                continue
            before = [one.type for one in children[max(0, place - 2) : place]]
            if before == ["identifier", "!"]:
                name = text(children[place - 2])
                self.macro(name, child, self.base + line(children[place - 2]), depth + 1)
                continue
            if text(child).startswith("{"):
                self.apart([block_of(child)], child, depth)
                continue
            if before[-1:] == ["identifier"] and (called := _path(children[:place])):
                self.calls[called] = None
            self.tokens(child, depth + 1)

    def _call(self, call: Node) -> None:
        method, owner = method_of(call)
        where = self.base + line(call)
        if owner is not None and method in ERRORS:
            self.add(made(where, "raises", owner, literal=literal))
        elif (
            owner is not None and method == "assert_eq" and owner.type == MACRO and last_of(owner).startswith("expect")
        ):
            self.add(made(where, "snapshot", at(arguments(call), 0), tree_of(owner), literal=literal))
        elif name := name_of(call):
            self.calls[name] = None
            if name.rpartition(".")[2].startswith(OTHERS) and not name.startswith("self.") and name not in self.own:
                self.add(made(where, "custom", at(arguments(call), 0), literal=literal))

    def _match(self, node: Node) -> None:
        """All but one of its arms panic."""
        arms = [arm for arm in named(node.child_by_field_name("body")) if arm.type == "match_arm"]
        panics = [arm for arm in arms if _panics(arm.child_by_field_name("value"))]
        alive = [arm for arm in arms if arm not in panics]
        if panics and len(alive) == 1:
            value, pattern = node.child_by_field_name("value"), alive[0].child_by_field_name("pattern")
            self.add(made(self.base + line(node), "matches", value, pattern, literal=literal))

    def _panic(self, macro: Node) -> None:
        """A panic that nothing decides on."""
        if last_of(macro) not in PANICS or self.expected or self.base:
            return
        block = macro.parent
        while block is not None and block.type in ("expression_statement", "block"):
            block = block.parent
        if block is not None and block.type == "function_item":
            self.add(made(line(macro), "fails", literal=literal))


def _failing(node: Node) -> Iterator[tuple[Node, bool]]:
    """The condition of an `if` one of whose branches panics, with whether it must not hold."""
    if node.type != "if_expression" or (condition := node.child_by_field_name("condition")) is None:
        return
    other = node.child_by_field_name("alternative")
    if _panics(node.child_by_field_name("consequence")):
        yield condition, True
    elif other is not None and _panics(next(named(other), None)):
        yield condition, False


def _panics(node: Node | None) -> bool:
    """Whether a block or an expression panics, whatever else it does."""
    if node is not None and node.type == MACRO:
        return last_of(node) in PANICS
    if node is None or node.type != "block":
        return False
    for statement in inner(node):
        part = next(named(statement), None) if statement.type == "expression_statement" else statement
        if part is not None and part.type == MACRO and last_of(part) in PANICS:
            return True
    return False


def _path(before: Sequence[Node]) -> str:
    """`a.b` for the tokens `a::b`; empty for a method of something else than `self`."""
    parts = [text(before[-1])]
    at_end = len(before) - 1
    while (
        at_end >= 2 and before[at_end - 1].type == "::" and before[at_end - 2].type in ("identifier", "super", "crate")
    ):
        at_end -= 2
        parts.insert(0, text(before[at_end]))
    owner = before[at_end - 1].type if at_end else ""
    if owner == "." and at_end >= 2 and text(before[at_end - 2]) == "self":
        parts.insert(0, "self")
    elif owner in (".", "fn", "::", "!"):
        return ""
    return ".".join(part for part in parts if part != "super")
