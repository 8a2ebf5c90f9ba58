"""Facts of one Python file: the names its module and class bodies bind, in order.

An item is a dict.  `k` says which: def, class, import, star, set, del, skip, made.  A mark is `[dotted, cases]`: the
dotted head of a decorator or value, and how many parameter sets its call lists (None when it shows none).
Items in a branch that need not run carry `maybe`, in a loop `loop` as well; those of an else or except branch
carry `other`.
"""

from collections.abc import Iterator
from typing import Any, Final

from tree_sitter import Node

from testlist.languages.python.facts_factories import makes
from testlist.languages.python.facts_hooks import HOOKS, gives
from testlist.languages.python.facts_skipping import skips
from testlist.languages.python.strip import stripped
from testlist.model import Facts
from testlist.sandbox.syntax import column, end_line, line, named, parse, text

Item = dict[str, Any]
Mark = list[Any]

OTHERWISE: Final = frozenset({"else_clause", "elif_clause", "except_clause", "except_group_clause", "finally_clause"})
BRANCHES: Final = frozenset({"if_statement", "try_statement", "for_statement", "while_statement", "match_statement"})
LOOPS: Final = frozenset({"for_statement", "while_statement"})
PLAIN: Final = frozenset({"with_statement", "block", "case_clause", "case_block"})
NEVER: Final = frozenset({"TYPE_CHECKING", "typing.TYPE_CHECKING", "False", "0"})
ALWAYS: Final = frozenset({"True", "1"})
#: what a module raises that is not to be run
LEFT: Final = ("SkipTest", "skip.Exception")
WORDS: Final = frozenset({"identifier", "attribute", "dotted_name"})


def extract(source: bytes, language: str) -> Facts:
    """Read one file: {"body": items}."""
    return {"body": list(_body(parse(stripped(source), language)))}


def _body(block: Node | None, **flags: bool) -> Iterator[Item]:
    for node in named(block):
        yield from ({**item, **flags} for item in _statement(node))


def _statement(node: Node) -> Iterator[Item]:
    kind = node.type
    if kind == "expression_statement":
        yield from _expression(next(named(node), None))
    elif kind == "raise_statement" and _raised(node).endswith(LEFT):
        yield {"k": "skip"}
    elif kind == "function_definition":
        yield _function(node, [])
    elif kind == "class_definition":
        yield _class(node, [])
    elif kind == "decorated_definition":
        yield from _decorated(node)
    elif kind in ("import_statement", "import_from_statement"):
        yield from _imports(node)
    elif kind == "delete_statement":
        yield from ({"k": "del", "name": text(child)} for child in named(node) if child.type == "identifier")
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
            flags = {} if runs else {"maybe": True} | ({"loop": True} if node.type in LOOPS else {})
            yield from _body(child, **flags)


def _decorated(node: Node) -> Iterator[Item]:
    marks = [mark for child in named(node) if child.type == "decorator" for mark in marks_of(next(named(child), None))]
    inner = node.child_by_field_name("definition")
    if inner is not None:
        yield _class(inner, marks) if inner.type == "class_definition" else _function(inner, marks)


def _function(node: Node, marks: list[Mark]) -> Item:
    item: Item = {"k": "def", **_place(node)}
    if marks:
        item["marks"] = marks
    if b"return" in (node.text or b""):
        given = {
            "returns": list(_returns(node)),
            "built": list(_built(node)),
            "makes": makes(node, marks_of),
            "skips": skips(node),
        }
        item |= {key: found for key, found in given.items() if found}
    if item["name"] in HOOKS and (hooked := gives(node)):
        item["gives"] = hooked
    return item


def _built(node: Node) -> Iterator[Item]:
    """Classes that a function writes and returns: it makes test cases."""
    body = list(named(node.child_by_field_name("body")))
    names = {text(next(named(child), None)) for child in body if child.type == "return_statement"}
    for child in body if names - {""} else ():
        inner = child.child_by_field_name("definition") if child.type == "decorated_definition" else child
        if inner is not None and inner.type == "class_definition" and text(inner.child_by_field_name("name")) in names:
            yield from _statement(child)


def _returns(node: Node) -> Iterator[Mark]:
    """What a function at hand returns: it may be a decorator built on a known one."""
    for child in named(node.child_by_field_name("body")):
        if child.type == "return_statement":
            yield from (mark for mark in marks_of(next(named(child), None)) if "." in mark[0] or "skip" in mark[0])


def _class(node: Node, marks: list[Mark]) -> Item:
    bases = [child for child in named(node.child_by_field_name("superclasses")) if child.type != "keyword_argument"]
    item: Item = {"k": "class", **_place(node), "body": list(_body(node.child_by_field_name("body")))}
    item["bases"] = [dotted for base in bases if (dotted := dotted_of(base))]
    if marks:
        item["marks"] = marks
    return item


