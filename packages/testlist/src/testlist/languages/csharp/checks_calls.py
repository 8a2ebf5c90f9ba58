"""One check of C# by a class of checks: `Assert.Equal(3, total)`, `CollectionAssert.Contains(items, item)`."""

from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import NOTHING, at, holds
from testlist.languages.csharp.checks_constraints import constrained
from testlist.languages.csharp.checks_links import (
    CALL,
    LAMBDAS,
    TYPEOF,
    Link,
    arguments,
    check_of,
    literal,
    near,
    plain,
    sides,
    type_of,
)
from testlist.languages.csharp.vocabulary_checks import (
    ASSERT,
    ASSERTS,
    COLLECTIONS,
    EACH,
    ENDINGS,
    OWNERS,
    SILENT,
    STRINGS,
    THAT,
    Meaning,
)

#: of CollectionAssert, what takes the collection first
FIRST: Final = frozenset({"Contains", "DoesNotContain", "AllItemsAreInstancesOfType"})
#: of StringAssert, what NUnit and MSTest take in different orders
TURNED: Final = frozenset({"contains", "starts_with", "ends_with", "matches"})
UNKNOWN: Final = Meaning("custom", 0, 1)


def owned(begin: Node, links: Sequence[Link]) -> tuple[str, Link | None]:
    """The class of checks that a chain calls, perhaps with its namespace before it, and the call."""
    owner = plain(begin)
    for link in links:
        if link.called:
            return (owner, link) if owner.endswith(ENDINGS) else ("", None)
        owner = link.word
    return "", None


def asserted(owner: str, link: Link, where: int, *, value_first: bool | None) -> Iterator[CheckFact]:
    """The checks of one call.  value_first: whether StringAssert takes the value first; None if nobody knows."""
    word, given = link.word, link.given
    if word in EACH and len(given) > 1 and given[1].type not in LAMBDAS:  # `Assert.All(all, Assert.NotNull)`
        yield check_of(where, "custom", given[0], given[1])
    if word in SILENT:
        return
    if word in THAT:
        yield from constrained(given, where)
        return
    meaning = ASSERTS.get(word, UNKNOWN)
    if owner not in OWNERS and meaning.relation != "raises":
        meaning = UNKNOWN
    if owner == COLLECTIONS and word in FIRST:
        meaning = meaning._replace(subject=0, expected=1)
    subject, expected = _sides(link, meaning)
    if owner == STRINGS and meaning.relation in TURNED:
        subject, expected = _turned(given, value_first=value_first)
    check = check_of(where, meaning.relation, subject, expected, negated=meaning.negated)
    near(check, given, 2)
    if subject is not None and holds(check, literal(subject)):
        check["idle"] = "constant"
    yield check


def custom(begin: Node, links: Sequence[Link], where: int, own: frozenset[str]) -> Iterator[CheckFact]:
    """Checks by what others have called `Assert…`: a function, or a method.  own: methods that the file declares."""
    if begin.type == CALL and is_assert(plain(begin.child_by_field_name("function")), own):
        given = arguments(begin)
        yield check_of(where, "custom", at(given, 0), at(given, 1))
    for link in links:
        if link.called and is_assert(link.word, own):
            given = [*([] if plain(link.holder)[:1].isupper() else [link.holder]), *link.given]
            yield check_of(where, "custom", at(given, 0), at(given, 1))


def is_assert(word: str, own: frozenset[str]) -> bool:
    """Whether a name says that something is asserted, and the file does not say how."""
    return word.startswith(ASSERT) and word[len(ASSERT) :][:1].isupper() and word not in own


def _sides(link: Link, meaning: Meaning) -> tuple[Node | None, Node | None]:
    given = link.given
    if meaning.relation == "raises":
        wanted = type_of(link.name) or (at(given, 0) if len(given) > 1 and given[0].type not in LAMBDAS else None)
        function = next((one for one in given if one.type in LAMBDAS), None)
        rest = [one for one in given if one is not wanted]
        return function or at(rest, 0), wanted if meaning.typed else None
    if meaning.typed:
        if (wanted := type_of(link.name)) is not None:
            return at(given, 0), wanted
        if len(given) > 1 and given[1].type == TYPEOF:  # MSTest takes the value first
            return given[0], given[1]
    elif meaning.relation == "contains" and len(given) > 1 and given[1].type in LAMBDAS:
        return given[0], given[1]
    return sides(link, meaning.subject, meaning.expected)


def _turned(given: Sequence[Node], *, value_first: bool | None) -> tuple[Node | None, Node | None]:
    """The sides of StringAssert; none where nobody knows which is which."""
    if len(given) < 2:
        return None, None
    if value_first is None:
        literals = [literal(one) is not NOTHING for one in given[:2]]
        if literals[0] == literals[1]:
            return None, None
        value_first = literals[1]
    return (given[0], given[1]) if value_first else (given[1], given[0])
