"""One check: a chain that begins with `expect`, a chain of `should`, or a call of `assert`."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import NOTHING, at, made, said, whole
from testlist.kit.passing import proved
from testlist.languages.javascript.facts_literals import value_of
from testlist.languages.javascript.vocabulary_checks import (
    ALONE,
    ASSERTS,
    FAILING,
    FILLERS,
    MATCHERS,
    NEGATIONS,
    OPPOSITES,
    OTHERWISE,
    OWNERS,
)
from testlist.sandbox.syntax import line, named, text

SHOULD: Final = "should"
#: what begins a chain
BEGINNINGS: Final = frozenset({"expect", "expect.soft", "expect.poll", "expect.element", "chai.expect", "expectTypeOf"})
#: what a chain may consist of
WORDS: Final = FILLERS | NEGATIONS | MATCHERS.keys() | {SHOULD}
#: links of a chain that are followed
LONGEST: Final = 30


def name_of(call: Node) -> str:
    """`a.b.c` of what a call calls; empty for what has no name."""
    function = call.child_by_field_name("function")
    words = said(function) if function is not None and function.type in ("identifier", "member_expression") else ""
    return words if all(part.isidentifier() or part == "this" for part in words.split(".")) else ""


def checked(node: Node, own: frozenset[str] = frozenset()) -> CheckFact | None:
    """The check that a node is; None if it is none, or part of one that is longer.

    own: functions of the repository, of which an `assert` may do anything: it is followed as any other call.
    """
    if node.type == "call_expression":
        return _chain(node, called=True) or (None if name_of(node) in own else _asserted(node))
    if node.type == "member_expression" and node.parent is not None and node.parent.type == "expression_statement":
        return _chain(node, called=False)
    return None


def parts_of(node: Node) -> Iterator[Node]:
    """What is given to the links of a check, in which something else may be called."""
    here: Node | None = node
    for _ in range(LONGEST):
        if here is None:
            return
        if here.type == "call_expression":
            yield from named(here.child_by_field_name("arguments"))
            here = here.child_by_field_name("function")
        elif here.type == "member_expression":
            if text(here.child_by_field_name("property")) == SHOULD:
                yield from named(here)
                return
            here = here.child_by_field_name("object")
        else:
            return


def _chain(node: Node, *, called: bool) -> CheckFact | None:
    """`expect(a).not.toBe(b)`, `expect(a).to.be.true`, `a.should.equal(b)`."""
    member = node.child_by_field_name("function") if called else node
    if member is None or member.type != "member_expression":
        return None
    matcher = text(member.child_by_field_name("property"))
    subject, words = _begin(member.child_by_field_name("object"))
    if subject is None or not set(words) <= WORDS or (not called and matcher not in ALONE):
        return None
    given = list(named(node.child_by_field_name("arguments"))) if called else []
    relation = OPPOSITES.get(matcher) or MATCHERS.get(matcher)
    if relation is None:
        if matcher in FILLERS or not (matcher.startswith("to") or SHOULD in words):
            return None  # `expect(a).to` goes on
        relation = "custom"
    negated = (matcher in OPPOSITES) != (sum(word in NEGATIONS for word in words) % 2 == 1)
    return _made(node, relation, subject, given, negated=negated)


def _begin(node: Node | None) -> tuple[Node | None, list[str]]:
    """What a chain is about, and its words so far; None where it does not begin with expect or should."""
    words: list[str] = []
    for _ in range(LONGEST):
        if node is None:
            break
        if node.type == "call_expression":
            function = node.child_by_field_name("function")
            if function is not None and "".join(text(function).split()) in BEGINNINGS:
                return next(named(node.child_by_field_name("arguments")), node), words
            node = function
        elif node.type == "member_expression":
            word = text(node.child_by_field_name("property"))
            words.append(word)
            if word == SHOULD:
                return node.child_by_field_name("object"), words
            node = node.child_by_field_name("object")
        else:
            break
    return None, words


def _asserted(call: Node) -> CheckFact | None:
    """`assert.equal(a, b)`, `assert(a)`, `assertEquals(a, b)`, `t.is(a, b)`."""
    name = name_of(call)
    owner, _, last = name.rpartition(".")
    if name in FAILING:
        return _made(call, "fails", None, [])
    if (owner and (owner not in OWNERS or last in OTHERWISE)) or (not owner and not last.startswith("assert")):
        return None
    given = list(named(call.child_by_field_name("arguments")))
    if last not in ASSERTS:
        return _made(call, "custom", None, given) if owner == "assert" else None
    relation, negated = ASSERTS[last]
    return _made(call, relation, at(given, 0), given[1:], negated=negated)


def _made(
    node: Node, relation: str, subject: Node | None, given: Sequence[Node], *, negated: bool = False
) -> CheckFact:
    """One check.  given: what is expected first, and then a tolerance."""
    check = made(line(node), relation, subject, at(given, 0), negated=negated, literal=literal_of)
    if relation == "approximate" and len(given) > 1:
        check["tolerance"] = said(given[1])
    value = literal_of(subject) if subject is not None else NOTHING
    sides = [value, *([check["value"]] if "value" in check else [])]
    if not (relation in ("truthy", "none") and given) and proved(relation, sides, negated=negated):
        check["idle"] = "constant"
    return check


def literal_of(node: Node) -> Any:
    """The value of a literal; NOTHING for anything else."""
    if node.type == "number":
        return whole(text(node))
    return value_of(node, {}) if node.type in ("null", "string", "true", "false") else NOTHING
