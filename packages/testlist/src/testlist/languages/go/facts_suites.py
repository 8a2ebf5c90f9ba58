"""Facts of Go suites: methods that may be tests, what structs embed, and the values that are run as suites."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tree_sitter import Node

from testlist.languages.go.shape import SuiteFacts
from testlist.sandbox.syntax import named, text

TESTIFY: Final = "/testify/suite"
GOCHECK: Final = ("/check.v1", "/gocheck", "go-check/check", "pingcap/check")
#: packages whose names say that they help tests, and may run suites for them
HELPING: Final = re.compile(r"(?i)(?:test|suite|conformance|harness)[^/]*+(?:/v\d+)?$")
#: packages of others that everybody imports
COMMON: Final = re.compile(r"testing$|testing/|net/http/httptest$|.*/testify/")

#: declarations in which a suite may be run
RUNNING: Final = ("function_declaration", "method_declaration", "var_declaration")

ByType = Mapping[str, list[Node]]


def suites(top: ByType, imports: list[tuple[str, str]]) -> SuiteFacts:
    """What a file says of suites; most is empty for most.  top: declarations by type; imports: (name, path)."""
    testify = [name for name, path in imports if path.endswith(TESTIFY)]
    gocheck = [name for name, path in imports if path.endswith(GOCHECK)]
    running = bool(testify or gocheck)
    declarations = [node for kind in RUNNING for node in top[kind]] if running else []
    structs, runs = dict(_structs(top["type_declaration"])), sorted(set(_runs(declarations, testify, gocheck)))
    words = {word.partition(".")[0] for word in _selectors(structs, runs)}
    others = [(name, path) for name, path in imports if not path.endswith((TESTIFY, *GOCHECK))]
    made = _makers(top["function_declaration"])
    return {
        "structs": structs,
        "testify": testify,
        "gocheck": gocheck,
        "runs": runs,
        "makers": {name: type_ for name, type_ in made if running or type_ in structs},
        "imports": {name: path for name, path in others if name in words},
        "dots": [path for name, path in others if name == "."],
        "helpers": [path for _, path in others if HELPING.search(path) and not COMMON.match(path)],
    }


def _selectors(structs: Mapping[str, Sequence[str]], runs: Sequence[str]) -> Iterator[str]:
    yield from (embedded for names in structs.values() for embedded in names if "." in embedded)
    yield from (run for run in runs if "." in run)


def receiver(node: Node) -> str:
    """Name of the type a method belongs to."""
    parameter = next(named(node.child_by_field_name("receiver")), None)
    return _plain(text(parameter.child_by_field_name("type"))) if parameter is not None else ""


def _plain(written: str) -> str:
    """`*pkg.Type[T]` without pointer and type arguments."""
    return written.lstrip("*&( ").partition("[")[0].rstrip(") ")


def _structs(declarations: Sequence[Node]) -> Iterator[tuple[str, list[str]]]:
    """Structs that embed something."""
    for declaration in declarations:
        for spec in named(declaration):
            kind = spec.child_by_field_name("type")
            if kind is not None and kind.type == "struct_type":
                fields = [field for part in named(kind) for field in named(part) if field.type == "field_declaration"]
                embedded = [_plain(text(one.child_by_field_name("type"))) for one in fields if not _is_named(one)]
                if embedded:
                    yield text(spec.child_by_field_name("name")), embedded


def _is_named(field: Node) -> bool:
    return field.child_by_field_name("name") is not None


def _makers(functions: Sequence[Node]) -> Iterator[tuple[str, str]]:
    """Functions that return one value of a type of the file's package."""
    for node in functions:
        result = node.child_by_field_name("result")
        if result is not None and result.type in ("pointer_type", "type_identifier"):
            yield text(node.child_by_field_name("name")), _plain(text(result))


def _runs(declarations: Sequence[Node], testify: list[str], gocheck: list[str]) -> Iterator[str]:
    """Types whose values are run: a name, `name()` for what a function makes, `?` where that does not show."""
    functions = {"Run" if name == "." else f"{name}.Run": 1 for name in testify}
    functions |= {"Suite" if name == "." else f"{name}.Suite": 0 for name in gocheck}
    calls = [f"{name}(".encode() for name in functions]
    for declaration in declarations:
        source = declaration.text or b""
        if any(call in source for call in calls):
            yield from _run(declaration, functions)


def _run(declaration: Node, functions: Mapping[str, int]) -> Iterator[str]:
    """The suites that one declaration runs.

    functions: what runs a suite -> the place of the suite among its arguments.
    """
    values: dict[str, Node] = {}
    todo = [declaration]
    while todo:
        node = todo.pop()
        if node.type in ("short_var_declaration", "var_spec", "assignment_statement"):
            _assign(node, values)
        elif node.type == "call_expression" and (called := text(node.child_by_field_name("function"))) in functions:
            arguments = list(named(node.child_by_field_name("arguments")))
            if len(arguments) == functions[called] + 1:
                yield _made(arguments[-1], values)
        todo += reversed(node.named_children)


def _assign(node: Node, values: dict[str, Node]) -> None:
    """Remember what a variable of a function is."""
    target = node.child_by_field_name("left") or node.child_by_field_name("name")
    value = node.child_by_field_name("right") or node.child_by_field_name("value") or node.child_by_field_name("type")
    if target is not None and value is not None:
        values[text(target)] = next(named(value), value) if value.type == "expression_list" else value


def _made(node: Node, values: dict[str, Node]) -> str:
    if node.type == "identifier" and text(node) in values:
        node = values[text(node)]
    if node.type == "unary_expression":
        node = node.child_by_field_name("operand") or node
    if node.type == "composite_literal":
        return _plain(text(node.child_by_field_name("type")))
    if node.type in ("pointer_type", "type_identifier", "qualified_type"):
        return _plain(text(node))
    if node.type == "call_expression":
        function = text(node.child_by_field_name("function"))
        first = next(named(node.child_by_field_name("arguments")), None)
        if function == "new" and first is not None:
            return _plain(text(first))
        return f"{function}()" if function.replace(".", "").isidentifier() else "?"
    return "?"
