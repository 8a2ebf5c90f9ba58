"""The check that a call of Swift is: of XCTest, of Swift Testing, of Nimble, and of libraries for snapshots."""

from collections.abc import Iterator

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import Part, at, made, said
from testlist.languages.swift.checks_calls import CLOSURE, Argument, arguments, bare, name_of, suffix_of
from testlist.languages.swift.checks_conditions import compared, conditions, is_written, literal, operands, part
from testlist.languages.swift.vocabulary_checks import (
    CONDITIONS,
    FUNCTIONS,
    LINKS,
    MATCHERS,
    NEVER,
    NIMBLE,
    NO_CHECKS,
    OPERATORS,
    OTHERS,
    Meaning,
)
from testlist.sandbox.syntax import line, named, text

OPERATOR_OF = {relation: operator for operator, (relation, negated) in OPERATORS.items() if not negated}


def side(argument: Argument | None) -> Part | None:
    """One side of a check."""
    return None if argument is None else Part(argument.value.text or b"", argument.value)


def called(call: Node) -> Iterator[CheckFact]:
    """The checks that a call is."""
    name = name_of(call)
    given, where = arguments(call), line(call)
    if name in CONDITIONS:
        yield from conditions(given[0].value, where, negated=CONDITIONS[name]) if given else ()
    elif name in FUNCTIONS:
        yield _meant(FUNCTIONS[name], given, where)
    elif (link := suffix_of(call.named_child(0)))[1] in LINKS and _expecting(link[0]) is not None:
        yield _matched(_expecting(link[0]), given, where, negated=LINKS[link[1]])
    elif name == "confirmation":
        count = next((one for one in given if one.label == "expectedCount"), None)
        subject = given[0] if given and given[0].label == "" and given[0].value.type != CLOSURE else None
        yield made(where, "called", side(subject), side(count), literal=literal)
    elif OTHERS.match(name) and name not in NO_CHECKS and "." not in name:
        yield made(where, "custom", side(at(given, 0)), side(at(given, 1)), literal=literal)


def _meant(meaning: Meaning, given: list[Argument], where: int) -> CheckFact:
    plain = [one for one in given if one.label in ("", "of")]
    accuracy = next((one for one in given if one.label == "accuracy"), None)
    subject, expected = side(at(plain, meaning.subject)), side(at(plain, meaning.expected))
    relation = "approximate" if accuracy is not None else meaning.relation
    if relation in OPERATOR_OF and subject is not None and expected is not None:
        return compared(subject, OPERATOR_OF[relation], expected, where, negated=meaning.negated)
    if relation == "approximate" and subject is not None and expected is not None and is_written(subject):
        subject, expected = (subject, expected) if is_written(expected) else (expected, subject)
    check = made(where, relation, subject, expected, negated=meaning.negated, literal=literal)
    if accuracy is not None:
        check["tolerance"] = said(accuracy.value)
    return check


def expected_of(macro: Node, *, kept: bool) -> Iterator[CheckFact]:
    """`#expect(a == b)`, `#expect(throws: E.self) { … }`.  kept: the value of `#require` goes on being used."""
    given, where = arguments(macro), line(macro)
    throws = next((one for one in given if one.label in ("throws", "performing")), None)
    closure = next((one for one in given if one.value.type == CLOSURE and one.label != "throws"), None)
    if throws is not None and throws.label == "throws":
        never = said(throws.value) in NEVER
        wanted = None if never or throws.value.type == CLOSURE else side(throws)
        yield made(where, "raises", side(closure), wanted, negated=never, literal=literal)
    elif given and kept and len(operands(given[0].value)) == 1:
        yield made(where, "none", side(given[0]), negated=True, literal=literal)
    elif given:
        yield from conditions(given[0].value, where)


def _expecting(node: Node | None) -> Node | None:
    """The call that begins a check of Nimble."""
    node = bare(node) if node is not None else None
    return node if node is not None and node.type == "call_expression" and name_of(node) in NIMBLE else None


def _matched(begun: Node | None, given: list[Argument], where: int, *, negated: bool) -> CheckFact:
    subject = side(at(arguments(begun), 0)) if begun is not None else None
    matcher = given[0].value if given else None
    for _ in range(20):
        if matcher is None or matcher.type != "call_expression" or name_of(matcher) != "not":
            break
        inner = at(arguments(matcher), 0)
        negated, matcher = not negated, inner.value if inner is not None else None
    name = name_of(matcher).rpartition(".")[2] if matcher is not None and matcher.type == "call_expression" else ""
    if matcher is None or name not in MATCHERS:
        return made(where, "custom", subject, side(at(given, 0)), negated=negated, literal=literal)
    relation, turned = MATCHERS[name]
    inside = arguments(matcher)
    expected = next((one for one in inside if one.label in ("", "errorType", "named")), None)
    check = made(where, relation, subject, side(expected), negated=negated != turned, literal=literal)
    within = next((one for one in inside if one.label == "within"), None)
    if within is not None:
        check["tolerance"] = said(within.value)
    return check


def operated(node: Node) -> CheckFact | None:
    """`expect(a) == b`; None for any other expression with an operator."""
    row = operands(node)
    begun = _expecting(row[0])
    if begun is None or len(row) < 3 or text(row[1]) not in OPERATORS:
        return None
    subject = side(at(arguments(begun), 0))
    if subject is None:
        return None
    return compared(subject, text(row[1]), part(row[2:], node), line(node))


def failing(name: str, *, nimble: bool) -> bool:
    """Whether a call by this name fails the test.  nimble: the file has Nimble."""
    return name in ("XCTFail", "Issue.record", "Testing.Issue.record") or (nimble and name == "fail")


def statements_of(node: Node) -> list[Node]:
    """Statements of a block; none for what has none."""
    return [one for child in named(node) if child.type == "statements" for one in named(child)]
