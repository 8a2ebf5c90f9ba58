"""Facts of one Python file: the names its module and class bodies bind, in order.

What the items say is written in `shape`.
"""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.languages.python.facts_attached import attach, attached, handed, parameters
from testlist.languages.python.facts_factories import makes
from testlist.languages.python.facts_hooks import HOOKS, gives
from testlist.languages.python.facts_skipping import skips
from testlist.languages.python.facts_values import calls, dotted_of, feature_of, marks_of, partial_of, strings_of
from testlist.languages.python.shape import (
    ClassItem,
    DefItem,
    DelItem,
    ImportItem,
    Item,
    MadeItem,
    Mark,
    SetItem,
    SkipItem,
    StarItem,
)
from testlist.languages.python.strip import stripped
from testlist.model import Facts
from testlist.sandbox.syntax import column, end_line, line, named, parse, text

OTHERWISE: Final = frozenset({"else_clause", "elif_clause", "except_clause", "except_group_clause", "finally_clause"})
BRANCHES: Final = frozenset({"if_statement", "try_statement", "for_statement", "while_statement", "match_statement"})
LOOPS: Final = frozenset({"for_statement", "while_statement"})
PLAIN: Final = frozenset({"with_statement", "block", "case_clause", "case_block"})
NEVER: Final = frozenset({"TYPE_CHECKING", "typing.TYPE_CHECKING", "False", "0"})
ALWAYS: Final = frozenset({"True", "1"})
#: what a module raises that is not to be run
LEFT: Final = ("SkipTest", "skip.Exception")


def extract(source: bytes, language: str) -> Facts:
    """Read one file: {"body": items}."""
    body = list(_body(parse(stripped(source), language)))
    if not any("attaches" in item for item in body):
        body = [item for item in body if item["k"] != "call" or "." in item["head"]]  # the others lead nowhere
    return {"body": body}


def _body(block: Node | None, *, maybe: bool = False, loop: bool = False, other: bool = False) -> Iterator[Item]:
    for node in named(block):
        for item in _statement(node):
            if maybe:
                item["maybe"] = True
            if loop:
                item["loop"] = True
            if other:
                item["other"] = True
            yield item


def _statement(node: Node) -> Iterator[Item]:
    kind = node.type
    if kind == "expression_statement":
        yield from _expression(next(named(node), None))
    elif kind == "raise_statement" and _raised(node).endswith(LEFT):
        yield SkipItem(k="skip")
    elif kind == "function_definition":
        yield _function(node, [])
    elif kind == "class_definition":
        yield _class(node, [])
    elif kind == "decorated_definition":
        yield from _decorated(node)
    elif kind in ("import_statement", "import_from_statement"):
        yield from _imports(node)
    elif kind == "delete_statement":
        yield from (DelItem(k="del", name=text(child)) for child in named(node) if child.type == "identifier")
    elif kind in BRANCHES:
        yield from _branches(node)
    elif kind in PLAIN or kind in OTHERWISE:
        yield from _body(node)


def _raised(node: Node) -> str:
    """What a statement raises."""
    error = next(named(node), None)
    return dotted_of(error) if error is not None else ""


def _branches(node: Node) -> Iterator[Item]:
    condition = text(node.child_by_field_name("condition"))
    main = condition in NEVER or "__name__" in condition
    for child in named(node):
        if child.type in OTHERWISE and condition not in ALWAYS:
            yield from _body(child, maybe=True, other=not main)
        elif child.type == "block" and not main:
            # the body of a try runs; that of an if may
            runs = node.type == "try_statement" or (node.type == "if_statement" and condition in ALWAYS)
            yield from _body(child, maybe=not runs, loop=node.type in LOOPS)


def _decorated(node: Node) -> Iterator[Item]:
    decorators = [next(named(child), None) for child in named(node) if child.type == "decorator"]
    marks = [mark for one in decorators for mark in marks_of(one)]
    inner = node.child_by_field_name("definition")
    if inner is not None and inner.type == "class_definition":
        yield _class(inner, marks)
    elif inner is not None:
        item = _function(inner, marks)
        if feature := next(filter(None, map(feature_of, decorators)), ""):
            item["feature"] = feature
        yield item


def _function(node: Node, marks: list[Mark]) -> DefItem:
    item = _def(node, node.child_by_field_name("name"))
    if marks:
        item["marks"] = marks
    if b"return" in (node.text or b""):
        _handing(item, node)
    if b"setattr(" in (node.text or b"") and (some := attached(node)):
        item["attaches"], item["takes"] = some, parameters(node)
    if item["name"] in HOOKS and (hooked := gives(node)):
        item["gives"] = hooked
    return item


def _def(node: Node, name: Node | None) -> DefItem:
    return {
        "k": "def",
        "name": text(name),
        "line": line(name or node),
        "column": column(node),
        "end": end_line(node),
    }


