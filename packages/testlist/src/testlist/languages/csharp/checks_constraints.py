"""Checks by NUnit's constraints: `Assert.That(total, Is.Not.EqualTo(3).And.Not.Null)`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import at, said
from testlist.languages.csharp.checks_links import Link, check_of, links_of, plain, type_of
from testlist.languages.csharp.vocabulary_chains import (
    AND,
    BEGINNINGS,
    CONSTRAINTS,
    HOW,
    OPPOSITES,
    OR,
    PARTS,
    SIZES,
    SOME,
    THROWS,
    TURNS,
    WITHIN,
)

#: what a message begins with
QUOTES: Final = ('"', "$", "@")
NAMEOF: Final = re.compile(r"nameof\((?:.*\.)?(\w+)\)")


def constrained(given: Sequence[Node], where: int) -> Iterator[CheckFact]:
    """Checks of `Assert.That`.  given: the value, its constraint, and a message."""
    subject, constraint = at(given, 0), at(given, 1)
    if constraint is None or said(constraint).startswith(QUOTES):
        yield check_of(where, "truthy", subject)
        return
    begin, links = links_of(constraint)
    words = [link.word for link in links]
    if plain(begin) == THROWS:
        yield _thrown(subject, links, where)
    elif plain(begin) in BEGINNINGS and OR not in words:
        yield from _Constraint(subject, where).read(links) or [check_of(where, "custom", subject, constraint)]
    else:
        yield check_of(where, "custom", subject, constraint)


def _thrown(subject: Node | None, links: Sequence[Link], where: int) -> CheckFact:
    """`Throws.TypeOf<A>().With.Message.EqualTo("b")`, `Throws.ArgumentNullException`, `Throws.Nothing`."""
    words = [link.word for link in links]
    wanted = next((one for link in links if (one := type_of(link.name) or _type(link)) is not None), None)
    if wanted is None and words and words[0].endswith("Exception") and words[0] not in ("Exception", "InnerException"):
        wanted = links[0].name
    check = check_of(where, "raises", subject, wanted, negated="Nothing" in words)
    if "Message" in words:
        rest = links[words.index("Message") :]
        message = next((link.given[0] for link in rest if link.given), None)
        if message is not None:
            check["message"] = said(message)
    return check


def _type(link: Link) -> Node | None:
    """The type that `TypeOf(typeof(A))` is given."""
    return at(link.given, 0) if CONSTRAINTS.get(link.word) == "type" else None


def _part(link: Link) -> str:
    """A part of a value by its name: `Count`, `Property("Name")`, `Property(nameof(Shop.Name))`."""
    given = said(at(link.given, 0)).strip('"') if link.given else link.word
    found = NAMEOF.fullmatch(given)
    return found[1] if found else given


@dataclass(slots=True)
class _Constraint:
    """State of one pass over a constraint.  part: of the value, as source; some: about one of many."""

    subject: Node | None
    where: int
    negated: bool = False
    part: str = ""
    some: bool = False

    def read(self, links: Sequence[Link]) -> list[CheckFact]:
        """Its checks; none if one of its words is not known."""
        found: list[CheckFact] = []
        words = [link.word for link in links]
        if ("Exactly" in words and "Items" not in words) or not all(self.word(link, found) for link in links):
            return []
        if not found and self.part and words[-1] == "Property":
            found.append(check_of(self.where, "has", self.subject, at(links[-1].given, 0), negated=self.negated))
        return found

    def word(self, link: Link, found: list[CheckFact]) -> bool:
        """Read one word; says whether it is known."""
        word = link.word
        if word in TURNS:
            self.negated = not self.negated
        elif word == "None":
            self.negated, self.some = not self.negated, True
        elif word in AND:
            self.negated, self.some = False, False
            self.part = self.part if word == "With" else ""
        elif word in SOME:
            self.some = True
        elif word in SIZES or word in PARTS:
            self.part += f".{_part(link)}"
        elif word == "Exactly" and link.called:
            found.append(check_of(self.where, "length", self.subject, at(link.given, 0), negated=self.negated))
        elif word == WITHIN and found:
            found[-1]["relation"], found[-1]["tolerance"] = "approximate", said(at(link.given, 0))
        elif word in CONSTRAINTS or word in OPPOSITES:
            found.append(self.matched(link, OPPOSITES.get(word) or CONSTRAINTS[word]))
        else:
            return word in HOW
        return True

    def matched(self, link: Link, relation: str) -> CheckFact:
        """One constraint of the value or its part."""
        negated = self.negated != (link.word in OPPOSITES)
        expected = type_of(link.name) or at(link.given, 0)
        is_size = self.part.rpartition(".")[2] in SIZES and relation == "equal"
        part = self.part.rpartition(".")[0] if is_size else self.part
        if self.some and relation == "equal":
            relation = "contains"
        check = check_of(self.where, "length" if is_size else relation, self.subject, expected, negated=negated)
        if part:
            check["subject"] = f"{said(self.subject)}{part}"
        self.negated, self.some = False, False
        return check
