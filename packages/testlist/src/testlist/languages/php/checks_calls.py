"""One check of PHPUnit or Laravel: a method that is called `assert…` or `expect…`, of the test or of what it holds."""

from typing import Any, Final, NamedTuple

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import NOTHING, at, holds, made, said, whole
from testlist.languages.php.vocabulary_checks import (
    ASSERTS,
    EXPECTS,
    MESSAGES,
    NEGATIONS,
    OWN,
    OWNERS,
    PRINTS,
    RECEIVED,
    Meaning,
)
from testlist.sandbox.syntax import line, named, text

CHAINED: Final = frozenset({"member_call_expression", "nullsafe_member_call_expression", "member_access_expression",
                            "nullsafe_member_access_expression"})  # fmt: skip
#: methods of PHP have a name in whatever case
SPELT: Final = {name.lower(): meaning for name, meaning in ASSERTS.items()}
#: names of arguments that say which side they are
SUBJECTS: Final = frozenset({"actual", "haystack", "condition", "object", "array", "string", "value"})
EXPECTED: Final = frozenset({"expected", "needle", "key", "prefix", "suffix", "pattern", "expectedCount"})
FIRST: Final = Meaning("custom", 0, 1)


class Link(NamedTuple):
    """One link of a chain.  node: the chain up to it; called: whether it has arguments, and is no property."""

    node: Node
    name: str
    called: bool

    @property
    def given(self) -> list[Node]:
        """What it is given."""
        return arguments(self.node)

    @property
    def line(self) -> int:
        """Where its name stands: of a chain over several lines, that tells which link it is."""
        return line(self.node.child_by_field_name("name") or self.node)


def links_of(node: Node) -> tuple[Node, list[Link]]:
    """What a chain begins with, and its links in order."""
    links: list[Link] = []
    while node.type in CHAINED and (inner := node.child_by_field_name("object")) is not None:
        name = node.child_by_field_name("name")
        written = text(name) if name is not None and name.type == "name" else ""
        links.append(Link(node, written, "call" in node.type))
        node = inner
    return node, links[::-1]


def arguments(call: Node) -> list[Node]:
    """Values of arguments."""
    return [one.named_children[-1] for one in _written(call)]


def _written(call: Node) -> list[Node]:
    return [
        one for one in named(call.child_by_field_name("arguments")) if one.type == "argument" and one.named_children
    ]


def plain(node: Node | None) -> str:
    """The last part of the name of a class, or of what a call calls; empty for what has no name."""
    if node is not None and node.type.endswith("_call_expression"):
        node = node.child_by_field_name("function") or node.child_by_field_name("name")
    is_name = node is not None and node.type in ("name", "qualified_name", "relative_scope")
    return text(node).rpartition("\\")[2] if is_name else ""


def asserted(call: Node, name: str, where: int) -> CheckFact | None:
    """The check that a method or function of PHPUnit is; None if it is none."""
    if name in MESSAGES:
        return {"line": where, "relation": "raises", "message": said(at(arguments(call), 0))}
    if name in EXPECTS:
        return _made(call, EXPECTS[name], where)
    known = meaning_of(name)
    if known is None and not name.startswith("assert"):
        return None
    return _made(call, known or FIRST, where)


def meaning_of(name: str) -> Meaning | None:
    """What an `assert…` of PHPUnit or of a framework's test means."""
    word = name.removeprefix("assert")
    if word == name:
        return None
    if (found := ASSERTS.get(word) or OWN.get(word) or SPELT.get(word.lower())) is not None:
        return found
    for spelt, plain in NEGATIONS:
        if spelt in word and (found := ASSERTS.get(word.replace(spelt, plain, 1))) is not None:
            return found._replace(negated=not found.negated)
    return None


def received(link: Link, holder: Node) -> CheckFact:
    """The check of `$response->assertOk()`.  holder: what has the method."""
    word = link.name.removeprefix("assert")
    meaning, known = RECEIVED.get(word) or PRINTS.get(link.name), meaning_of(link.name)
    if meaning is None and known is not None and known.expected is not None and len(link.given) > 1:
        return _made(link.node, known, link.line)  # of a test that was handed over
    relation, _, expected, negated, _ = meaning or Meaning("custom", None, 0)
    return made(link.line, relation, holder, at(link.given, expected), negated=negated, literal=literal)


def is_own(node: Node | None) -> bool:
    """Whether a class or an object is the test itself, or PHPUnit."""
    return text(node).rpartition("\\")[2].lstrip("$") in OWNERS | {"this"}


def _made(call: Node, meaning: Meaning, where: int) -> CheckFact:
    given = arguments(call)
    names = {text(one.child_by_field_name("name")): one.named_children[-1] for one in _written(call)}
    subject = next((node for name, node in names.items() if name in SUBJECTS), at(given, meaning.subject))
    expected = next((node for name, node in names.items() if name in EXPECTED), at(given, meaning.expected))
    check = made(where, meaning.relation, subject, expected, negated=meaning.negated, literal=literal)
    if (tolerance := names.get("delta") or at(given, meaning.tolerance)) is not None:
        check["tolerance"] = said(tolerance)
    if subject is not None and holds(check, literal(subject)):
        check["idle"] = "constant"
    return check


def literal(node: Node) -> Any:
    """The value of a literal; NOTHING for anything else."""
    raw = text(node)
    if node.type in ("string", "encapsed_string"):
        plain = all(child.type == "string_content" for child in node.named_children)
        return raw[1:-1] if plain and "\\" not in raw else NOTHING
    if node.type == "integer":
        return whole(raw) if raw == "0" or raw[:1] != "0" else NOTHING
    if node.type == "boolean":
        return raw.lower() == "true"
    return None if node.type == "null" else NOTHING
