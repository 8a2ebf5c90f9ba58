"""The body of a Go test: whether it skips, and the subtests it names."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.languages.go.shape import Body, Skip, SubtestFact
from testlist.sandbox.syntax import column, end_line, line, named, text

SKIPS: Final = frozenset({"Skip", "Skipf", "SkipNow"})
#: subtests in subtests that are followed
DEEPEST: Final = 20


def read(body: Node | None) -> Body:
    """{"skip": ..., "when": ..., "subtests": [...]}: what its statements say, `when` only if so."""
    source = body.text or b"" if body is not None else b""
    found: Skip = skipping(body) if b"Skip" in source else {"skip": False}
    return {**found, "subtests": list(_subtests(body)) if b".Run(" in source else []}


def skipping(body: Node | None) -> Skip:
    """Whether the first statement skips: in any case, or where a condition holds."""
    first = next(_statements(body), None)
    if first is not None and first.type == "if_statement":
        inside = next(_statements(first.child_by_field_name("consequence")), None)
        return {"skip": False, "when": True} if _skips(inside) else {"skip": False}
    return {"skip": _skips(first)}


def _statements(body: Node | None) -> Iterator[Node]:
    for child in named(body):
        if child.type == "statement_list":
            yield from named(child)
        else:
            yield child


def _called(statement: Node | None) -> Node | None:
    """The call a statement consists of."""
    call = next(named(statement), None) if statement is not None and statement.type == "expression_statement" else None
    return call if call is not None and call.type == "call_expression" else None


def _skips(statement: Node | None) -> bool:
    """`t.Skip()`."""
    call = _called(statement)
    return call is not None and text(call.child_by_field_name("function")).rpartition(".")[2] in SKIPS


def _subtests(body: Node | None) -> Iterator[SubtestFact]:
    """`t.Run("literal", ...)` directly in the body, each followed by those inside it."""
    todo: list[tuple[Node, list[str]]] = [(node, []) for node in reversed(list(_statements(body)))]
    while todo:
        statement, outer = todo.pop()
        call = _called(statement)
        named_so = _subtest(call) if call is not None else None
        if call is None or named_so is None:
            continue
        name, inner = named_so
        yield {
            "name": name,
            "outer": outer,
            "line": line(call),
            "column": column(call),
            "end": end_line(call),
            **skipping(inner),
        }
        if len(outer) < DEEPEST:
            todo += [(node, [*outer, name]) for node in reversed(list(_statements(inner)))]


def _subtest(call: Node) -> tuple[str, Node | None] | None:
    """The name a call gives to a subtest, and the body it runs."""
    if not text(call.child_by_field_name("function")).endswith(".Run"):
        return None
    arguments = list(named(call.child_by_field_name("arguments")))
    if len(arguments) != 2 or "string_literal" not in arguments[0].type:
        return None
    inner = arguments[1].child_by_field_name("body") if arguments[1].type == "func_literal" else None
    return text(arguments[0])[1:-1], inner
