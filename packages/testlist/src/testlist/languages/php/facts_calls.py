"""Calls of one PHP file that register tests with Pest."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.languages.php.shape import CallFact
from testlist.sandbox.syntax import column, end_line, line, named, text

ROOTS: Final = frozenset({"it", "test", "todo", "arch", "describe"})
#: those that take their title from what is called on them
NAMELESS: Final = frozenset({"it", "test", "arch", "beforeEach"})
#: what is called on it holds for all tests around it
HOOK: Final = "beforeEach"
#: methods that say something of a test and are none of its steps
TELLING: Final = frozenset(
    {"skip", "todo", "only", "with", "group", "depends", "repeat", "throws", "covers", "coversClass", "note",
     "assignee", "issue", "ticket", "pr", "done", "wip", "after"}
)  # fmt: skip
#: methods that let a condition decide; so does `skip` with anything but a reason
CONDITIONAL: Final = frozenset(
    {"skip", "skipOnPhp", "skipOnWindows", "skipOnMac", "skipOnLinux", "skipOnCi", "skipLocally", "onlyOnWindows",
     "onlyOnMac", "onlyOnLinux"}
)  # fmt: skip
CHAINED: Final = frozenset({"member_call_expression", "member_access_expression", "nullsafe_member_call_expression"})
FUNCTIONS: Final = frozenset({"anonymous_function", "arrow_function", "anonymous_function_creation_expression"})
STRINGS: Final = frozenset({"string", "encapsed_string", "heredoc", "nowdoc"})
BLOCKS: Final = frozenset({"compound_statement", "if_statement", "else_clause", "else_if_clause", "ERROR"})
LOOPS: Final = frozenset({"foreach_statement", "for_statement", "while_statement"})
#: describes within describes that are read
DEPTH: Final = 40


def read(statement: Node, *, loop: bool, depth: int = 0) -> Iterator[CallFact]:
    """Read a statement that registers a test or a group of them; nothing for any other."""
    call, chain = _unchained(next(named(statement), None))
    if call is None or call.type != "function_call_expression":
        return
    root = text(call.child_by_field_name("function")).rpartition("\\")[2]
    given = list(_given(call))
    if root not in ROOTS and not (root == HOOK and chain):
        return
    if not given and (not chain or root not in NAMELESS):
        return
    item: CallFact = {
        "root": root,
        "title": _title(given, chain),
        "line": line(statement),
        "column": column(statement),
        "end": end_line(statement),
        "mods": sorted(_modifiers(chain)),
    }
    if loop:
        item["loop"] = True
    if any(name not in TELLING for name, _ in chain):
        item["chain"] = True
    if len(given) > 1:
        item["body"] = True
    if (cases := _cases(chain)) is not None:
        item["cases"] = cases
    if root == "describe":
        bodies = [one for one in given[1:] if one.type in FUNCTIONS]
        item["calls"] = [inner for one in bodies for inner in _inside(one, depth + 1)]
    yield item


def title_of(statement: Node) -> str:
    """The title of the test that a statement registers."""
    call, chain = _unchained(next(named(statement), None))
    return _title(list(_given(call)) if call is not None else [], chain)


def _unchained(node: Node | None) -> tuple[Node | None, list[tuple[str, list[Node]]]]:
    """The call that a chain of methods begins with, and the methods in the order of calling."""
    chain: list[tuple[str, list[Node]]] = []
    while node is not None and node.type in CHAINED:
        chain.append((text(node.child_by_field_name("name")), list(_given(node))))
        node = node.child_by_field_name("object")
    return node, chain[::-1]


def _given(call: Node) -> Iterator[Node]:
    """Values of arguments."""
    for argument in named(call.child_by_field_name("arguments")):
        if argument.type == "argument" and argument.named_children:
            yield argument.named_children[-1]


def _title(given: list[Node], chain: list[tuple[str, list[Node]]]) -> str:
    if not given:
        return " → ".join(name for name, _ in chain)
    first = given[0]
    if first.type in ("string", "encapsed_string"):
        return text(first)[1:-1].replace("\\'", "'") if first.type == "string" else text(first)[1:-1]
    return text(first)


def _modifiers(chain: list[tuple[str, list[Node]]]) -> Iterator[str]:
    for name, given in chain:
        plain = not given or given[0].type in STRINGS or text(given[0]).lower() == "true"
        if name in ("todo", "only", "with") or (name == "skip" and plain):
            yield name
        elif name in CONDITIONAL:
            yield "when"


def _cases(chain: list[tuple[str, list[Node]]]) -> int | None:
    """Rows of the literal tables given to `with`, which are combined; None if one is no literal."""
    tables = [given[0] for name, given in chain if name == "with" and given]
    if not tables or any(table.type != "array_creation_expression" for table in tables):
        return None
    total = 1
    for table in tables:
        rows = list(named(table))
        if any(row.named_children and row.named_children[0].type == "variadic_unpacking" for row in rows):
            return None
        total *= len(rows)
    return total


def _inside(function: Node, depth: int) -> Iterator[CallFact]:
    """Calls in the body of a describe."""
    body = function.child_by_field_name("body")
    stack = [(body, False)] if body is not None and depth < DEPTH else []
    while stack:
        node, loop = stack.pop()
        if node.type == "expression_statement":
            yield from read(node, loop=loop, depth=depth)
        elif node.type in BLOCKS or node.type in LOOPS:
            stack += [(child, loop or node.type in LOOPS) for child in reversed(node.named_children)]
