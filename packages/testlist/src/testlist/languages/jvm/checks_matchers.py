"""Checks by matchers: Hamcrest's `is(not(b))`, and words of Kotest and Kluent, `a shouldNotBe b`."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import at, made, said
from testlist.languages.jvm.checks_calls import LAMBDAS, Call, bare, call_of, chain, literal, spread
from testlist.languages.jvm.checks_origins import Origins
from testlist.languages.jvm.vocabulary_matchers import (
    ALL,
    APPROXIMATE,
    COLLECTIONS,
    FALSE_SHOULDS,
    IS,
    MATCHERS,
    NOT,
    SHOULD_LIBRARIES,
    SHOULDS,
)
from testlist.sandbox.syntax import line

SHOULD: Final = "should"
#: matchers in each other
DEEPEST: Final = 8


def matched(
    place: Node, subject: Node | None, matcher: Node, *, negated: bool = False, depth: int = 0
) -> Iterator[CheckFact]:
    """The checks that a matcher of Hamcrest is.  place: of the statement."""
    call = call_of(bare(matcher))
    name = chain(call)[0].name if call is not None else ""
    given = call.given if call is not None else ()
    if call is not None and name in ALL and depth < DEEPEST:
        for link in chain(call):  # `both(a).and(b)`
            for one in link.given:
                yield from matched(place, subject, one, negated=negated, depth=depth + 1)
    elif name in (*IS, NOT) and given and depth < DEEPEST:
        turned = negated != (name == NOT)
        held = call_of(bare(given[-1]))
        is_matcher = held is not None and (held.name in (*MATCHERS, *IS, NOT, *ALL) or (name == NOT and not held.owner))
        if is_matcher:
            yield from matched(place, subject, given[-1], negated=turned, depth=depth + 1)
        else:
            yield _check(place, "equal", subject, given[-1], negated=turned)
    elif name not in MATCHERS:
        yield {**_check(place, "custom", subject, None, negated=negated), "expected": said(matcher)}
    else:
        relation, turned = MATCHERS[name]
        check = _check(place, relation, subject, at(given, 0), negated=negated != turned)
        if relation == "approximate" and len(given) > 1:
            check["tolerance"] = said(given[1])
        if name in COLLECTIONS:
            check.pop("value", None)
        yield spread(check, given)


def should(call: Call, origins: Origins) -> CheckFact | None:
    """`a shouldBe b`, `a.shouldContain(b)`, `a should startWith("b")`, `shouldThrow<T> { }`."""
    word = call.name.removeprefix(SHOULD)
    if word == call.name or (word and not word[0].isupper()) or any(one.type in LAMBDAS for one in call.given[-1:]):
        return _lambda(call, word) if word and word != call.name else None
    negated, word = word.startswith("Not"), word.removeprefix("Not")
    if call.owner is None:
        return _thrown(call, word, negated=negated)
    matcher = call.matcher or (call_of(bare(call.given[0])) if word in ("", "Be") and call.given else None)
    if matcher is not None and (by_matcher := _matcher(call, matcher, negated=negated)) is not None:
        return by_matcher
    relation = FALSE_SHOULDS.get(word) or SHOULDS.get(word)
    if relation is None:
        if not call.is_infix and not origins.is_from(call.name, SHOULD_LIBRARIES):
            return None
        relation = "custom"
    expected = call.kind or at(call.given, 0)
    check = _check(call.node, relation, call.owner, expected, negated=negated != (word in FALSE_SHOULDS))
    return spread(check, call.given)


def _lambda(call: Call, word: str) -> CheckFact | None:
    """`{ a } shouldThrow T::class`, `a.shouldContainExactly { }`."""
    return _thrown(call, word.removeprefix("Not"), negated=word.startswith("Not"))


def _thrown(call: Call, word: str, *, negated: bool) -> CheckFact | None:
    if SHOULDS.get(word) != "raises":
        return None
    subject = call.block or at(call.given, len(call.given) - 1 if call.given else None)
    return _check(call.node, "raises", subject, call.kind, negated=negated)


def _matcher(call: Call, matcher: Call, *, negated: bool) -> CheckFact | None:
    """A matcher behind `should`, or a value with a tolerance behind `shouldBe`."""
    if matcher.name == APPROXIMATE:
        check = _check(call.node, "approximate", call.owner, matcher.owner, negated=negated)
        if matcher.given:
            check["tolerance"] = said(matcher.given[0])
        return check
    word = matcher.name[:1].upper() + matcher.name[1:]
    if matcher.owner is not None or (word not in SHOULDS and word not in FALSE_SHOULDS):
        return None
    if call.name != SHOULD and word in ("Contain", "Match", "Include", "Exist", "Equal"):
        return None  # after `shouldBe`, a function that gives a value
    relation = FALSE_SHOULDS.get(word) or SHOULDS[word]
    expected = matcher.kind or at(matcher.given, 0)
    return _check(call.node, relation, call.owner, expected, negated=negated != (word in FALSE_SHOULDS))


def _check(place: Node, relation: str, subject: Node | None, expected: Node | None, *, negated: bool) -> CheckFact:
    return made(line(place), relation, subject, expected, negated=negated, literal=literal)
