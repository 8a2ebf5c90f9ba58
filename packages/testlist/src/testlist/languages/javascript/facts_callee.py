"""What is called: `it`, `describe.skip`, `test.each(table)`, `(cond ? it : it.skip)`, and their aliases."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from tree_sitter import Node

from testlist.languages.javascript.facts_literals import required
from testlist.languages.javascript.vocabulary import ALLOWED, GLOBALS, KNOWN, MADE, NEVER, SUBTESTS
from testlist.languages.javascript.vocabulary_modules import RUNNERS
from testlist.sandbox.syntax import named, text

#: deeper chains of members and calls than any runner offers
STEPS: Final = 12
#: what `ruleTester.run` is given: a name, a rule, cases
GIVEN: Final = 3
BRANCHES: Final = ("consequence", "alternative")
TRANSPARENT: Final = frozenset(
    {"parenthesized_expression", "as_expression", "non_null_expression", "satisfies_expression", "await_expression"}
)


@dataclass(frozen=True, slots=True)
class Callee:
    """The function that a call names.

    root: a name of KNOWN.  modifiers: members in order, called ones as well.  curried: some were called.

    whole: it is a runner's module, whose members are the runner's names.  sub: called on what is no known name.
    plain: it is a name for tests or suites, and not another member of such a module.  makes: it has to be called to
    be one.  title: which of its arguments is the title, for a function that hands a test on.
    """

    root: str
    modifiers: tuple[str, ...] = ()
    curried: bool = False
    whole: bool = False
    sub: bool = False
    plain: bool = True
    makes: bool = False
    title: int | None = None

    def then(self, member: str) -> "Callee":
        """The callee with one more member."""
        if self.whole and member in KNOWN:
            return Callee(member, self.modifiers)
        if self.whole and member == "default":
            return self
        plain = self.plain and not self.whole
        return replace(self, modifiers=(*self.modifiers, member), whole=False, plain=plain)

    @property
    def extended(self) -> bool:
        """Whether it has members that no runner gives it, and which may be another way to write a test."""
        given = set(self.modifiers)
        return self.plain and not self.sub and not ALLOWED.issuperset(given) and NEVER.isdisjoint(given)


#: a runner's module, which may be called itself
WHOLE: Final = Callee("test", whole=True)


def resolve(node: Node | None, aliases: Mapping[str, Callee | None], steps: int = STEPS) -> Callee | None:  # noqa: PLR0911 - one a node kind
    """Read an expression; None if it is not built on a known name."""
    if node is None or steps <= 0:
        return None
    if node.type == "identifier":
        name = text(node)
        return aliases[name] if name in aliases else Callee(name) if name in KNOWN else None
    if node.type == "member_expression":
        return _member(node, aliases, steps)
    if node.type == "call_expression":
        if required(node) in RUNNERS:
            return WHOLE
        return _called(resolve(node.child_by_field_name("function"), aliases, steps - 1))
    if node.type == "ternary_expression":
        return _either(*(resolve(node.child_by_field_name(name), aliases, steps - 1) for name in BRANCHES))
    if node.type in TRANSPARENT:
        return resolve(next(named(node), None), aliases, steps - 1)
    return None


def _called(inner: Callee | None) -> Callee | None:
    """What the call of a name gives that is to be called again; a name from elsewhere may be one that makes names."""
    if inner is None or (inner.title is not None and not inner.makes):
        return None
    if inner.makes or (inner.root[0] == "@" and not inner.modifiers):
        return replace(inner, modifiers=(*inner.modifiers, MADE), curried=True, makes=False)
    return replace(inner, curried=True) if inner.modifiers else None


def _either(one: Callee | None, other: Callee | None) -> Callee | None:
    """Which branch holds is only known at run time: take the one that would run, under a condition."""
    callee = min(filter(None, (one, other)), key=lambda callee: len(callee.modifiers), default=None)
    return callee if callee is None or one == other else callee.then("runIf")


def _member(node: Node, aliases: Mapping[str, Callee | None], steps: int) -> Callee | None:
    target, member = node.child_by_field_name("object"), text(node.child_by_field_name("property"))
    if target is not None and target.type == "identifier" and text(target) not in aliases:
        name = text(target)
        if name in GLOBALS:
            return WHOLE.then(member) if member in GLOBALS[name] else None
        if name not in KNOWN:
            return Callee(member, sub=True) if member in SUBTESTS else None
    inner = resolve(target, aliases, steps - 1)
    if inner is not None and inner.root[0] == "@" and not inner.modifiers and member == "test":
        return Callee(member, sub=True)  # a runner of the repository's own
    return inner.then(member) if inner else None


def borrowed(name: str) -> Callee:
    """What a name from another file may turn out to be."""
    return Callee(f"@{name}")


def tester(function: Node | None, arguments: Node | None) -> Callee | None:
    """`ruleTester.run(name, rule, {valid, invalid})`: one definition, many cases."""
    if function is None or function.type != "member_expression":
        return None
    if text(function.child_by_field_name("property")) != "run":
        return None
    runs = "tester" in text(function.child_by_field_name("object")).lower()
    return Callee("test", ("each",)) if runs and sum(1 for _ in named(arguments)) >= GIVEN else None
