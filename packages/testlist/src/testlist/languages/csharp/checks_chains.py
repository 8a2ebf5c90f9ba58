"""Chains of C# that check: FluentAssertions, Shouldly, and what doubles of three libraries demand."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import at, said
from testlist.languages.csharp.checks_links import LAMBDAS, NUMBERS, TYPED, Link, check_of, plain, type_of
from testlist.languages.csharp.vocabulary_chains import FALSE, MATCHERS, MESSAGE, MORE, SHOULD
from testlist.languages.csharp.vocabulary_checks import HAPPENED, NEVER, RECEIVED, VERIFIES, VERIFIES_ALL

#: relations that expect nothing, and matchers that say themselves how many
ALONE: Final = frozenset({"truthy", "none", "empty"})
SINGLE: Final = frozenset({"ContainSingle", "HaveSingleItem"})
#: what a check of Shouldly may begin with; anything else, such as `ShouldIgnore`, may be what is tested
VERBS: Final = re.compile(r"(?:Not)?(?:Be|Contain|Have|Match|Throw|Start|End|Equal|AllBe|Raise|Complete)(?![a-z])")
#: what may have a method `Verify` without arguments and is a mock
MOCK: Final = re.compile(r"mock", re.IGNORECASE)


def fluent(links: Sequence[Link], where: int) -> Iterator[CheckFact]:
    """`total.Should().Be(3).And.NotBeNull()`, `act.Should().Throw<A>().WithMessage("b")`."""
    subject: Node | None = None
    last: CheckFact | None = None
    for link in links:
        if link.word == SHOULD and link.called and not link.given:
            subject, last = link.holder, None
        elif subject is None or not link.called:
            continue
        elif last is not None and link.word.startswith(MORE):
            if link.word == MESSAGE and link.given:
                last["message"] = said(link.given[0])
        elif last is None or _goes_on(link):
            last = _matched(link, link.word, subject, where)
            yield last


def _goes_on(link: Link) -> bool:
    """Whether it checks the same value once more: it stands behind `And`."""
    name = link.holder.child_by_field_name("name")
    return plain(name) == "And"


def should(begin: Node, links: Sequence[Link], where: int, own: frozenset[str]) -> Iterator[CheckFact]:
    """`total.ShouldBe(3)`, `Should.Throw<A>(() => f())` of Shouldly.  own: methods that the file declares."""
    for number, link in enumerate(links):
        word = link.word.removeprefix(SHOULD)
        if number == 0 and plain(begin) == SHOULD and link.called:
            function = next((one for one in link.given if one.type in LAMBDAS), at(link.given, 0))
            yield check_of(where, "raises", function, type_of(link.name), negated=link.word.startswith("Not"))
        elif link.called and word != link.word and VERBS.match(word) and link.word not in own:
            yield _matched(link, word, link.holder, where)


def _matched(link: Link, word: str, subject: Node, where: int) -> CheckFact:
    negated = word.startswith("Not")
    word = word.removeprefix("Not")
    relation = "truthy" if word == FALSE else MATCHERS.get(word, "custom")
    given, wanted = link.given, type_of(link.name)
    if relation not in TYPED or (wanted is None and relation == "type"):
        wanted = at(given, 0) if relation not in ALONE and word not in SINGLE else None
    check = check_of(where, relation, subject, wanted, negated=negated != (word == FALSE))
    tolerance = at(given, 1)
    if relation == "approximate" and tolerance is not None:
        check["tolerance"] = said(tolerance)
    elif word == "Be" and link.word.startswith(SHOULD) and tolerance is not None and tolerance.type in NUMBERS:
        check["relation"], check["tolerance"] = "approximate", said(tolerance)
    return check


def demanded(links: Sequence[Link], where: int) -> Iterator[CheckFact]:
    """Calls that a double must have got, or must not."""
    for number, link in enumerate(links):
        after = next(iter(links[number + 1 :]), None)
        if not link.called:
            continue
        if link.word in RECEIVED and after is not None:
            yield _received(link, after, where)
        elif link.word in VERIFIES and link.given:
            yield from _verified(link, where)
        elif (
            link.word in VERIFIES_ALL
            and not link.given
            and (link.word == "VerifyAll" or MOCK.search(said(link.holder)))
        ):
            yield check_of(where, "called", link.holder)
        else:
            word = next((one for one in HAPPENED if link.word.startswith(one)), None)
            if word is not None:
                call = link.holder.child_by_field_name("arguments")
                subject = next((one.named_children[-1] for one in call.named_children), None) if call else None
                yield check_of(where, "called", subject or link.holder, negated=HAPPENED[word])


def _received(link: Link, after: Link, where: int) -> CheckFact:
    """`shop.Received(1).Pay(5)` of NSubstitute: with its arguments, or with its name where it has none."""
    given, negated = after.given, RECEIVED[link.word] or said(at(link.given, 0)) == "0"
    if given:
        return check_of(where, "called_with", link.holder, given[0], negated=negated)
    return check_of(where, "called", link.holder, after.name, negated=negated)


def _verified(link: Link, where: int) -> Iterator[CheckFact]:
    """`mock.Verify(shop => shop.Pay(5), Times.Never)` of Moq."""
    given = link.given
    times = next((said(one) for one in given[1:] if said(one).startswith("Times.")), "")
    if given[0].type in LAMBDAS or times:
        is_never = times.removeprefix("Times.").startswith((NEVER, "Exactly(0)"))
        yield check_of(where, "called", link.holder, given[0], negated=is_never)
