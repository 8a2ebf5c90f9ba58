"""What the functions of one Rust file check, and what they call: read from whole files, on demand."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import MOST_FUNCTIONS, BodiesFact, BodyFact, CheckFact
from testlist.kit.checking import made, said
from testlist.kit.nearer import declared, without
from testlist.kit.passing import settle, standing
from testlist.languages.rust.checks_conditions import COMMENTS, inner, literal
from testlist.languages.rust.checks_tokens import TREE, block_of, last_of, made_by, tree_of
from testlist.languages.rust.checks_uses import uses
from testlist.languages.rust.checks_verdict import RustPassing
from testlist.languages.rust.checks_walk import DEEPEST, MACRO, Walk
from testlist.languages.rust.facts import PLAIN
from testlist.model import Facts
from testlist.sandbox.syntax import line, named, parse, text

RUST: Final = "rust"
#: a file that has such a module keeps its tests there, and what they test outside of it
APART: Final = re.compile(
    rb"#\[cfg\((?:all\()?test\b[^\n]{0,80}\]\s*+(?:#\[(?:[^\[\]\n]++|\[[^\[\]\n]{0,80}+\]){0,9}\]\s*+){0,20}(?:pub\s+)?mod\s+\w+\s*\{"
)
TESTS: Final = re.compile(r"tests?|.*_tests?|tests?_.*")
OWNERS: Final = frozenset({"impl_item", "trait_item"})
DEFINITION: Final = re.compile(rb"\bfn\s+(\w+)|\bmacro_rules!\s*(\w+)")
#: attributes of a test that passes if it does nothing, and of a module or a file that leave its tests as they are
HARMLESS: Final = PLAIN | {"test", "ignore"}
QUIET: Final = PLAIN | {"feature", "no_std", "recursion_limit", "crate_type", "crate_name"}
#: imports of a file, and what is imported by the name of the attribute or of a macro of the language
IMPORT: Final = re.compile(rb"\buse\b[^;]*+(?:;|\Z)")
TEST: Final = re.compile(rb"(?:::|[{,]|\bas\b)\s*+test\s*+[,;}]")
MACROS: Final = re.compile(rb"(?:::|[{,]|\bas\b)\s*+(?:debug_)?assert(?:_eq|_ne)?\s*+[,;}]")
#: parameters, which may be functions
NEARER: Final = {"parameter": "pattern", "closure_parameters": "*"}
#: functions that run before and after everything else
BEFORE: Final = re.compile(rb"#\[(?:\w++::)?[cd]tor\b")


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read one file: a BodiesFact."""
    own = frozenset(function.decode() or f"{macro.decode()}!" for function, macro in DEFINITION.findall(source))
    imports = b"".join(IMPORT.findall(source))
    reader = _Reader(own, apart=APART.search(source) is not None, has_macros=MACROS.search(imports) is not None)
    around = _Around(quiet=not TEST.search(imports) and not BEFORE.search(source))
    root = parse(source, RUST)
    functions = list(islice(reader.items(root, around, 0), MOST_FUNCTIONS))
    _tell_apart(functions, reader.modules)
    found: BodiesFact = {"functions": functions, "imports": uses(root)}
    return {**found}


def _tell_apart(functions: Sequence[BodyFact], modules: Sequence[str]) -> None:
    """Give functions of one name those of their modules too, so that a call means none of them."""
    alike = Counter(body["name"] for body in functions)
    for body, module in zip(functions, modules, strict=False):
        if alike[body["name"]] > 1:
            body["name"] = f"{module}.{body['name']}"


@dataclass(frozen=True, slots=True)
class _Around:
    """What is around an item.  owner: the type whose methods are read; test: in a module of tests; inside: a body.

    quiet: nothing around it is known to change what its tests mean.
    """

    modules: str = "crate"
    owner: str = ""
    test: bool = False
    inside: bool = False
    quiet: bool = True


