"""Checks of Spring's MockMvc, of Reactor and of Awaitility: `andExpect(status().isOk())`, `expectNext(a)`."""

from collections.abc import Sequence

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import at, made
from testlist.languages.jvm.checks_calls import Call, call_of, chain, literal
from testlist.languages.jvm.checks_matchers import matched
from testlist.languages.jvm.vocabulary_chains import AWAITING, EXPECTED, KEYED, STEPS, UNTIL, VERIFIER
from testlist.languages.jvm.vocabulary_matchers import ALL, IS, MATCHERS, NOT
from testlist.sandbox.syntax import line, text


def stepped(links: Sequence[Call]) -> list[CheckFact]:
    """Reactor: `StepVerifier.create(a).expectNext(b).verifyComplete()`."""
    first = links[0]
    if first.owner is None or text(first.owner) != VERIFIER or not first.given:
        return []
    steps = [link for link in links if link.name in STEPS]
    return [_check(link, STEPS[link.name], first.given[0], at(link.given, 0)) for link in steps]


def awaited(links: Sequence[Call]) -> list[CheckFact]:
    """Awaitility: `await().until(() -> a)`, also with a matcher."""
    last = links[-1]
    if last.name != UNTIL or links[0].name not in AWAITING or not last.given:
        return []
    if len(last.given) > 1:
        return list(matched(last.node, last.given[0], last.given[1]))
    return [_check(last, "truthy", last.given[0])]


def expected(call: Call) -> list[CheckFact]:
    """Spring's MockMvc: `andExpect(jsonPath("$.a").value(3))`."""
    found = call_of(at(call.given, 0)) if call.name == "andExpect" and len(call.given) == 1 else None
    if found is None:
        return []
    begun, last = chain(found)[0], found
    if begun is last and len(last.given) == 2:  # `jsonPath("$.a", is(3))`
        return list(matched(call.node, last.given[0], last.given[1]))
    if begun is last:
        return [_check(last, "custom", last.node)]
    if last.name not in EXPECTED:
        return [_check(last, "truthy", last.node)]
    relation, negated = EXPECTED[last.name]
    is_keyed = len(last.given) == 2 and last.name in KEYED
    value = at(last.given, 1 if is_keyed else 0)
    subject = last.given[0] if is_keyed else last.owner
    held = call_of(value)
    if relation == "equal" and value is not None and held is not None and held.name in (*MATCHERS, *IS, NOT, *ALL):
        return list(matched(call.node, subject, value))
    return [_check(last, relation, subject, value, negated=negated)]


def _check(
    call: Call, relation: str, subject: Node | None = None, wanted: Node | None = None, *, negated: bool = False
) -> CheckFact:
    return made(line(call.node), relation, subject, wanted, negated=negated, literal=literal)
