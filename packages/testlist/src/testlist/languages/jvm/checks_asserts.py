"""Checks that are one call: `assertEquals(3, total)`, `Assert.fail()`, `assertFailsWith<T> { }`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import at, is_one, made, said
from testlist.languages.jvm.checks_calls import LAMBDAS, STRINGS, Call, call_of, literal, parts
from testlist.languages.jvm.checks_matchers import matched
from testlist.languages.jvm.checks_origins import Origins
from testlist.languages.jvm.vocabulary_checks import ASSERTS, HOLDERS, RULE, RULES, TOLERANCES, Meaning, Order
from testlist.languages.jvm.vocabulary_matchers import MATCHERS
from testlist.sandbox.syntax import line, text

ASSERTING: Final = re.compile(r"assert[A-Z]\w*")
FLOATS: Final = re.compile(r"-?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[fFdD]?")
#: calls that compute a tolerance
COMPUTED: Final = re.compile(r"(?:Math\.)?ulp\(|(?:Double|Float)\.MIN_VALUE")
TYPES: Final = frozenset({"class_literal", "class_reference", "callable_reference"})


def asserted(call: Call, origins: Origins) -> list[CheckFact]:
    """The checks that a call is."""
    owner = text(call.owner) if call.owner is not None and not call.is_infix else ""
    if call.name == "assertThat":
        return list(_that(call)) if len(call.given) > 1 and not owner_is_value(owner) else []
    if call.name in HOLDERS or call.is_infix:
        return []
    order, meaning = origins.order(call.name, owner), ASSERTS.get(call.name)
    if meaning is not None and order is not None:
        return [_made(call, meaning, order)]
    if ASSERTING.fullmatch(call.name) and call.name not in origins.own:
        return [_custom(call, owner)]
    return list(_ruled(call, owner, origins))


def _custom(call: Call, owner: str) -> CheckFact:
    """A function that the file does not hold: about the value that it is called on, or what it is given."""
    last = owner.rpartition(".")[2]
    if len(call.given) > 1 or owner in ("", "this", "super") or (last.isidentifier() and last[0].isupper()):
        return _check(call, "custom", at(call.given, 0), at(call.given, 1))
    return _check(call, "custom", call.owner, at(call.given, 0))


def _ruled(call: Call, owner: str, origins: Origins) -> Iterator[CheckFact]:
    """`thrown.expect(T.class)` and `thrown.expectMessage("a")`, where the rule is imported."""
    if call.name in RULES and owner.isidentifier() and len(call.given) == 1 and origins.has(RULE):
        if RULES[call.name]:
            yield {**_check(call, "raises"), "message": said(call.given[0])}
        else:
            yield _check(call, "raises", None, call.given[0])


def owner_is_value(owner: str) -> bool:
    """Whether a call is of a value and not of a class, by the first letter."""
    return owner[:1].islower() and "." not in owner


def _that(call: Call) -> Iterable[CheckFact]:
    """Hamcrest: `assertThat(a, is(b))`, also with a reason before them."""
    *before, last = call.given
    matcher = call_of(last)
    is_value = matcher is None or (matcher.owner is not None and matcher.name not in MATCHERS)
    if len(before) == 1 and is_text(before[0]) and is_value:
        return [_check(call, "truthy", last)]
    return matched(call.node, before[-1], last)


def _made(call: Call, meaning: Meaning, order: Order) -> CheckFact:
    if meaning.takes == "none":
        return _check(call, meaning.relation)
    if meaning.takes == "type":
        return _typed(call, meaning, order)
    if meaning.takes == "one":
        return _check(call, meaning.relation, _subject(call, order), negated=meaning.negated)
    sides, tolerance = _sides(call, order)
    relation = "approximate" if tolerance is not None and meaning.relation == "equal" else meaning.relation
    first, second = at(sides, 0), at(sides, 1)
    if meaning.takes == "subject" or order == "actual_first":
        first, second = second, first
    expected, subject = call.labels.get("expected", first), call.labels.get("actual", second)
    check = _check(call, relation, subject, expected, negated=meaning.negated)
    if tolerance is not None:
        check["tolerance"] = said(tolerance)
    return check


def _subject(call: Call, order: Order) -> Node | None:
    """What is checked alone, beside a message."""
    given = call.given
    if "actual" in call.labels or len(given) < 2:
        return call.labels.get("actual") or at(given, 0) or call.block
    is_first = is_text(given[0]) or (order == "message_first" and not is_text(given[1]))
    return given[1] if is_first else given[0]


def _sides(call: Call, order: Order) -> tuple[Sequence[Node], Node | None]:
    """The two sides in their order, and a tolerance."""
    given = [one for one in call.given if one is not call.labels.get("message")]
    if order == "message_first" and len(given) > 2:
        is_message = len(given) > 3 or is_text(given[0]) or not is_tolerance(given[2])
        given = given[1:] if is_message else given
    third = at(given, 2)
    tolerance = third if third is not None and (is_tolerance(third) or len(given) > 3) else None
    return given[:2], call.labels.get("absoluteTolerance") or tolerance


def _typed(call: Call, meaning: Meaning, order: Order) -> CheckFact:
    """`assertThrows(T.class, () -> a)`, `assertFailsWith<T> { a }`, `assertIs<T>(a)`."""
    given = [one for one in call.given if one is not call.labels.get("message")]
    if order == "message_first" and len(given) > 2 and is_text(given[0]):
        given = given[1:]
    kind = call.kind or next((one for one in given if _is_type(one)), None)
    others = [one for one in given if one is not kind and not is_text(one)]
    if meaning.relation == "raises":
        functions = [one for one in others if one.type in LAMBDAS or one.type == "method_reference"]
        subject = call.block or at(functions, 0) or at(others, len(others) - 1 if others else None)
    else:
        subject = at(others, 0)
    if kind is None and len(others) > 1:  # `assertThrows(type, function)`
        kind, subject = others[0], call.block or others[1]
    return _check(call, meaning.relation, subject, kind, negated=meaning.negated)


def _is_type(node: Node) -> bool:
    """`T.class`, `T::class`, `T::class.java`."""
    return node.type in TYPES or text(node).endswith(("::class", "::class.java", ".class"))


def _check(
    call: Call, relation: str, subject: Node | None = None, expected: Node | None = None, *, negated: bool = False
) -> CheckFact:
    check = made(line(call.node), relation, subject, expected, negated=negated, literal=literal)
    if not negated and relation in ("equal", "identical") and "value" in check and subject is not None:
        value = literal(subject)
        is_boxed = relation == "identical" and type(value) is int  # each time another object
        return {**check, "idle": "constant"} if is_one(value, check["value"]) and not is_boxed else check
    if relation in ("truthy", "none") and subject is not None:
        holds = {"truthy": not negated, "none": None}[relation]
        if literal(subject) is holds and not (relation == "none" and negated):
            check["idle"] = "constant"
    return check


def is_text(node: Node) -> bool:
    """Whether it is surely a text: a literal, or a sum that begins with one."""
    for _ in range(20):
        inner = parts(node)
        if node.type != "binary_expression" or len(inner) != 2:
            break
        if inner[1].type in STRINGS:
            return any(child.type == "+" for child in node.children)
        node = inner[0]
    return node.type in STRINGS


def is_tolerance(node: Node) -> bool:
    """Whether a third argument is a tolerance and no message."""
    words = said(node)
    if FLOATS.fullmatch(words) or COMPUTED.search(words):
        return True
    last = words.rpartition(".")[2].lower()
    return node.type not in STRINGS and any(word in last for word in TOLERANCES) and '"' not in words
