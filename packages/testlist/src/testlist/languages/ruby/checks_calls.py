"""One check of Ruby: `assert_equal 3, total`, `_(total).must_equal 3`, `expect(total).to eq 3`, `total.should eq 3`."""

from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import at, made, said
from testlist.languages.ruby.checks_conditions import CONDITIONS, literal
from testlist.languages.ruby.facts_calls import TITLES
from testlist.languages.ruby.vocabulary_checks import (
    ASSERTS,
    BEGINNINGS,
    FAIL,
    FALSE_MATCHERS,
    LINKS,
    MATCHERS,
    MUST,
    OPERATORS,
    OPPOSITES,
    SUBJECTS,
)
from testlist.sandbox.syntax import line, named, text

#: methods that check without a word after `assert`
PLAIN: Final = {"assert": False, "refute": True, "assert_not": True}
SHOULD: Final = "should"
#: what an error's message is compared with
MESSAGES: Final = frozenset({"string", "regex"})
#: what joins two matchers, so that neither says alone what has to hold
COMPOUND: Final = frozenset({"and", "or"})
#: what a declaration is given first, and no matcher is; `be > 3` is one
WORDS: Final = TITLES - {"binary"}


def arguments(call: Node) -> list[Node]:
    """What a call is given, without its block."""
    return [child for child in named(call.child_by_field_name("arguments")) if child.type != "block_argument"]


def checked(call: Node) -> CheckFact | None:
    """The check that a call is; None if it is none."""
    method, receiver = text(call.child_by_field_name("method")), call.child_by_field_name("receiver")
    if receiver is None and method in LINKS and method.startswith(SHOULD):
        return _alone(call, negated=LINKS[method])
    if receiver is None or text(receiver) in ("self", "assert"):
        return _asserted(call, method)
    if method in LINKS:
        return _expected(call, receiver, negated=LINKS[method])
    for word, negated in (("must_", False), ("wont_", True)):
        if method.startswith(word):
            return _must(call, receiver, method.removeprefix(word), negated=negated)
    return None


def stated(call: Node) -> list[CheckFact]:
    """The checks of `assert a == b`; none of any other call, and of a condition that only has to be true."""
    method, receiver = text(call.child_by_field_name("method")), call.child_by_field_name("receiver")
    condition = at(arguments(call), 0)
    if method not in PLAIN or condition is None or (receiver is not None and text(receiver) != "self"):
        return []
    found = list(CONDITIONS.of(condition, line(call), negated=PLAIN[method]))
    is_plain = len(found) == 1 and found[0]["relation"] == "truthy" and found[0].get("subject") == said(condition)
    return [] if is_plain else found


def _asserted(call: Node, method: str) -> CheckFact | None:
    given = arguments(call)
    if method == FAIL:
        return _made(call, "fails", None)
    if method in PLAIN:
        return _made(call, "truthy", at(given, 0), negated=PLAIN[method])
    for beginning, negated in BEGINNINGS.items():
        name = method.removeprefix(beginning)
        if name != method and (name in ASSERTS or beginning in ("assert_", "refute_")):
            relation, subject, expected = ASSERTS.get(name, ("custom", 0, 1))
            turned = negated != (name in OPPOSITES)
            if relation == "custom":  # `ignore_query: true` is no side of it
                given = [one for one in given if one.type != "pair"]
            check = _made(call, relation, at(given, subject), at(given, expected), negated=turned)
            if relation == "approximate" and len(given) > 2:
                check["tolerance"] = said(given[2])
            return check
    return None


def _must(call: Node, receiver: Node, name: str, *, negated: bool) -> CheckFact:
    is_held = receiver.type == "call" and text(receiver).startswith(("_(", "value(", "expect("))
    subject = at(arguments(receiver), 0) if is_held else receiver
    check = _made(call, MUST.get(name, "custom"), subject, at(arguments(call), 0), negated=negated)
    check["line"] = line(call.child_by_field_name("method") or call)  # a chain may hold several, line by line
    return check


def _expected(call: Node, receiver: Node, *, negated: bool) -> CheckFact | None:
    """`expect(a).to eq b`, `a.should eq b`."""
    method = text(call.child_by_field_name("method"))
    begun = text(receiver.child_by_field_name("method")) if receiver.type == "call" else text(receiver)
    if begun in SUBJECTS:
        given = arguments(receiver) if receiver.type == "call" else []
        block = receiver.child_by_field_name("block") if receiver.type == "call" else None
        subject = at(given, 0) or block or receiver
    elif method.startswith(SHOULD):
        subject = receiver
    else:
        return None
    matcher = at(arguments(call), 0)
    if matcher is None:
        return None
    return _matched(call, subject, matcher, negated=negated)


def _alone(call: Node, *, negated: bool) -> CheckFact | None:
    """`should eq b`, about the subject of the group; `should "work"` declares a test."""
    matcher = at(arguments(call), 0)
    if matcher is None or matcher.type in WORDS or call.child_by_field_name("block") is not None:
        return None
    return _matched(call, None, matcher, negated=negated)


def _matched(call: Node, subject: Node | None, matcher: Node, *, negated: bool) -> CheckFact:
    if matcher.type == "binary":  # `be > 3`
        relation = OPERATORS.get(text(matcher.child_by_field_name("operator")), "custom")
        return _made(call, relation, subject, matcher.child_by_field_name("right"), negated=negated)
    inner, given = matcher, None
    for _ in range(20):  # `be_within(1).of(3)`, `have_received(:a).with(b).once`
        under = inner.child_by_field_name("receiver") if inner.type == "call" else None
        if under is not None and text(inner.child_by_field_name("method")) in COMPOUND:
            return _made(call, "custom", subject, matcher, negated=negated)
        if under is None:
            break
        given = inner if text(inner.child_by_field_name("method")) == "with" else given
        inner = under
    name = text(inner.child_by_field_name("method")) if inner.type == "call" else text(inner)
    expected = at(arguments(inner), 0) if inner.type == "call" else None
    relation = FALSE_MATCHERS.get(name) or MATCHERS.get(name, "custom")
    if name == "be" and expected is None:
        relation = "truthy"
    if relation == "called" and given is not None:
        relation, expected = "called_with", at(arguments(given), 0)
    check = _made(call, relation, subject, expected, negated=negated != (name in FALSE_MATCHERS))
    if relation == "raises" and expected is not None and expected.type in MESSAGES:
        check["message"] = check.pop("expected")
        check.pop("value", None)
    if relation == "approximate" and inner is not matcher:
        check["tolerance"] = said(expected)
        check.pop("value", None)
        check["expected"] = said(at(arguments(matcher), 0))
    return check


def _made(
    node: Node, relation: str, subject: Node | None, expected: Node | None = None, *, negated: bool = False
) -> CheckFact:
    return made(line(node), relation, subject, expected, negated=negated, literal=literal)