def _place(node: Node) -> Item:
    name = node.child_by_field_name("name")
    return {"name": text(name), "line": line(name or node), "column": column(node), "end": end_line(node)}


def _imports(node: Node) -> Iterator[Item]:
    source = node.child_by_field_name("module_name")
    module = text(source)
    level = len(module) - len(module.lstrip("."))
    base: Item = {"k": "import", "module": "".join(module[level:].split()), "level": level}
    if any(child.type == "wildcard_import" for child in node.named_children):
        yield {**base, "k": "star"}
    for child in node.children_by_field_name("name"):
        alias = child.child_by_field_name("alias")
        name = text(child.child_by_field_name("name") if child.type == "aliased_import" else child)
        if source is not None:
            yield {**base, "of": name, "name": text(alias) or name}
        else:
            # `import a.b` binds a, `import a.b as c` binds a.b
            yield {**base, "module": name if alias else name.split(".")[0], "name": text(alias) or name.split(".")[0]}


def _expression(node: Node | None) -> Iterator[Item]:
    if node is None:
        return
    if node.type in ("assignment", "augmented_assignment"):
        yield from _assignment(node)
    elif node.type == "call" and dotted_of(node).endswith("skip") and "allow_module_level" in text(node):
        yield {"k": "skip"}
    elif node.type == "call" and b"globals()" in (node.text or b""):
        given = named(node.child_by_field_name("arguments"))
        yield {"k": "made", "values": [mark for child in given for mark in marks_of(child)]}
    elif node.type == "call" and dotted_of(node).endswith("importorskip"):
        yield {"k": "skip", "maybe": True}


def _assignment(node: Node) -> Iterator[Item]:
    target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    if value is not None and value.type == "assignment":  # a = b = value
        yield from _assignment(value)
        while value is not None and value.type == "assignment":
            value = value.child_by_field_name("right")
    if target is None or value is None:
        return
    if target.type in ("pattern_list", "tuple_pattern"):
        yield from ({"k": "set", "name": text(child), "values": []} for child in named(target))
        return
    if value.type == "lambda":
        yield {"k": "def", **_place(node), "name": text(target)}
        return
    item: Item = {"k": "set", **_place(node), "name": text(target), "values": marks_of(value)}
    if value.type in ("false", "none", "true"):
        item["const"] = text(value)
    if value.type == "call":
        item["called"] = calls(value)
        if any(text(child) == item["name"] for child in named(value.child_by_field_name("arguments"))):
            item["again"] = True  # `test = decorator(test)`
    if strings := strings_of(value, alone=item["name"] == "__only_on__"):
        item["strings"] = strings
    yield {**item, "line": line(target), "add": True} if node.type == "augmented_assignment" else item


def calls(node: Node | None) -> int | bool:
    """How often something is called in a row: True for once, which is nearly always so."""
    count = 0
    while node is not None and node.type == "call":
        node, count = node.child_by_field_name("function"), count + 1
    return count if count > 1 else True


def marks_of(node: Node | None) -> list[Mark]:
    """Heads of a value: one of a name, attribute or call, several of a list, tuple or conditional."""
    if node is None:
        return []
    if node.type in ("list", "tuple", "conditional_expression", "parenthesized_expression", "expression_list"):
        return [mark for child in named(node) for mark in marks_of(child)]
    dotted = dotted_of(node)
    return [[dotted, _cases(node)]] if dotted else []


def dotted_of(node: Node) -> str:
    """`a.b.c` of a name, an attribute, a call or a subscript; empty for anything else."""
    while node.type in ("call", "subscript"):
        inner = node.child_by_field_name("function" if node.type == "call" else "value")
        if inner is None:
            return ""
        node = inner
    if node.type not in WORDS:
        return ""
    words = "".join(text(node).split())
    return words if all(word.isidentifier() for word in words.split(".")) else ""


def _cases(node: Node) -> int | None:
    """Length of the literal table in `parametrize(names, table)`."""
    if node.type != "call" or not dotted_of(node).endswith("parametrize"):
        return None
    arguments = list(named(node.child_by_field_name("arguments")))
    plain = [child for child in arguments if child.type != "keyword_argument"]
    by_name = [child for child in arguments if text(child.child_by_field_name("name")) == "argvalues"]
    table = plain[1] if len(plain) > 1 else by_name[0].child_by_field_name("value") if by_name else None
    if table is None or table.type not in ("list", "tuple"):
        return None
    rows = list(named(table))
    return None if any(row.type == "list_splat" for row in rows) else len(rows)


def strings_of(node: Node, *, alone: bool) -> list[str]:
    """Plain strings that a list or tuple holds.  alone: a string by itself counts as well."""
    held = [node] if alone and node.type == "string" else named(node)
    return [string_of(child) for child in held if child.type == "string"]


def string_of(node: Node) -> str:
    """Value of a plain string literal."""
    return "".join(text(child) for child in node.named_children if child.type == "string_content")
