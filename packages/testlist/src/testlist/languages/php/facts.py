"""Facts of one PHP file: classes and traits with methods that may be tests, and calls that register Pest's."""

from typing import Final

from tree_sitter import Node

from testlist.languages.php import facts_calls, facts_docblock, strip
from testlist.languages.php.facts_names import Names
from testlist.languages.php.shape import CallFact, ClassFact, MethodFact, PhpFacts
from testlist.model import Facts
from testlist.sandbox.syntax import column, end_line, line, named, parse, text

CLASSES: Final = frozenset({"class_declaration", "trait_declaration"})
#: what may hold declarations or calls that run when the file is loaded
BLOCKS: Final = frozenset(
    {"compound_statement", "if_statement", "else_clause", "else_if_clause", "try_statement", "ERROR", "colon_block"}
)
LOOPS: Final = frozenset({"foreach_statement", "for_statement", "while_statement", "do_statement"})
SKIPS: Final = {"marktestskipped": "skipped", "marktestincomplete": "todo"}
SET_UPS: Final = frozenset({"setup", "setupbeforeclass"})
ATTRIBUTES: Final = "phpunit\\framework\\attributes\\"
PROVIDERS: Final = frozenset({"dataprovider", "dataproviderexternal", "testwith", "testwithjson"})
ROWS: Final = frozenset({"testwith", "testwithjson"})


def extract(source: bytes, language: str) -> Facts:
    """Read one file: see shape.PhpFacts."""
    names = Names()
    classes: list[ClassFact] = []
    found: list[CallFact] = []
    stack: list[tuple[Node, bool]] = [
        (child, False) for child in reversed(parse(strip.stripped(source), language).named_children)
    ]
    while stack:
        node, loop = stack.pop()
        if node.type == "namespace_definition":
            names.enter(node)
            body = node.child_by_field_name("body")
            stack += [(body, loop)] if body is not None else []
        elif node.type == "namespace_use_declaration":
            names.learn(node)
        elif node.type in CLASSES:
            comment = _above(node)
            classes.append(_class(node, names, comment))
        elif node.type == "expression_statement":
            found += facts_calls.read(node, loop=loop)
        elif node.type in BLOCKS or node.type in LOOPS:
            inside = loop or node.type in LOOPS
            stack += [(child, inside) for child in reversed(node.named_children)]
    facts: PhpFacts = {"classes": classes, "calls": found}
    return {key: value for key, value in facts.items() if value}


def depends(marks: list[str], comment: str) -> bool:
    """Whether a requirement decides if tests run."""
    return any(mark.startswith("requires") for mark in marks) or facts_docblock.requires(comment)


def _class(node: Node, names: Names, comment: str) -> ClassFact:
    name = text(node.child_by_field_name("name"))
    item: ClassFact = {"name": name, "full": names.declared(name), "bases": [], "traits": [], "methods": []}
    if node.type == "trait_declaration":
        item["trait"] = True
    if depends(_attributes(node, names), comment):
        item["when"] = True
    for child in node.named_children:
        if child.type == "base_clause":
            item["bases"] = [names.full(text(base)) for base in named(child)]
        elif child.type == "abstract_modifier":
            item["abstract"] = True
    above = ""
    for member in _members(node):
        if member.type == "use_declaration":
            item["traits"] += [names.full(text(one)) for one in named(member) if one.type != "use_list"]
        elif member.type == "method_declaration":
            _method(member, above, names, item)
        above = text(member) if member.type == "comment" else ""
    return item


def _above(node: Node) -> str:
    """The comment right before a declaration."""
    before = node.prev_named_sibling
    return text(before) if before is not None and before.type == "comment" else ""


def _members(node: Node) -> list[Node]:
    body = node.child_by_field_name("body")
    return body.named_children if body is not None else []


def _method(node: Node, comment: str, names: Names, owner: ClassFact) -> None:
    """Note a public method that may be a test, or what a set-up does to all tests."""
    name = node.child_by_field_name("name")
    written = text(name)
    if name is None:
        return
    first = _first(node)
    if written.lower() in SET_UPS and first:
        owner["off"] = first
        return
    kinds = {child.type: text(child).lower() for child in node.named_children if child.type.endswith("_modifier")}
    marks = _attributes(node, names)
    tags = facts_docblock.tags(comment)
    marked = "test" in marks or "test" in tags
    if kinds.get("visibility_modifier", "public") != "public" or not (marked or written.startswith("test")):
        return
    item: MethodFact = {"name": written, "line": line(name), "column": column(name), "end": end_line(node)}
    if cases := sum(mark in ROWS for mark in marks) or facts_docblock.rows(comment):
        item["cases"] = cases
    if PROVIDERS.intersection(marks) or tags - {"test"}:
        item["data"] = True
    if first:
        item["first"] = first
    if depends(marks, comment):
        item["when"] = True
    if "abstract_modifier" in kinds:
        item["abstract"] = True
    owner["methods"].append(item)


def _attributes(node: Node, names: Names) -> list[str]:
    """PHPUnit's attributes, by their last names in lower case."""
    groups = named(node.child_by_field_name("attributes"))
    written = (text(next(named(one), None)) for group in groups for one in named(group) if one.type == "attribute")
    full = (names.full(one).lower() for one in written)
    return [one.removeprefix(ATTRIBUTES) for one in full if one.startswith(ATTRIBUTES)]


def _first(method: Node) -> str | None:
    """The status a method gives its test by its first statement."""
    statement = next(named(method.child_by_field_name("body")), None)
    call = next(named(statement), None) if statement is not None and statement.type == "expression_statement" else None
    if call is None or call.type not in ("member_call_expression", "scoped_call_expression"):
        return None
    return SKIPS.get(text(call.child_by_field_name("name")).lower())
