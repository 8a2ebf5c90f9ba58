"""The checks that a macro of Rust stands for, by its name and what it is given."""

from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import at, made, said
from testlist.languages.rust.checks_conditions import compared, conditions, inner, literal, name_of
from testlist.languages.rust.checks_tokens import arguments_of, last_of, tree_of
from testlist.languages.rust.vocabulary_checks import (
    COMPILED,
    CONDITIONS,
    MACROS,
    MATCHED,
    MATCHERS,
    OTHERS,
    PATTERNS,
    SNAPSHOT,
    WHOLE,
    Meaning,
)
from testlist.sandbox.syntax import named, text

TEXTS: Final = frozenset({"string_literal", "raw_string_literal"})


def is_known(name: str) -> bool:
    """Whether a library's macro has this name."""
    return name in CONDITIONS or name in MACROS or name in MATCHED or name in PATTERNS


def is_check(name: str) -> bool:
    """Whether a macro of this name takes arguments as a function does, and checks something."""
    return is_known(name) or (name.startswith(OTHERS) and not name.startswith(COMPILED))


def checks_of(name: str, given: Sequence[Node], where: int) -> Iterator[CheckFact]:
    """The checks of a macro for which `is_check`."""
    if not given:
        yield made(where, "custom", literal=literal)
    elif name in CONDITIONS:
        yield from conditions(given[0], where, negated=CONDITIONS[name])
    elif name in MATCHED:
        yield matcher(given[0], at(given, 1), where)
    elif name in MACROS:
        yield _paired(MACROS[name], given, where)
    elif name.endswith(SNAPSHOT):
        yield _snapshot(given, where)
    else:
        yield made(where, "custom", given[0], at(given, 1), literal=literal)


def _paired(meaning: Meaning, given: Sequence[Node], where: int) -> CheckFact:
    subject, expected = at(given, meaning.subject), at(given, meaning.expected)
    if meaning.relation != "approximate" and subject is not None and expected is not None:
        return compared(subject, (meaning.relation, meaning.negated), expected, where)
    check = made(where, meaning.relation, subject, expected, negated=meaning.negated, literal=literal)
    said_of = [said(one) for one in given[2:] if one.type not in TEXTS] if meaning.tolerance else []
    if said_of:
        check["tolerance"] = ", ".join(said_of)
    return check


def _snapshot(given: Sequence[Node], where: int) -> CheckFact:
    """`assert_snapshot!("name", value)`, `assert_snapshot!(value, @"text")`."""
    stored = next((one for one in given if one.type == "unary_expression" and text(one).startswith("*")), None)
    expected = next(named(stored), None) if stored is not None and stored is not given[0] else None
    is_named = expected is None and len(given) > 1 and given[0].type in TEXTS
    return made(where, "snapshot", given[1] if is_named else given[0], expected, literal=literal)


def matcher(subject: Node, wanted: Node | None, where: int) -> CheckFact:
    """`not(eq(3))` of googletest."""
    negated = False
    for _ in range(20):
        if wanted is None or wanted.type != "call_expression" or name_of(wanted).rpartition(".")[2] != "not":
            break
        negated, wanted = not negated, _first(wanted)
    name = _name(wanted)
    if wanted is None or name in WHOLE or name not in MATCHERS:
        relation = "matches" if name in WHOLE else "custom"
        return made(where, relation, subject, wanted, negated=negated, literal=literal)
    relation, turned = MATCHERS[name]
    expected = _first(wanted)
    if expected is not None and _name(expected) == "eq":
        expected = _first(expected)
    return made(where, relation, subject, expected, negated=negated != turned, literal=literal)


def _name(wanted: Node | None) -> str:
    if wanted is not None and wanted.type == "macro_invocation":
        return last_of(wanted)
    return name_of(wanted).rpartition(".")[2] if wanted is not None and wanted.type == "call_expression" else ""


def _first(wanted: Node) -> Node | None:
    """What a matcher is given first."""
    if wanted.type == "macro_invocation":
        tree = tree_of(wanted)
        return at(arguments_of(tree), 0) if tree is not None else None
    return at(inner(wanted.child_by_field_name("arguments")), 0)
