"""Checks that are links of a chain: `assertThat(a).isNotNull().hasSize(3)`, `assertThatThrownBy(() -> a)`."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import at, made, said
from testlist.languages.jvm.checks_calls import Call, literal, spread
from testlist.languages.jvm.vocabulary_chains import (
    BEGINNINGS,
    CHECKING,
    EXACTLY,
    LINKS,
    MESSAGES,
    NAMED_EXCEPTION,
    NEUTRAL,
    NO_EXCEPTION,
    NOT_THROWN,
    NUMBERED,
    THEN,
    THEN_OWNER,
    THROWING,
    THROWN,
    THROWN_BY,
    TYPED,
    WITHIN,
)
from testlist.languages.jvm.vocabulary_mocks import NOTHING_CALLED, SHOULDS
from testlist.sandbox.syntax import line, text

NEUTRAL_LINK: Final = re.compile(NEUTRAL)
CHECKING_LINK: Final = re.compile(CHECKING)
NAMED: Final = re.compile(NAMED_EXCEPTION)


def chained(links: Sequence[Call]) -> list[CheckFact]:
    """The checks of a chain; none if it is none of checks.  links: the first of it first."""
    for place, link in enumerate(links):
        if is_beginning(link, links[place + 1 :]):
            return list(_about(link.given[0], links[place + 1 :]))
        if link.name in THROWING:
            function, following = link.block or at(link.given, 0), links[place + 1 :]
            return _throwing(function, None, following if link.name not in THROWN else links[place:])
        if link.name == TYPED:
            return _throwing(None, link.kind or at(link.given, 0), links[place + 1 :])
        if link.name == NO_EXCEPTION:
            subject = at(links[-1].given, 0) or links[-1].block
            return [_check(link, "raises", subject, negated=True)]
        if (named := NAMED.fullmatch(link.name)) is not None:
            checks = _throwing(None, None, links[place + 1 :])
            for check in checks:
                check.setdefault("expected", named[1])
            return checks
    return []


def _about(subject: Node, links: Sequence[Call]) -> Iterator[CheckFact]:
    """Links about one subject, which some of them change."""
    within: Call | None = None
    for link in links:
        if link.name in WITHIN:
            within = link
        elif link.name == "of" and within is not None:
            check = _check(link, "approximate", subject, at(link.given, 0), negated=WITHIN[within.name])
            yield {**check, "tolerance": said(at(within.given, 0))}
        elif (found := _link(link, subject)) is not None:
            yield found
        elif not NEUTRAL_LINK.fullmatch(link.name):
            subject = link.node


def _link(link: Call, subject: Node) -> CheckFact | None:
    """The check that one link is; None if it is none."""
    expected = link.kind or at(link.given, 0)
    if link.name in LINKS:
        relation, negated = LINKS[link.name]
        check = _check(link, relation, subject, expected, negated=negated)
        if relation == "approximate" and len(link.given) > 1:
            check["tolerance"] = said(link.given[1])
        if link.name.startswith(EXACTLY):
            check.pop("value", None)
        return spread(check, link.given)
    if link.name in NUMBERED:
        relation, negated, number = NUMBERED[link.name]
        return {**_check(link, relation, subject, negated=negated), "expected": str(number), "value": number}
    if link.name in MESSAGES:
        return {**_check(link, "raises", subject), "message": said(expected)}
    is_custom = CHECKING_LINK.fullmatch(link.name) and not link.name.endswith("That")
    return _check(link, "custom", subject, expected) if is_custom else None


def _throwing(function: Node | None, kind: Node | None, links: Sequence[Call]) -> list[CheckFact]:
    """What a chain says of a function that throws: one check with type and message, and others about the error."""
    first: CheckFact | None = None
    others: list[CheckFact] = []
    for link in links:
        given = link.kind or at(link.given, 0)
        if link.name == THROWN_BY:
            function = link.block or given
        elif link.name in NOT_THROWN:
            return [_check(link, "raises", function, negated=True)]
        elif link.name in ("isInstanceOf", "isExactlyInstanceOf", "isFailure") and kind is None:
            kind = given
        elif link.name in MESSAGES and first is None:
            first = {**_check(link, "raises"), "message": said(given)}
        elif link.name in LINKS and link.name != "isNotNull":
            others += _about(link.owner or link.node, [link])
    if not links:
        return []
    whole = _check(links[-1], "raises", function, kind)
    return [{**whole, "message": first["message"]} if first is not None else whole, *others]


def _check(
    call: Call, relation: str, subject: Node | None = None, wanted: Node | None = None, *, negated: bool = False
) -> CheckFact:
    return made(line(call.node), relation, subject, wanted, negated=negated, literal=literal)


def begins(links: Sequence[Call]) -> bool:
    """Whether a chain begins a check, even one that its links do not end."""
    return any(is_beginning(link, links[place + 1 :]) for place, link in enumerate(links))


def is_beginning(link: Call, following: Sequence[Call]) -> bool:
    """Whether a call gives the subject of the links behind it."""
    if len(link.given) == 2 and link.name == "assertThat":  # with a name (assertk), as Hamcrest's begins no chain
        return any(one.name in LINKS or CHECKING_LINK.fullmatch(one.name) for one in following)
    if len(link.given) != 1 or link.is_infix:
        return False
    if link.name != THEN:
        return link.name in BEGINNINGS
    is_free = link.owner is None or text(link.owner) == THEN_OWNER
    return is_free and bool(following) and following[0].name not in (*SHOULDS, *NOTHING_CALLED)
