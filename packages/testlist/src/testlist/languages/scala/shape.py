"""The facts of a Scala file, as they pass from the parsing child to the engine."""

from typing import NotRequired, TypedDict, cast

from testlist.kit.rows import Placed
from testlist.model import Facts

#: dotted name, and the name that it gives, `*` for all of a package; in JSON a list of two
Import = tuple[str, str]


class CallFact(Placed):
    """A call that may declare a test or a group of these, with those inside of it.

    word: what is called, or the operator behind a title; `should {}` for one with a block of tests.
    title: as far as it is written; open: it is computed.  subject, verb: of `"a cart" should "be empty" in`.
    on: what the call is a method of.  loop: it runs many times; when: a condition decides whether it runs at all.
    marks: names behind the title or the test, and `=name` for those that stand as a statement of its body.
    """

    word: str
    title: str
    open: NotRequired[bool]
    subject: NotRequired[str]
    verb: NotRequired[str]
    on: NotRequired[str]
    loop: NotRequired[bool]
    when: NotRequired[bool]
    marks: NotRequired[list[str]]
    calls: NotRequired[list["CallFact"]]


class MethodFact(Placed):
    """A method that may be a test by its annotations or its name.  params: how many values it asks for."""

    name: str
    marks: NotRequired[list[str]]
    params: NotRequired[int]
    hidden: NotRequired[bool]


class ClassFact(Placed):
    """A class, trait or object.

    k: which of these; package: unless it stands in another class; bases: as they are written.
    abstract: nobody makes one; asks: whoever makes one gives it values.
    passes: methods that pass a title and a body on to what is called by a word: name -> word.
    """

    k: str
    name: str
    package: NotRequired[str]
    bases: NotRequired[list[str]]
    abstract: NotRequired[bool]
    asks: NotRequired[bool]
    marks: NotRequired[list[str]]
    methods: NotRequired[list[MethodFact]]
    calls: NotRequired[list[CallFact]]
    classes: NotRequired[list["ClassFact"]]
    passes: NotRequired[dict[str, str]]


class ScalaFacts(TypedDict, total=False):
    """One file; what is empty is left out."""

    imports: list[Import]
    classes: list[ClassFact]


def shape(facts: Facts) -> ScalaFacts:
    """Facts by their types."""
    return cast(ScalaFacts, facts)
