"""Checks that something was called: Mockito's `verify(a).b(c)`, MockK's `verify { a.b(c) }`."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import SHOWN, CheckFact
from testlist.kit.checking import at, made, said
from testlist.languages.jvm.checks_calls import Call, call_of, literal, parts, spread
from testlist.languages.jvm.checks_origins import Origins
from testlist.languages.jvm.vocabulary_mocks import (
    ANY,
    BLOCKS,
    NEVER,
    NOTHING_CALLED,
    SHOULDS,
    UNUSED,
    VERIFIERS,
    WHOLE,
)
from testlist.sandbox.syntax import line, text

#: an object in whose order calls are verified
IN_ORDER: Final = "org.mockito.InOrder"
ORDER: Final = re.compile(r"(?i)\w*order\w*")
PROPERTY: Final = "navigation_expression"


def verified(links: Sequence[Call], origins: Origins) -> list[CheckFact]:
    """The check of a chain that begins with `verify`.  links: the first of it first."""
    for place, link in enumerate(links[:3]):
        if link.name in VERIFIERS and link.owner is not None and at(link.given, 0) is not None and _is_static(link):
            return [_static(link)]
        if link.name in VERIFIERS and _is_mockito(link, origins) and link.given:
            mode, following = text(at(link.given, 1)), links[place + 1 :]
            return [_called(text(link.given[0]), following[0], mode)] if following else []
        if link.name in SHOULDS and place and links[place - 1].name == "then":
            following, subject = links[place + 1 :], text(at(links[place - 1].given, 0))
            return [_called(subject, following[0], text(at(link.given, 0)))] if following else []
        if link.name in NOTHING_CALLED and (link.given or place):
            mock = link.given or links[place - 1].given
            return [made(line(link.node), "called", at(mock, 0), negated=True, literal=literal)]
    return []


def _is_static(call: Call) -> bool:
    """`mocked.verify(() -> A.b(c))`, of a mock of what a class has."""
    return text(call.owner).isidentifier() and call.given[0].type == "lambda_expression"


def _static(call: Call) -> CheckFact:
    is_never = NEVER.search(text(at(call.given, 1))) is not None
    called = call.given[0].child_by_field_name("body")
    return made(line(call.node), "called", called, negated=is_never, literal=literal)


def _is_mockito(call: Call, origins: Origins) -> bool:
    if call.owner is not None:
        owner = text(call.owner)
        is_order = ORDER.fullmatch(owner) is not None or (owner.isidentifier() and origins.has(IN_ORDER))
        return owner.endswith("Mockito") or is_order
    return call.name not in origins.own and not origins.is_foreign(call.name)


def _called(subject: str, call: Call, mode: str) -> CheckFact:
    """One call that has to have come.  mode: how often, as it is written."""
    given = [] if all(ANY.fullmatch(said(one)) for one in call.given) else list(call.given)
    check = made(line(call.node), "called_with" if given else "called", None, at(given, 0), literal=literal)
    check["subject"] = " ".join(f"{subject}.{call.name}".split())[:SHOWN]
    if NEVER.search(mode):
        check["negated"] = True
    return spread(check, given)


def verified_block(call: Call, origins: Origins) -> list[CheckFact] | None:
    """MockK: the calls in the block of `verify(exactly = 2) { }`; None if it is none."""
    if call.name not in BLOCKS or call.owner is not None or call.block is None or call.name in origins.own:
        return None
    if len(call.labels) != len(call.given) or origins.is_foreign(call.name):
        return None
    never = literal(call.labels["exactly"]) == 0 if "exactly" in call.labels else False
    inverse = text(call.labels.get("inverse")) == "true"
    return [check for statement in parts(call.block) for check in _in_block(statement, negated=never or inverse)]


def _in_block(node: Node, *, negated: bool) -> Iterator[CheckFact]:
    call = call_of(node)
    if call is None:
        if node.type == PROPERTY:
            yield made(line(node), "called", node, negated=negated, literal=literal)
    elif call.is_infix and call.name == UNUSED:
        yield made(line(call.node), "called", call.owner, negated=True, literal=literal)
    elif call.name not in WHOLE and call.owner is not None:
        yield _called(text(call.owner), call, "never()" if negated else "")