def _handing(item: DefItem, node: Node) -> None:
    """Keep what a function returns that matters to those who call it."""
    if returned := list(_returns(node)):
        item["returns"] = returned
    if built := list(_built(node)):
        item["built"] = built
    if made := makes(node, marks_of):
        item["makes"] = made
    if skipping := skips(node):
        item["skips"] = skipping


def _built(node: Node) -> Iterator[ClassItem]:
    """Classes that a function writes and returns: it makes test cases."""
    body = list(named(node.child_by_field_name("body")))
    names = {text(next(named(child), None)) for child in body if child.type == "return_statement"}
    for child in body if names - {""} else ():
        inner = child.child_by_field_name("definition") if child.type == "decorated_definition" else child
        if inner is not None and inner.type == "class_definition" and text(inner.child_by_field_name("name")) in names:
            yield from (item for item in _statement(child) if item["k"] == "class")


def _returns(node: Node) -> Iterator[Mark]:
    """What a function at hand returns: it may be a decorator built on a known one."""
    for child in named(node.child_by_field_name("body")):
        if child.type == "return_statement":
            yield from (mark for mark in marks_of(next(named(child), None)) if "." in mark[0] or "skip" in mark[0])


def _class(node: Node, marks: list[Mark]) -> ClassItem:
    bases = [child for child in named(node.child_by_field_name("superclasses")) if child.type != "keyword_argument"]
    name = node.child_by_field_name("name")
    item: ClassItem = {
        "k": "class",
        "name": text(name),
        "line": line(name or node),
        "column": column(node),
        "end": end_line(node),
        "bases": [dotted for base in bases if (dotted := dotted_of(base))],
        "body": [item for item in _body(node.child_by_field_name("body")) if item["k"] not in ("attach", "call")],
    }
    if marks:
        item["marks"] = marks
    return item


def _imports(node: Node) -> Iterator[Item]:
    source = node.child_by_field_name("module_name")
    module = text(source)
    level = len(module) - len(module.lstrip("."))
    module = "".join(module[level:].split())
    if any(child.type == "wildcard_import" for child in node.named_children):
        yield StarItem(k="star", module=module, level=level)
    for child in node.children_by_field_name("name"):
        alias = child.child_by_field_name("alias")
        name = text(child.child_by_field_name("name") if child.type == "aliased_import" else child)
        if source is not None:
            yield ImportItem(k="import", module=module, level=level, name=text(alias) or name, of=name)
        else:
            # `import a.b` binds a, `import a.b as c` binds a.b
            bound = name if alias else name.split(".")[0]
            yield ImportItem(k="import", module=bound, level=level, name=text(alias) or bound)


def _expression(node: Node | None) -> Iterator[Item]:
    if node is None:
        return
    if node.type in ("assignment", "augmented_assignment"):
        yield from _assignment(node)
    elif node.type == "call" and dotted_of(node).endswith("skip") and "allow_module_level" in text(node):
        yield SkipItem(k="skip")
    elif node.type == "call" and b"globals()" in (node.text or b""):
        given = named(node.child_by_field_name("arguments"))
        yield MadeItem(k="made", values=[mark for child in given for mark in marks_of(child)])
    elif node.type == "call" and dotted_of(node).endswith("importorskip"):
        yield SkipItem(k="skip", maybe=True)
    elif node.type == "call" and (item := attach(node) or handed(node)) is not None:
        yield item


def _assignment(node: Node) -> Iterator[Item]:
    target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    if value is not None and value.type == "assignment":  # a = b = value
        yield from _assignment(value)
        while value is not None and value.type == "assignment":
            value = value.child_by_field_name("right")
    if target is None or value is None:
        return
    if target.type in ("pattern_list", "tuple_pattern"):
        yield from (_set(child, child, []) for child in named(target))
        return
    if value.type == "lambda":
        yield _def(node, target)
        return
    item = _set(node, target, marks_of(value))
    if node.type == "augmented_assignment":
        item["add"] = True
    _valued(item, value)
    yield item


def _valued(item: SetItem, value: Node) -> None:
    """Keep what a value is, beside its heads."""
    if value.type in ("false", "none", "true"):
        item["const"] = text(value)
    if value.type == "call":
        item["called"] = calls(value)
        if any(text(child) == item["name"] for child in named(value.child_by_field_name("arguments"))):
            item["again"] = True  # `test = decorator(test)`
        if partial := partial_of(value):
            item["partial"] = partial
    if strings := strings_of(value, alone=item["name"] == "__only_on__"):
        item["strings"] = strings


def _set(node: Node, name: Node, values: list[Mark]) -> SetItem:
    return {
        "k": "set",
        "name": text(name),
        "line": line(name),
        "column": column(node),
        "end": end_line(node),
        "values": values,
    }
