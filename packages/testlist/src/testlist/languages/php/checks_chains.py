"""Chains of PHP that check: Pest's `expect($a)->not->toBe(3)`, and what doubles of three libraries demand."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import at, made, said
from testlist.languages.php.checks_calls import Link, arguments, literal
from testlist.languages.php.vocabulary_checks import DEMANDS, FORESEEN, TIMES, WITH
from testlist.languages.php.vocabulary_expectations import MATCHERS, OPPOSITES, THROWS, TURNS
from testlist.sandbox.syntax import text

#: links that give a chain another subject, and links that look at each part of one
OTHER: Final = frozenset({"and", "expect"})
EACH: Final = frozenset({"each", "sequence", "when", "unless", "scoped", "match", "dd", "ray", "defer", "tap"})
#: relations that expect nothing, where the first argument is a message
ALONE: Final = frozenset({"truthy", "none", "empty", "snapshot"})
#: how matchers are called, also those of a project; the last link of a chain is one if it is called at all like one
MATCHER: Final = re.compile(r"to(?:Be|Have|Contain|Match|Equal|Throw|Only|Use|Extend|Implement|Start|End)(?![a-z])")
WORD: Final = re.compile(r"to[A-Z]")
#: how PHPUnit says that a call must not happen, and that it may
NEVER: Final = "never"
ANY: Final = "any"


def expected(subject: Node | None, links: Sequence[Link]) -> Iterator[CheckFact]:
    """Checks of a chain.  subject: what `expect` was given; None for a chain that gives it later."""
    negated, inner, is_over = False, "", False
    for link in links:
        if link.name in OTHER and link.called:
            subject, negated, inner = at(link.given, 0), False, ""
        elif link.name == TURNS:
            negated = not negated
        elif subject is None:
            continue
        elif link.called and (MATCHER.match(link.name) or (link is links[-1] and WORD.match(link.name))):
            yield _matched(link, subject, inner, negated=negated)
            negated, is_over = False, True
        elif link.name not in EACH:  # a part of the subject: `expect($user)->name->toBe('Ada')`
            inner, is_over = f"{'' if is_over else inner}->{said_link(link)}", False


def is_handed(begin: Node, links: Sequence[Link]) -> bool:
    """Whether a variable holds what `expect` gives, as in `->each(fn ($one) => $one->toBeInt())`."""
    names = (link.name for link in links if link.called)
    return begin.type == "variable_name" and any(name in MATCHERS or name in OPPOSITES for name in names)


def said_link(link: Link) -> str:
    """A link as it is written, without what stands before it."""
    whole = link.node.child_by_field_name("arguments")
    return f"{text(link.node.child_by_field_name('name'))}{said(whole) if whole is not None else ''}"


def _matched(link: Link, subject: Node, inner: str, *, negated: bool) -> CheckFact:
    opposite = OPPOSITES.get(link.name)
    relation = opposite or MATCHERS.get(link.name, "custom")
    given = link.given
    wanted = at(given, 0) if relation not in ALONE else None
    check = made(link.line, relation, subject, wanted, negated=negated != (opposite is not None), literal=literal)
    if inner:
        check["subject"] = f"{said(subject)}{inner}"
    if relation == "approximate" and len(given) > 1:
        check["tolerance"] = said(given[1])
    if relation == "raises" and len(given) > 1:
        check["message"] = said(given[1])
    return check


def thrown(links: Sequence[Link]) -> Iterator[CheckFact]:
    """What the links behind a test of Pest say that its body throws."""
    for link in links:
        if link.name in THROWS:
            given = link.given[THROWS[link.name] :]
            check = made(link.line, "raises", None, at(given, 0), literal=literal)
            if len(given) > 1:
                check["message"] = said(given[1])
            yield check
        elif link.name == "throwsNoExceptions":
            yield made(link.line, "raises", negated=True, literal=literal)


def demanded(root: Node, links: Sequence[Link]) -> Iterator[CheckFact]:
    """Calls that a double must get, or must not."""
    for number, link in enumerate(links):
        if not link.called:
            continue
        holder = links[number - 1].node if number else root
        after = links[number + 1 :]
        if link.name == "expects" and link.given:
            yield from _expects(link, holder, after)
        elif link.name == "shouldReceive" and (times := [one.name for one in after if one.name in TIMES]):
            yield _called(link, holder, at(link.given, 0), after, negated=NEVER in times)
        elif link.name in DEMANDS:
            yield _called(link, holder, at(link.given, 0), after, negated=DEMANDS[link.name])
        elif link.name in FORESEEN and number:
            foreseen = links[number - 1].node
            yield _called(
                link, foreseen.child_by_field_name("object"), foreseen.child_by_field_name("name"), (),
                negated=FORESEEN[link.name],
            )  # fmt: skip


def _expects(link: Link, holder: Node, after: Sequence[Link]) -> Iterator[CheckFact]:
    """`$mock->expects($this->once())->method('pay')` of PHPUnit; `$mock->expects('pay')` of Mockery."""
    [first, *_] = link.given
    if first.type in ("string", "encapsed_string"):
        yield _called(link, holder, first, after, negated=any(one.name == NEVER for one in after))
        return
    word = text(first.child_by_field_name("name")) if first.type.endswith("_call_expression") else ""
    method = next((one for one in after if one.name == "method"), None)
    if method is not None and word != ANY:
        yield _called(link, holder, at(method.given, 0), after, negated=word == NEVER)


def _called(link: Link, holder: Node | None, what: Node | None, after: Sequence[Link], *, negated: bool) -> CheckFact:
    """One demand.  after: links that may say with which arguments, which are shown in place of the method then."""
    given = next((one for one in after if one.name in WITH and arguments(one.node)), None)
    if given is not None:
        return made(link.line, "called_with", holder, at(given.given, 0), negated=negated, literal=literal)
    return made(link.line, "called", holder, what, negated=negated, literal=literal)