@dataclass(slots=True)
class _Reader:
    """One file.  own: names of its functions; apart: its tests stand in a module; modules: of each function.

    has_macros: it imports macros by the names of those of the language.
    """

    own: frozenset[str]
    apart: bool
    has_macros: bool = False
    modules: list[str] = field(default_factory=list)

    def items(self, block: Node, around: _Around, depth: int) -> Iterator[BodyFact]:
        """Functions of a file, a module or a type, and those that macros are given."""
        inner_ones = (one for one in block.named_children if one.type == "inner_attribute_item")
        if not all(QUIET.issuperset(_meant(one)) for one in inner_ones):
            around = replace(around, quiet=False)
        for node, attributes in _attributed(block) if depth < DEEPEST else ():
            kind, body = node.type, node.child_by_field_name("body")
            if kind == "function_item":
                yield from self._function(node, attributes, around, depth)
            elif kind in OWNERS and body is not None:
                owner = said(node.child_by_field_name("type") or node.child_by_field_name("name"))
                name = owner.partition("<")[0].rpartition("::")[2]
                yield from self.items(body, _Around(around.modules, name, around.test), depth + 1)
            elif kind == "mod_item" and body is not None:
                name = text(node.child_by_field_name("name"))
                words = [*map(_word, attributes)]
                test = around.test or TESTS.fullmatch(name) is not None or "cfg" in words
                quiet = around.quiet and all(QUIET.issuperset(_meant(one)) for one in attributes)
                yield from self.items(body, _Around(f"{around.modules}.{name}", "", test, quiet=quiet), depth + 1)
            elif kind == "macro_definition":
                yield self._macro(node, around)
            elif not around.inside:
                macro = next(named(node), node) if kind == "expression_statement" else node
                if macro.type == MACRO and (tree := tree_of(macro)) is not None:
                    yield from self._given(f"{last_of(macro)}!", tree, around, depth + 1)

    def _function(self, node: Node, attributes: Sequence[Node], around: _Around, depth: int) -> Iterator[BodyFact]:
        name, block = node.child_by_field_name("name"), node.child_by_field_name("body")
        words = [_word(one) for one in attributes]
        is_plain = all(word in PLAIN and "test" not in text(one) for word, one in zip(words, attributes, strict=True))
        if name is None or block is None or (self.apart and not around.test and is_plain):
            return
        walk = Walk(own=self.own, expected="should_panic" in words)
        statements = inner(block)
        for one in attributes:
            if _word(one) == "should_panic":
                walk.add(_panicking(one))
        walk.node(block)
        without(walk, declared(node, NEARER))
        title = text(name).removeprefix("r#")
        found = walk.body(f"{around.owner}.{title}" if around.owner else title, name, node)
        is_bare = around.quiet and "test" in words and not inner(node.child_by_field_name("parameters"))
        if is_bare and all(HARMLESS.issuperset(_meant(one)) for one in attributes):
            passing = RustPassing(self.own, has_macros=self.has_macros)
            settle(found, passing.verdict(statements, standing(walk.checks)))
        self.modules.append(around.modules)
        yield found
        yield from self.items(block, _Around(around.modules, "", test=True, inside=True), depth + 1)

    def _macro(self, node: Node, around: _Around) -> BodyFact:
        """What a macro of the file makes."""
        name = node.child_by_field_name("name") or node
        walk = Walk(own=self.own, whole=True)
        for tree, block in made_by(node):
            walk.apart([block], tree, 0)
        self.modules.append(around.modules)
        return walk.body(f"{text(name)}!", name, node)

    def _given(self, macro: str, tree: Node, around: _Around, depth: int) -> Iterator[BodyFact]:
        """Functions that a macro is given; if there are none, what it is given by the name that comes first."""
        functions = list(self._inside(tree, around, depth))
        yield from functions
        head = next((one for one in tree.named_children if one.type not in COMMENTS and not _is_attribute(one)), None)
        if not functions and head is not None and head.type == "identifier":
            walk = Walk(own=self.own)
            walk.tokens(tree, 0)
            walk.calls[macro] = None
            self.modules.append(around.modules)
            yield walk.body(text(head), head, tree)

    def _inside(self, tree: Node, around: _Around, depth: int) -> Iterator[BodyFact]:
        """Functions in tokens: `fn name(…) { … }`, also in modules and other macros."""
        head: Node | None = None
        should_panic: Node | None = None
        for child in tree.children if depth < DEEPEST else ():
            before = child.prev_sibling
            if child.type == "identifier" and before is not None and before.type == "fn":
                head = child
            elif child.type == ";":
                head = None
            elif child.type == TREE and text(child).startswith("[should_panic"):
                should_panic = child
            elif child.type == TREE and text(child).startswith("{"):
                if head is None:
                    yield from self._inside(child, around, depth + 1)
                    continue
                walk = Walk(own=self.own, expected=should_panic is not None)
                if should_panic is not None:
                    walk.add(_panicking(should_panic))
                walk.apart([block_of(child)], child, 0)
                self.modules.append(around.modules)
                yield walk.body(text(head), head, child)
                head = should_panic = None


def _is_attribute(tokens: Node) -> bool:
    """Whether tokens in brackets are those of an attribute."""
    before = tokens.prev_sibling
    return tokens.type == TREE and text(tokens).startswith("[") and before is not None and before.type == "#"


def _attributed(block: Node) -> Iterator[tuple[Node, list[Node]]]:
    """Items with the attributes before them."""
    attributes: list[Node] = []
    for node in block.named_children:
        if node.type == "attribute_item":
            attributes.append(node)
        elif node.type not in COMMENTS:
            yield node, attributes
            attributes = []


def _word(attribute: Node) -> str:
    """The name of an attribute, whole."""
    inside = next((child for child in attribute.named_children if child.type == "attribute"), None)
    return "".join(text(inside.named_child(0) if inside is not None else None).split())


def _meant(attribute: Node) -> list[str]:
    """The name of an attribute; of `cfg_attr(unix, allow(a), b)`, those that it stands for."""
    name, inside = _word(attribute), text(attribute).partition("(")[2]
    depth, parts = 0, [""]
    for letter in inside.rpartition(")")[0] if name == "cfg_attr" else "":
        depth += (letter == "(") - (letter == ")")
        parts = [*parts, ""] if letter == "," and depth == 0 else [*parts[:-1], parts[-1] + letter]
    given = [one.partition("(")[0].partition("=")[0].strip() for one in parts[1:]]
    return [one for one in given if one] or [name]


def _panicking(attribute: Node) -> CheckFact:
    """`#[should_panic(expected = "…")]`."""
    check = made(line(attribute), "raises", literal=literal)
    found = re.search(r'expected\s*=\s*(r?#{0,3}"(?:[^"\\]|\\.)*"#{0,3})', text(attribute), re.DOTALL)
    if found is not None:
        check["message"] = " ".join(found[1].split())[:200]
    return check
